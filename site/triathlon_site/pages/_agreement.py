"""Do the disciplines agree? Rank correlations between every two columns."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final

import numpy as np
from markupsafe import Markup, escape
from numpy.typing import NDArray

from triathlon_site.agreement import Correlation, correlations
from triathlon_site.environment import spelt_out
from triathlon_site.exports import table_files
from triathlon_site.figures import Axis, RankLine, bump, pair_scatter
from triathlon_site.pages import _format
from triathlon_site.pages._models import ModelInfo
from triathlon_site.pages._page import Draft
from triathlon_site.pages._profile import short_title
from triathlon_site.pages._sections import Section, Value
from triathlon_site.ranking import smallest_ranks
from triathlon_site.scores import Board, ColumnScores, first_boards

FEWEST: Final = 3
"""Two orders of fewer models always agree or disagree completely."""
MOST_LABELS: Final = 12
MOST_LINES: Final = 30
FILE: Final = "data/agreement.csv"


@dataclass(frozen=True, slots=True)
class AgreementColumn:
    """A column of any board, under a name that is clear among all of them."""

    board: Board
    scores: ColumnScores
    axis: Axis

    @property
    def title(self) -> str:
        return self.axis.title


@dataclass(frozen=True, slots=True)
class Pair:
    left: AgreementColumn
    right: AgreementColumn
    correlation: Correlation
    path: str

    @property
    def figure(self) -> Markup:
        return pair_scatter(self.left.axis, self.right.axis, most_labels=MOST_LABELS)

    @property
    def leave_one_out(self) -> tuple[float, float]:
        return self.correlation.without_one_low, self.correlation.without_one_high

    @property
    def spearman_shade(self) -> str:
        return shade(self.correlation.spearman)

    @property
    def kendall_shade(self) -> str:
        return shade(self.correlation.kendall)


def shade(value: float) -> str:
    """Class of a cell's colour: sign and strength in five steps."""
    if math.isnan(value):
        return "none"
    return f"{'neg' if value < 0 else 'pos'}{min(4, int(abs(value) * 5))}"


def drafts(boards: Sequence[Board], models: Mapping[str, ModelInfo]) -> Iterator[Draft]:
    if not boards:
        return
    measured = {model for board in boards for model in board.models}
    if len(measured) < FEWEST:
        yield Draft("agreement.html", "agreement", {"models": len(measured), "fewest": FEWEST})
        return
    ids = sorted(measured)
    columns = [
        _column(board, column, models) for board in boards for column in board.shown if column.column.ranked
    ]
    found = correlations([_values(column.scores, ids) for column in columns], "agreement")
    pairs = {
        (i, j): Pair(columns[i], columns[j], correlation, f"agreement/{i + 1}-{j + 1}.html")
        for (i, j), correlation in found.items()
    }
    yield from map(_pair_draft, pairs.values())
    heads = [place for place, column in enumerate(columns) if column.scores.column.headline]
    context = {
        "bump": _bump(boards, models),
        "columns": columns,
        "pairs": pairs,
        "heads": heads,
        "main": [pairs[pair] for pair in combinations(heads, 2) if _is_main(pairs[pair], boards)],
        "others": [
            pairs[pair]
            for pair in combinations(heads, 2)
            if _of_one_family(pairs[pair]) and not _is_main(pairs[pair], boards) and pairs[pair].correlation.n
        ],
        "models": len(measured),
        "fewest": FEWEST,
    }
    files = table_files(FILE, _table(list(pairs.values())))
    yield Draft("agreement.html", "agreement", context, tuple(files))


def _pair_draft(pair: Pair) -> Draft:
    """There are thousands of these pages: what differs between them is written out."""
    c = pair.correlation
    numbers = [
        f"{c.n} models have both. Spearman {_with_ends(c.spearman, c.spearman_low, c.spearman_high)}",
        f"Kendall {_with_ends(c.kendall, c.kendall_low, c.kendall_high)}; leaving any one model out",
        f"Spearman lies between {' and '.join(map(_format.coefficient, pair.leave_one_out))}.",
    ]
    texts = {
        "names": f"{escape(pair.left.title)} and {escape(pair.right.title)}",
        "numbers": ", ".join(numbers),
        "figure": pair.figure,
    }
    slots = {name: spelt_out(text).encode() for name, text in texts.items()}
    some_named = c.n > MOST_LABELS
    return Draft(
        pair.path, "agreement-pair", {"some_named": some_named}, slots=slots, frame=f"named: {some_named}"
    )


def _with_ends(value: float, low: float, high: float) -> str:
    return f"{_format.coefficient(value)} ({_ends(low, high)})"


def _ends(low: float, high: float) -> str:
    return f"{_format.coefficient(low)} to {_format.coefficient(high)}"


def _column(board: Board, column: ColumnScores, models: Mapping[str, ModelInfo]) -> AgreementColumn:
    plan = board.plan
    data = "" if plan.family == "core" else f" ({plan.title})"
    title = f"{plan.discipline.value.capitalize()} {short_title(column)}{data}"
    maximum = column.column.maximum
    times = 100 if maximum == 1 else 1  # shares are shown in per cent, as in the tables
    points = {
        model: (models[model].name, times * score.value) for model, score in sorted(column.scores.items())
    }
    return AgreementColumn(board, column, Axis(title, times * maximum, points))


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
            Value(" to ".join(map(_format.coefficient, pair.leave_one_out))),
        )
        for pair in pairs
        for c in (pair.correlation,)
    ]
    return Section("Agreement of every two columns", "", head, tuple(rows))


def _with_interval(value: float, low: float, high: float) -> Value:
    return Value(_format.coefficient(value), "" if math.isnan(low) else _ends(low, high))


def _is_main(pair: Pair, boards: Sequence[Board]) -> bool:
    """Between the boards that stand for the disciplines: the first of each."""
    firsts = first_boards(boards)
    return all(any(one.board is first for first in firsts) for one in (pair.left, pair.right))


def _of_one_family(pair: Pair) -> bool:
    """Two disciplines on the same family of data: what is named first."""
    one, other = pair.left.board.plan, pair.right.board.plan
    return one.family == other.family and one.discipline != other.discipline


def _values(column: ColumnScores, models: Sequence[str]) -> NDArray[np.float64]:
    return np.array([column.scores[m].value if m in column.scores else math.nan for m in models])


def _bump(boards: Sequence[Board], models: Mapping[str, ModelInfo]) -> Markup:
    """Ranks in the first board of each discipline, over the models that are in all of them."""
    first = first_boards(boards)
    if not first:
        return Markup("")
    ranked = [board.headline.scores for board in first]
    common = [model for model in first[0].models if all(model in scores for scores in ranked)][:MOST_LINES]
    columns = [smallest_ranks([scores[model].value for model in common]) for scores in ranked]
    lines = [
        RankLine(
            models[model].name, tuple(column[row] or 0 for column in columns), colour=row if row < 4 else None
        )
        for row, model in enumerate(common)
    ]
    return bump("Ranks across the disciplines", [b.plan.discipline.capitalize() for b in first], lines)
