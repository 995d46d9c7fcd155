"""Do the disciplines agree? Rank correlations between every two columns."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import ClassVar, Final

from markupsafe import Markup

from triathlon_site.exports import table_files
from triathlon_site.figures import (
    PLOTLY,
    RankLine,
    interactive_pair_scatter,
    plotly_styles,
    rank_shift,
)
from triathlon_site.pages._site import Gathered
from triathlon_site.pages.agreement._pairs import (
    FEWEST,
    AgreementColumn,
    Matrix,
    Pair,
    all_models_matrix,
    graded_matrix,
)
from triathlon_site.ranking import smallest_ranks
from triathlon_site.render import Draft, Figure, Page, PageContext, Section, Value, as_script, formats

MOST_LINES: Final = 30
COLOURED: Final = 4


@dataclass(frozen=True)
class TooFewContext(PageContext):
    """The template's data for the page while there are too few models."""

    template: ClassVar[str] = "agreement/too_few"
    models: int


@dataclass(frozen=True)
class AgreementContext(PageContext):
    """The template's data for the page of all correlations."""

    template: ClassVar[str] = "agreement/page"
    first: Matrix
    """The matrix of all models; without a table of these, that of the columns graded here."""
    graded: Matrix
    """The matrix of the columns graded here."""
    rank_shift: Figure


@dataclass(frozen=True)
class PairContext(PageContext):
    """The template's data for the page of two columns."""

    template: ClassVar[str] = "agreement/pair"
    pair: Pair
    places: tuple[int, int]
    """Of the two columns, in the file that the interactive figure is drawn from."""
    file: str


def drafts(site: Gathered) -> Iterator[Draft]:
    """The page of all correlations, and a page for every two columns that enough models have."""
    if not site.boards and not site.has_all_models:
        return
    graded, reported = graded_matrix(site), all_models_matrix(site)
    matrices = [matrix for matrix in (reported, graded) if matrix.pairs]
    if not matrices:
        yield Draft("agreement.html", TooFewContext(max(len(graded.models), len(reported.models))))
        return
    for matrix in matrices:
        for places, pair in matrix.pairs.items():
            if not pair.too_few:
                yield Draft(pair.path, PairContext(pair, places, matrix.script))
    first = matrices[0]
    files = [page for m in matrices for page in (*table_files(m.file, _table(m)), _scatter_file(m))]
    context = AgreementContext(first, graded if graded in matrices else Matrix(), _rank_shift(first))
    yield Draft("agreement.html", context, tuple(files))


def _scatter_file(matrix: Matrix) -> Page:
    """The data of the interactive figure of any two columns."""
    content = {
        "plotly": f"assets/{PLOTLY}",
        "styles": plotly_styles(),
        "figure": interactive_pair_scatter(),
        "models": list(matrix.models.values()),
        "columns": [
            {
                "title": column.title,
                "values": [column.value(model) for model in matrix.models],
                "shown": [formats.score(column.value(model), column.maximum) for model in matrix.models],
            }
            for column in matrix.columns
        ],
    }
    return Page(matrix.script, f"window.triathlonColumns = {as_script(content)};\n")


def _table(matrix: Matrix) -> Section:
    """Every pair of columns, as a table for data files."""
    rows = []
    for pair in matrix.pairs.values():
        c = pair.correlation
        rows.append(
            (
                Value(pair.left.title),
                Value(pair.right.title),
                Value(str(c.n), number=c.n),
                Value(str(pair.reported), number=pair.reported),
                _coefficient(c.spearman, c.spearman_low, c.spearman_high),
                _coefficient(c.kendall, c.kendall_low, c.kendall_high),
                _ends(c.without_one_low, c.without_one_high),
            )
        )
    head = "Left", "Right", "Models", "With a reported figure", "Spearman", "Kendall"
    head_without = "Spearman without any one model"
    return Section("Agreement of every two columns", "", (*head, head_without), tuple(rows))


def _coefficient(value: float, low: float, high: float) -> Value:
    """A correlation with its interval, where that is known."""
    small = "" if math.isnan(low) else _ends(low, high).text
    return Value(formats.coefficient(value), small, value, {"low": low, "high": high})


def _ends(low: float, high: float) -> Value:
    text = f"{formats.coefficient(low)} to {formats.coefficient(high)}"
    return Value(text, details={"low": low, "high": high})


def _rank_shift(matrix: Matrix) -> Figure:
    """Ranks in one headline of each discipline: the headlines that the most models have all of.

    Without a drawing where they are fewer than FEWEST models.
    """
    by_discipline: dict[str, list[AgreementColumn]] = {}
    for place in matrix.heads:
        column = matrix.columns[place]
        if column.outside:
            continue
        by_discipline.setdefault(column.discipline, []).append(column)
    columns = max(product(*by_discipline.values()), key=lambda chosen: len(_common(chosen)))
    common = _common(columns)[:MOST_LINES]
    if len(common) < FEWEST:
        return Figure(Markup(""), "")
    points = [column.points for column in columns]
    ranks = [smallest_ranks([scores[model][1] for model in common]) for scores in points]
    lines = [
        RankLine(
            matrix.models[model],
            tuple(places[row] or 0 for places in ranks),
            colour=row if row < COLOURED else None,
        )
        for row, model in enumerate(common)
    ]
    heads = [column.discipline.capitalize() for column in columns]
    caption = (
        f"Who moves: rank by {'; '.join(column.title for column in columns)}, among the {len(common)} models"
        " that have all; the first four in colour."
    )
    return Figure(rank_shift("Ranks across the disciplines", heads, lines), caption)


def _common(columns: Sequence[AgreementColumn]) -> list[str]:
    """Models that have all of the columns, by their score in the first."""
    if not columns:
        return []
    points = [column.points for column in columns]
    common = [model for model in points[0] if all(model in scores for scores in points)]
    return sorted(common, key=lambda model: -points[0][model][1])
