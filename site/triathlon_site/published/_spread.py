"""How far a published score could be from the true one, by the number of tasks behind it."""

import math
from collections.abc import Mapping
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from triathlon_runner.errors import UserError
from triathlon_runner.loop import PAPER_LOOPS, asl_of_counts
from triathlon_site.csv_file import Record
from triathlon_site.published._columns import PublishedColumn, number_in, whole_number
from triathlon_site.uncertainty import DRAWS, STEP, generator

Array = NDArray[np.float64]
ENDS: Final = ((0.5, 0.5), (0.5 - STEP, 0.5 + STEP), (0.5 + STEP, 0.5 - STEP))
"""Pseudo-tasks added to the solved and to the unsolved tasks: for `draws`, `low` and `high`."""
FROM_COUNTS: Final = "loops"


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
    return _binomial(column, int(column.tasks) if known else whole_number(record, column.tasks), record)


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
    return tuple(whole_number(record, field) for field in fields) if known else ()


def _binomial(column: PublishedColumn, tasks: int, record: Record) -> Spread:
    """Of a pass@1: Beta distributions of the share solved."""
    passed = column.value(record) / column.maximum * tasks
    random = generator("published", column.id, record["model"])
    return Spread(
        *(
            column.maximum * random.beta(passed + more, tasks - passed + less, size=DRAWS)
            for more, less in ENDS
        )
    )


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
        raise UserError(
            f"published figures of {record['model']!r}: expected {column.id} 0, since no task sustains a"
            f" loop, got {record[column.id]!r}; correct the table in results/published/"
        )
    factor = score / of_counts if of_counts else 1.0

    def scores(more: float, less: float) -> Array:
        shapes = np.add(counts, [less, *[0.0] * (PAPER_LOOPS - 1), more])
        weights = np.column_stack(
            [random.gamma(shape, size=DRAWS) if shape else np.zeros(DRAWS) for shape in shapes]
        )
        squares = np.arange(PAPER_LOOPS + 1) ** 2
        return np.asarray(factor * (weights @ squares / PAPER_LOOPS / weights.sum(axis=1)))

    return Spread(*(scores(*ends) for ends in ENDS))
