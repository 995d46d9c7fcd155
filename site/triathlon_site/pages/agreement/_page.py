"""Do the disciplines agree? Rank correlations between every two columns."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
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
from triathlon_site.models import ModelInfo
from triathlon_site.pages import front
from triathlon_site.pages.agreement._pairs import (
    FEWEST,
    MOST_LABELS,
    AgreementColumn,
    Pair,
    all_models_columns,
    all_pairs,
    board_columns,
)
from triathlon_site.ranking import smallest_ranks
from triathlon_site.render import Draft, Figure, Page, PageContext, Section, Value, as_script, formats
from triathlon_site.scores import Board

MOST_LINES: Final = 30
COLOURED: Final = 4


@dataclass(frozen=True)
class TooFewContext(PageContext):
    """The template's data for the page while there are too few models."""

    template: ClassVar[str] = "agreement/too_few"
    models: int


@dataclass(frozen=True)
class Matrix:
    """Columns over the same models, and every pair of them."""

    columns: Sequence[AgreementColumn] = ()
    models: Mapping[str, str] = field(default_factory=dict)
    """Names of all models, by what the columns call them."""
    name: str = ""
    """Name of its folder of pages, and of its files."""
    pairs: Mapping[tuple[int, int], Pair] = field(default_factory=dict)
    """By the places of the two columns."""

    @property
    def heads(self) -> list[int]:
        """Places of the columns that are headlines."""
        return [place for place, column in enumerate(self.columns) if column.headline]

    @property
    def between(self) -> list[Pair]:
        """Pairs of headlines of two disciplines, those that the most models have first."""
        pairs = [
            pair
            for pair in self.pairs.values()
            if pair.left.headline and pair.right.headline and pair.left.discipline != pair.right.discipline
        ]
        return sorted(pairs, key=lambda pair: -pair.correlation.n)

    @property
    def file(self) -> str:
        """The table of all pairs."""
        return f"data/{self.name}.csv"

    @property
    def script(self) -> str:
        """A script that holds JSON, because a page opened from a file may load nothing else."""
        return f"data/{self.name}.js"


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
    some_named: bool
    """Whether the figure names some of the models only."""


def drafts(
    boards: Sequence[Board], models: Mapping[str, ModelInfo], rows: Sequence[front.ModelRow] = ()
) -> Iterator[Draft]:
    """The page of all correlations, and a page for every two columns that enough models have.

    Args:
        boards: what was graded here.
        models: by id, the models of the boards.
        rows: the table of all models, reported figures included; empty where there is none.
    """
    names = {model: models[model].name for model in sorted({m for board in boards for m in board.models})}
    graded = _matrix(board_columns(boards, models), names, "agreement")
    row_names = {str(place): row.name for place, row in enumerate(rows)}
    reported = _matrix(all_models_columns(rows), row_names, "agreement-all-models")
    matrices = [matrix for matrix in (reported, graded) if len(matrix.models) >= FEWEST]
    if not matrices:
        yield Draft("agreement.html", TooFewContext(max(len(names), len(rows))))
        return
    for matrix in matrices:
        for places, pair in matrix.pairs.items():
            if not pair.too_few:
                some_named = pair.correlation.n > MOST_LABELS
                yield Draft(pair.path, PairContext(pair, places, matrix.script, some_named))
    first = matrices[0]
    files = [page for m in matrices for page in (*table_files(m.file, _table(m)), _scatter_file(m))]
    context = AgreementContext(first, graded if graded in matrices else Matrix(), _rank_shift(first))
    yield Draft("agreement.html", context, tuple(files))


def _matrix(columns: Sequence[AgreementColumn], models: Mapping[str, str], name: str) -> Matrix:
    pairs = all_pairs(columns, list(models), name) if len(columns) > 1 and len(models) >= FEWEST else {}
    return Matrix(columns, models, name, pairs)


def _scatter_file(matrix: Matrix) -> Page:
    """The data of the interactive figure of any two columns."""
    content = {
        "plotly": f"assets/{PLOTLY}",
        "styles": plotly_styles(),
        "figure": interactive_pair_scatter(),
        "models": list(matrix.models.values()),
        "columns": [
            {"title": column.title, "values": [column.value(model) for model in matrix.models]}
            for column in matrix.columns
        ],
    }
    return Page(matrix.script, f"window.triathlonColumns = {as_script(content)};\n")


def _table(matrix: Matrix) -> Section:
    """Every pair of columns, as a table for data files."""
    head = (
        "Left",
        "Right",
        "Models",
        "With a reported figure",
        "Spearman",
        "Kendall",
        "Spearman without any one model",
    )
    rows = [
        (
            Value(pair.left.title),
            Value(pair.right.title),
            Value(str(c.n)),
            Value(str(pair.reported)),
            _with_interval(c.spearman, c.spearman_low, c.spearman_high),
            _with_interval(c.kendall, c.kendall_low, c.kendall_high),
            Value(" to ".join(map(formats.coefficient, (c.without_one_low, c.without_one_high)))),
        )
        for pair in matrix.pairs.values()
        for c in (pair.correlation,)
    ]
    return Section("Agreement of every two columns", "", head, tuple(rows))


def _with_interval(value: float, low: float, high: float) -> Value:
    ends = "" if math.isnan(low) else f"{formats.coefficient(low)} to {formats.coefficient(high)}"
    return Value(formats.coefficient(value), ends)


def _rank_shift(matrix: Matrix) -> Figure:
    """Ranks in one headline of each discipline: the headlines that the most models have all of.

    Without a drawing where they are fewer than FEWEST models.
    """
    by_discipline: dict[str, list[AgreementColumn]] = {}
    for place in matrix.heads:
        column = matrix.columns[place]
        by_discipline.setdefault(column.discipline, []).append(column)
    columns = max(product(*by_discipline.values()), key=lambda chosen: len(_common(chosen)))
    common = _common(columns)[:MOST_LINES]
    if len(common) < FEWEST:
        return Figure(Markup(""), "")
    points = [column.axis.points for column in columns]
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
    points = [column.axis.points for column in columns]
    common = [model for model in points[0] if all(model in scores for scores in points)]
    return sorted(common, key=lambda model: -points[0][model][1])
