"""The columns of a published table, as its row in `sources.csv` lists them, and the spread of their scores.

The spread is how far a published score could be from the true one, by the number of tasks behind it.
`on_boards.csv` says which of our own columns they stand in, or why in none.
"""

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Final, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from triathlon_runner.errors import UserError
from triathlon_runner.loop import PAPER_LOOPS, asl_of_counts
from triathlon_site import packaged_table
from triathlon_site.models import Record, finite
from triathlon_site.uncertainty import DRAWS, ENDS, central, generator, share_interval

Array = NDArray[np.float64]
Places = tuple[tuple[str, str], ...]
"""Published tables and the column in each; the first that has a figure of a model counts."""
FROM_COUNTS: Final = "loops"
_COUNT: Final = re.compile(r"[1-9]\d{0,8}")
Role = Literal["headline", "baseline", "column", "unranked", "text"]
"""headline: the score that the table ranks by. baseline: what shifts are counted from. column: another score.
unranked: numbers that are no scores, such as counts. text: shown as it is."""


def _on_boards() -> tuple[dict[str, Places], dict[tuple[str, str], str]]:
    same: dict[str, Places] = {}
    rows = packaged_table("published/on_boards.csv")
    for row in rows:
        if row["board_column"]:
            place = row["table"], row["column"]
            same[row["board_column"]] = (*same.get(row["board_column"], ()), place)
    return same, {(row["table"], row["column"]): row["why_on_none"] for row in rows if row["why_on_none"]}


SAME, ONLY_PUBLISHED = _on_boards()
"""By column of a board on official data, the published columns; by published table and column, why it is on
no board. Of the evolved sets EvoEval's figures come first: its mean, on the same board, is of its cells."""


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

    def shown(self, value: float, published: str = "") -> str:
        """A number with the column's decimals, or those that it was published with where these are more;
        shares of 1 in per cent.
        """
        decimals = max(self.decimals, self.places(published))
        return f"{100 * value if self.maximum == 1 else value:.{decimals}f}"

    def places(self, published: str) -> int:
        """The decimals that a number of its file has as it is shown; below 0 for a rounded share of 1."""
        return len(published.partition(".")[2]) - (2 if self.maximum == 1 else 0)


def number_in(record: Record, field: str, *, whole: bool = False) -> float:
    """The number in a cell, 0 or more, on demand a whole one; nan for an empty one that need not be whole.

    Raises:
        UserError: the cell holds something else.
    """
    text = record.get(field, "")
    value = finite(text) if text else math.nan
    if value is None or value < 0 or (whole and not value.is_integer()):
        bound = ", 0 or more" if value is not None and value < 0 else ""
        raise wrong_cell(record, f"a {'whole ' * whole}number in {field}{bound}", text)
    return value


def wrong_cell(record: Record, expected: str, got: str) -> UserError:
    """The error that names a row's model, what was expected in a cell, and what came."""
    return UserError(
        f"published figures of {record['model']!r}: expected {expected}, got {got!r};"
        " correct the table in results/published/"
    )


def columns_of(table: str, listed: str, names: Sequence[str]) -> tuple[PublishedColumn, ...]:
    """The columns of a table in the order in which they are shown, as its row in `sources.csv` lists them.

    Args:
        table: its name.
        listed: `column|title|maximum|tasks|role`, with `; ` between columns; what is left out at the end of
            one has its default.
        names: the columns of its file; empty for a file without rows.

    Raises:
        UserError: no columns, one that the table lacks, a maximum that is no number above 0, an unknown role,
            two headlines, tasks that are none.
    """

    def wrong(expected: str, got: str) -> UserError:
        return UserError(
            f"sources.csv, row {table!r}, cell 'columns': expected {expected}, got {got!r}; correct the cell"
        )

    columns: dict[str, PublishedColumn] = {}
    for entry in (entry for entry in listed.split(";") if entry.strip()):
        name, title, maximum, tasks, role, *more = (*map(str.strip, entry.split("|")), *[""] * 4)
        most = finite(maximum) if maximum else math.inf
        if any(more) or most is None or most <= 0 or role not in ("", *get_args(Role)):
            raise wrong(
                f"column|title|maximum|tasks|role, a maximum above 0, a role of {get_args(Role)}", entry
            )
        if name in columns:
            raise wrong("each column once", entry)
        known: Role = next((known for known in get_args(Role) if known == role), "column")
        columns[name] = PublishedColumn(name, title or name.replace("_", " "), most, tasks, known)
    if not columns:
        raise wrong("columns, such as 'score|Score|100|500|headline'", listed)
    if names and (unknown := [name for name in columns if name not in names]):
        raise wrong(f"columns of {table}.csv ({', '.join(names)})", unknown[0])
    if sum(column.headline for column in columns.values()) > 1:
        raise wrong("at most one headline", listed)
    for column in columns.values():
        parts = column.tasks.split("+") if "+" in column.tasks else []
        if any(part not in columns or "+" in columns[part].tasks for part in parts):
            raise wrong(
                f"tasks of {column.id!r} that are listed columns and no means themselves", column.tasks
            )
        stated = parts or _COUNT.fullmatch(column.tasks)
        if names and not stated and column.tasks not in ("", FROM_COUNTS, *names):
            raise wrong(
                f"tasks of {column.id!r} as a number, 'loops', or columns of {table}.csv", column.tasks
            )
        if column.tasks and math.isinf(column.maximum) and not column.headline:
            raise wrong(f"a maximum of {column.id!r}, as its tasks are given", "")
    return tuple(columns.values())


def with_numbers(column: PublishedColumn, rows: Sequence[Record]) -> PublishedColumn:
    """A column with what its numbers say: the decimals, and the largest as the maximum of a headline without
    one.
    """
    if column.role == "text":
        return column
    known = [(row[column.id], number) for row in rows if not math.isnan(number := number_in(row, column.id))]
    if column.headline and math.isinf(column.maximum):
        column = replace(column, maximum=max((number for _, number in known), default=0.0) or 1.0)
    counts = Counter(column.places(text) for text, _ in known)
    most = max(counts, key=lambda decimals: (counts[decimals], decimals), default=0)
    return replace(column, decimals=max(0, most))


class Spread(NamedTuple):
    """Scores of one row under resampled tasks, as `uncertainty.draw` has them; the ends of its interval."""

    draws: Array
    low: float
    high: float


def spread(column: PublishedColumn, columns: Mapping[str, PublishedColumn], record: Record) -> Spread | None:
    """Draws of a row's score; None where the tasks behind it are not known, or there are none.

    The column's `tasks` are a whole number; the name of a column that has one; several columns, as `a+b`,
    whose mean this score is; or `loops`: the columns sustained_0, sustained_1 … count the tasks. Which tasks
    of several sets were solved is not published, so the interval of a mean is the widest possible: that of
    sets whose scores all rise and fall together.
    """
    if not record.get(column.id) or not column.tasks:
        return None
    if column.tasks == FROM_COUNTS:
        return _asl(column, record)
    if "+" in column.tasks:
        parts = [spread(columns[name], columns, record) for name in column.tasks.split("+")]
        known = [part for part in parts if part is not None]
        if len(known) < len(parts):
            return None
        low, high = (fmean(part[end] for part in known) for end in (1, 2))
        return Spread(np.asarray(np.mean([part.draws for part in known], axis=0)), low, high)
    stated = column.tasks.isdecimal()
    tasks = int(column.tasks) if stated else int(number_in(record, column.tasks, whole=True))
    if not tasks:
        return None
    passed = column.value(record) / column.maximum * tasks
    random = generator("published", column.id, record["model"])
    draws = column.maximum * random.beta(passed + 0.5, tasks - passed + 0.5, size=DRAWS)
    found = share_interval(passed, tasks)
    return Spread(draws, column.maximum * found.low, column.maximum * found.high)


def _asl(column: PublishedColumn, record: Record) -> Spread | None:
    """ASL from the published counts, s = 1, scaled to the published score (which had a judge)."""
    counts = sustained(record)
    if not counts:
        return None
    score = number_in(record, column.id)
    of_counts = asl_of_counts(counts, PAPER_LOOPS) if sum(counts) else 0.0
    if score and not of_counts:
        raise wrong_cell(record, f"{column.id} 0, since no task sustains a loop", record[column.id])
    factor = score / of_counts if of_counts else 1.0
    squares = np.arange(PAPER_LOOPS + 1) ** 2

    def scores(name: str, more: float, less: float) -> Array:
        random = generator("published", column.id, name)
        shapes = np.add(counts, [less, *[0.0] * (PAPER_LOOPS - 1), more])
        weights = np.column_stack(
            [random.gamma(shape, size=DRAWS) if shape else np.zeros(DRAWS) for shape in shapes]
        )
        return np.asarray(factor * (weights @ squares / PAPER_LOOPS / weights.sum(axis=1)))

    # the same for all rows: equal counts have equal intervals
    low, high = (central(scores("", *added))[end] for end, added in enumerate(ENDS))
    return Spread(scores(record["model"], 0.5, 0.5), float(low), float(high))


def sustained(record: Record) -> tuple[int, ...]:
    """n_0 … n_M of a row, empty where they are not published."""
    fields = [f"sustained_{loops}" for loops in range(PAPER_LOOPS + 1)]
    known = all(record.get(field) for field in fields)
    return tuple(int(number_in(record, field, whole=True)) for field in fields) if known else ()


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
