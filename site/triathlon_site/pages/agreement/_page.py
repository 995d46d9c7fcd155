"""Do the disciplines agree? Rank correlations between every two columns."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
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
from triathlon_site.pages.agreement._pairs import (
    MOST_LABELS,
    AgreementColumn,
    Pair,
    agreement_columns,
    all_pairs,
    is_main,
    is_of_one_family,
)
from triathlon_site.ranking import smallest_ranks
from triathlon_site.render import Draft, Page, PageContext, Section, Value, as_script, formats
from triathlon_site.scores import Board, first_boards

FEWEST: Final = 3
"""Models below which two orders always agree or disagree completely."""
MOST_LINES: Final = 30
COLOURED: Final = 4
FILE: Final = "data/agreement.csv"
SCATTER: Final = "data/agreement.js"
"""A script that holds JSON, because a page opened from a file may load nothing else."""


@dataclass(frozen=True)
class TooFewContext(PageContext):
    """What the page shows while there are too few models."""

    template: ClassVar[str] = "agreement/too_few"
    models: int


@dataclass(frozen=True)
class AgreementContext(PageContext):
    """What the page of all correlations shows."""

    template: ClassVar[str] = "agreement/page"
    columns: list[AgreementColumn]
    pairs: Mapping[tuple[int, int], Pair]
    """By the places of the two columns."""
    heads: list[int]
    """Places of the columns that are headlines."""
    main: list[Pair]
    """Headlines of the boards that stand for the disciplines."""
    others: list[Pair]
    """Further headlines on one family of data."""
    rank_shift: Markup


@dataclass(frozen=True)
class PairContext(PageContext):
    """What the page of two columns shows."""

    template: ClassVar[str] = "agreement/pair"
    pair: Pair
    places: tuple[int, int]
    """Of the two columns, in the file that the interactive figure is drawn from."""
    file: str
    some_named: bool
    """Whether the figure names some of the models only."""


def drafts(boards: Sequence[Board], models: Mapping[str, ModelInfo]) -> Iterator[Draft]:
    """The page of all correlations, and a page for every two columns."""
    if not boards:
        return
    measured = sorted({model for board in boards for model in board.models})
    if len(measured) < FEWEST:
        yield Draft("agreement.html", TooFewContext(len(measured)))
        return
    columns = agreement_columns(boards, models)
    pairs = all_pairs(columns, measured)
    for places, pair in pairs.items():
        yield Draft(pair.path, PairContext(pair, places, SCATTER, pair.correlation.n > MOST_LABELS))
    heads = [place for place, column in enumerate(columns) if column.scores.column.headline]
    headlines = [pairs[pair] for pair in combinations(heads, 2)]
    main = [pair for pair in headlines if is_main(pair, boards)]
    others = [
        pair for pair in headlines if is_of_one_family(pair) and pair not in main and pair.correlation.n
    ]
    context = AgreementContext(columns, pairs, heads, main, others, _rank_shift(boards, models))
    files = (*table_files(FILE, _table(list(pairs.values()))), _scatter_file(columns, measured, models))
    yield Draft("agreement.html", context, files)


def _scatter_file(
    columns: Sequence[AgreementColumn], models: Sequence[str], infos: Mapping[str, ModelInfo]
) -> Page:
    """What the interactive figure of any two columns is drawn from."""
    content = {
        "plotly": f"assets/{PLOTLY}",
        "styles": plotly_styles(),
        "figure": interactive_pair_scatter(),
        "models": [infos[model].name for model in models],
        "columns": [
            {
                "title": column.title,
                "values": [column.axis.points[m][1] if m in column.axis.points else None for m in models],
            }
            for column in columns
        ],
    }
    return Page(SCATTER, f"window.triathlonColumns = {as_script(content)};\n")


def _table(pairs: Sequence[Pair]) -> Section:
    """Every pair of columns, to compute with."""
    head = ("Left", "Right", "Models", "Spearman", "Kendall", "Spearman without any one model")
    rows = [
        (
            Value(pair.left.title),
            Value(pair.right.title),
            Value(str(c.n)),
            _with_interval(c.spearman, c.spearman_low, c.spearman_high),
            _with_interval(c.kendall, c.kendall_low, c.kendall_high),
            Value(" to ".join(map(formats.coefficient, (c.without_one_low, c.without_one_high)))),
        )
        for pair in pairs
        for c in (pair.correlation,)
    ]
    return Section("Agreement of every two columns", "", head, tuple(rows))


def _with_interval(value: float, low: float, high: float) -> Value:
    ends = "" if math.isnan(low) else f"{formats.coefficient(low)} to {formats.coefficient(high)}"
    return Value(formats.coefficient(value), ends)


def _rank_shift(boards: Sequence[Board], models: Mapping[str, ModelInfo]) -> Markup:
    """Ranks in the first board of each discipline, over the models that are in all of them."""
    first = first_boards(boards)
    if not first:
        return Markup("")
    ranked = [board.headline.scores for board in first]
    common = [model for model in first[0].models if all(model in scores for scores in ranked)][:MOST_LINES]
    columns = [smallest_ranks([scores[model].value for model in common]) for scores in ranked]
    lines = [
        RankLine(
            models[model].name,
            tuple(column[row] or 0 for column in columns),
            colour=row if row < COLOURED else None,
        )
        for row, model in enumerate(common)
    ]
    return rank_shift("Ranks across the disciplines", [b.plan.discipline.capitalize() for b in first], lines)
