"""The columns of a published table, as its row in `sources.csv` lists them, and the spread of their scores.

The spread is how far a published score could be from the true one, by the number of tasks behind it.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from triathlon_runner.errors import UserError
from triathlon_runner.loop import PAPER_LOOPS, asl_of_counts
from triathlon_site.models import Record
from triathlon_site.uncertainty import DRAWS, STEP, generator

Array = NDArray[np.float64]
ENDS: Final = ((0.5, 0.5), (0.5 - STEP, 0.5 + STEP), (0.5 + STEP, 0.5 - STEP))
"""Pseudo-tasks added to the solved and to the unsolved tasks: for `draws`, `low` and `high`."""
FROM_COUNTS: Final = "loops"

Role = Literal["headline", "baseline", "column", "unranked", "text"]
"""headline: the score that the table ranks by. baseline: what shifts are counted from. column: another score.
unranked: numbers that are no scores, such as counts. text: shown as it is."""
ABOUT_THE_MODEL: Final = frozenset(
    {"model", "organization", "size", "size_b", "link", "in_paper", "kind", "prompted", "open_data"}
)
"""Columns that say what a row is of; where no columns are listed, they are no scores."""


@dataclass(frozen=True, slots=True)
class PublishedColumn:
    """One column of a published table."""

    id: str
    """Its name in the CSV file."""
    title: str
    maximum: float = math.inf
    tasks: str = ""
    """What is known of the tasks behind a score, for its interval: see `spread`."""
    role: Role = "column"
    decimals: int = 0
    """Those that its numbers are shown with: as many as most of them were published with."""

    @property
    def headline(self) -> bool:
        return self.role == "headline"

    @property
    def ranked(self) -> bool:
        return self.role in {"headline", "baseline", "column"}

    def value(self, record: Record) -> float:
        """Nan for an empty cell.

        Raises:
            UserError: the cell holds something else than a number from 0 to the column's maximum.
        """
        value = number_in(record, self.id)
        if not (math.isnan(value) or 0 <= value <= self.maximum):
            raise wrong_cell(record, f"{self.id} from 0 to {self.maximum:g}", record[self.id])
        return value

    def shown(self, value: float) -> str:
        """A number with the column's decimals; shares of 1 in per cent."""
        return f"{100 * value if self.maximum == 1 else value:.{self.decimals}f}"


def number_in(record: Record, field: str, *, whole: bool = False) -> float:
    """The number in a cell, on demand a whole one; nan for an empty one that need not be whole.

    Raises:
        UserError: the cell holds something else.
    """
    text = record.get(field, "")
    value = _number(text) if text else math.nan
    if value is None or (whole and not value.is_integer()):
        raise wrong_cell(record, f"a {'whole ' * whole}number in {field}", text)
    return value


def wrong_cell(record: Record, expected: str, got: str) -> UserError:
    """The error that names a row's model, what was expected in a cell, and what came."""
    return UserError(
        f"published figures of {record['model']!r}: expected {expected}, got {got!r};"
        " correct the table in results/published/"
    )


def columns_of(table: str, listed: str, rows: Sequence[Record]) -> tuple[PublishedColumn, ...]:
    """The columns of a table in the order in which they are shown.

    `listed` is `column|title|maximum|tasks|role`, with `; ` between columns; what is left out at the end of
    one has its default. Where nothing is listed, every column of numbers is a score and the first is the
    headline. A headline without a maximum has its largest number.

    Raises:
        UserError: a column that the table lacks, a maximum that is no number, an unknown role, two headlines.
    """
    names = list(rows[0]) if rows else []
    columns = [_read(table, entry) for entry in listed.split(";") if entry.strip()]
    if not columns:
        columns = [_guessed(name, rows) for name in names if _is_score(name, names, rows)]
        columns[:1] = [replace(column, role="headline") for column in columns[:1]]
    if rows and (unknown := [c.id for c in columns if c.id not in names]):
        raise _wrong(table, f"expected columns of {table}.csv ({', '.join(names)})", unknown[0])
    if sum(column.headline for column in columns) > 1:
        raise _wrong(table, "expected at most one headline", listed)
    if endless := [column for column in columns if column.headline and math.isinf(column.maximum)]:
        columns[columns.index(endless[0])] = replace(
            endless[0], maximum=max((float(row[endless[0].id] or 0) for row in rows), default=1.0)
        )
    return tuple(replace(column, decimals=_decimals(column, rows)) for column in columns)


def _read(table: str, entry: str) -> PublishedColumn:
    name, title, maximum, tasks, role, *more = (*map(str.strip, entry.split("|")), *[""] * 4)
    most = _number(maximum) if maximum else math.inf
    if any(more) or most is None or role not in ("", *get_args(Role)):
        raise _wrong(table, f"expected column|title|maximum|tasks|role, a role of {get_args(Role)}", entry)
    found: Role = next((known for known in get_args(Role) if known == role), "column")
    return PublishedColumn(name, title or name.replace("_", " "), most, tasks, found)


def _wrong(table: str, expected: str, got: str) -> UserError:
    return UserError(f"sources.csv, row {table!r}, cell 'columns': {expected}, got {got!r}; correct the cell")


def _is_score(name: str, names: Sequence[str], rows: Sequence[Record]) -> bool:
    cells = [row[name] for row in rows if row[name]]
    describes = name in ABOUT_THE_MODEL or (name.endswith("_std") and name.removesuffix("_std") in names)
    return not describes and bool(cells) and all(_number(cell) is not None for cell in cells)


def _guessed(name: str, rows: Sequence[Record]) -> PublishedColumn:
    most = max(number_in(row, name) for row in rows if row[name])
    return PublishedColumn(name, name.replace("_", " "), 1.0 if most <= 1 else max(most, 100.0))


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def _decimals(column: PublishedColumn, rows: Sequence[Record]) -> int:
    if column.role == "text":
        return 0
    known = [row[column.id] for row in rows if not math.isnan(number_in(row, column.id))]
    counts = Counter(len(text.partition(".")[2]) for text in known)
    common = max(counts, key=lambda decimals: (counts[decimals], decimals), default=0)
    return max(0, common - 2 if column.maximum == 1 else common)


class Spread(NamedTuple):
    """Scores of one row under resampled tasks, as `uncertainty.draw` and `draw_ends` have them."""

    draws: Array
    low: Array
    """For the lower end of the interval."""
    high: Array


def spread(column: PublishedColumn, columns: Mapping[str, PublishedColumn], record: Record) -> Spread | None:
    """Draws of a row's score; None where the tasks behind it are not known.

    The column's `tasks` are a whole number; the name of a column that has one; several columns, as `a+b`,
    whose mean this score is; or `loops`: the columns sustained_0, sustained_1 … count the tasks.
    """
    if not record.get(column.id) or not column.tasks:
        return None
    if column.tasks == FROM_COUNTS:
        return _asl(column, record)
    if "+" in column.tasks:
        return _mean([spread(columns[name], columns, record) for name in column.tasks.split("+")])
    known = column.tasks.isdecimal()
    return _binomial(
        column, int(column.tasks) if known else int(number_in(record, column.tasks, whole=True)), record
    )


def exact(column: PublishedColumn, columns: Mapping[str, PublishedColumn], record: Record) -> float:
    """The score before it was rounded, where the number of solved tasks tells it: ranks go by it."""
    if "+" in column.tasks:
        parts = [columns[name] for name in column.tasks.split("+")]
        return float(np.mean([exact(part, columns, record) for part in parts]))
    value = column.value(record)
    if not column.tasks.isdecimal() or math.isnan(value):
        return value
    tasks, half = int(column.tasks), 0.5 * 10.0**-column.decimals / (100 if column.maximum == 1 else 1)
    solved = column.maximum * round(value / column.maximum * tasks) / tasks
    tells = column.maximum / tasks > 4 * half  # else most numbers are near some count
    return solved if tells and abs(solved - value) <= half * 1.001 else value


def sustained(record: Record) -> tuple[int, ...]:
    """n_0 … n_M of a row, empty where they are not published."""
    fields = [f"sustained_{loops}" for loops in range(PAPER_LOOPS + 1)]
    known = all(record.get(field) for field in fields)
    return tuple(int(number_in(record, field, whole=True)) for field in fields) if known else ()


def _binomial(column: PublishedColumn, tasks: int, record: Record) -> Spread:
    """Of a pass@1: Beta distributions of the share solved."""
    passed = column.value(record) / column.maximum * tasks
    random = generator("published", column.id, record["model"])
    shapes = ((passed + more, tasks - passed + less) for more, less in ENDS)
    return Spread(*(column.maximum * random.beta(*shape, size=DRAWS) for shape in shapes))


def _mean(parts: list[Spread | None]) -> Spread | None:
    """The spread of a mean over sets whose tasks are correlated, as several come from one seed.

    Which tasks were solved is not published, so the interval is the widest possible: that of sets whose
    scores all rise and fall together.
    """
    known = [part for part in parts if part is not None]
    if len(known) < len(parts):
        return None
    low, high = (np.mean([np.sort(part[end]) for part in known], axis=0) for end in (1, 2))
    return Spread(np.asarray(np.mean([part.draws for part in known], axis=0)), low, high)


def _asl(column: PublishedColumn, record: Record) -> Spread | None:
    """ASL from the published counts, s = 1, scaled to the published score (which had a judge)."""
    counts = sustained(record)
    if not counts:
        return None
    score = number_in(record, column.id)
    random = generator("published", column.id, record["model"])
    of_counts = asl_of_counts(counts, PAPER_LOOPS) if sum(counts) else 0.0
    if score and not of_counts:
        raise wrong_cell(record, f"{column.id} 0, since no task sustains a loop", record[column.id])
    factor = score / of_counts if of_counts else 1.0

    def scores(more: float, less: float) -> Array:
        shapes = np.add(counts, [less, *[0.0] * (PAPER_LOOPS - 1), more])
        weights = np.column_stack(
            [random.gamma(shape, size=DRAWS) if shape else np.zeros(DRAWS) for shape in shapes]
        )
        squares = np.arange(PAPER_LOOPS + 1) ** 2
        return np.asarray(factor * (weights @ squares / PAPER_LOOPS / weights.sum(axis=1)))

    return Spread(*(scores(*ends) for ends in ENDS))


Places = tuple[tuple[str, str], ...]
"""Published tables and the column in each; the first that has a figure of a model counts."""

_QWEN: Final = "qwen_coder"
SAME: Final[Mapping[str, Places]] = {
    "loop/mbpp-plus:asl_low": (("evaloop", "asl"),),
    "loop/mbpp-plus:pass_at_1": (("evaloop", "pass_at_1"),),
    "runtime/dreval:coverage_accuracy": (("reval", "coverage_accuracy"),),
    "runtime/dreval:coverage_f1": (("reval", "coverage_f1"),),
    "runtime/dreval:output_accuracy": (("reval", "output_accuracy"),),
    "runtime/cruxeval-output:pass@1": (("cruxeval", "output"),),
    "runtime/cruxeval-output:pass@5": (("cruxeval", "output_5"),),
    "runtime/cruxeval-input:pass@1": (("cruxeval", "input"),),
    "runtime/cruxeval-input:pass@5": (("cruxeval", "input_5"),),
    "evolved:average": (("evoeval", "evoeval"),),
    # EvoEval's figures first: its mean, on the same board, is the mean of its own cells.
    "evolved/humaneval:pass@1": (("evoeval", "humaneval"), ("evalplus", "humaneval"), (_QWEN, "humaneval")),
    "evolved/humaneval-plus:pass@1": (
        ("evoeval", "humaneval_plus"),
        ("evalplus", "humaneval_plus"),
        (_QWEN, "humaneval_plus"),
    ),
    "evolved/mbpp-plus:pass@1": (("evalplus", "mbpp_plus"), (_QWEN, "mbpp_plus")),
    **{
        f"evolved/{name}:pass@1": (("evoeval", name),)
        for name in ("difficult", "creative", "subtle", "combine", "tool_use", "verbose", "concise")
    },
}
"""By column of a board on official data."""

_OWN_TESTS: Final = "graded by MBPP’s own few tests; the boards grade by those of MBPP+"
_COT: Final = "asked with a chain of thought; the boards ask for the answer alone"
_TRUTHS: Final = (
    "REval’s own code has other right answers than ours to some questions of state and path (the method page"
    " counts them), so these are not the boards’ quantities"
)
ONLY_PUBLISHED: Final[Mapping[tuple[str, str], str]] = {
    ("evalplus", "mbpp"): _OWN_TESTS,
    (_QWEN, "mbpp"): _OWN_TESTS,
    **{("reval", name): _TRUTHS for name in ("ic", "state_accuracy", "path_accuracy", "average")},
    **{("cruxeval", f"cot_{side}{k}"): _COT for side in ("output", "input") for k in ("", "_5")},
}
"""By published table and column: why it stands on no board."""
