"""Boards: pass@1 of models on sets, from results or from published tables, and what is read off one row."""

from collections.abc import Iterable, Mapping
from statistics import fmean
from typing import Final

from triathlon_runner.evolved._metrics import PASS_AT_1
from triathlon_runner.records import UnitRecord

SEMANTIC_ALTERING: Final = ("difficult", "creative", "subtle", "combine", "tool_use")
SEMANTIC_PRESERVING: Final = ("verbose", "concise")
SEED: Final = "humaneval"

Row = Mapping[str, float]
"""pass@1 in per cent by set; a set that was not measured is absent."""
Board = Mapping[str, Row]
"""Rows by model."""


def row_of(records: Mapping[str, Iterable[UnitRecord]]) -> dict[str, float]:
    """One model's row from its records by set."""
    rows = {name: list(lines) for name, lines in records.items()}
    return {name: 100 * PASS_AT_1.score(lines) for name, lines in rows.items() if lines}


def column(board: Board, name: str) -> dict[str, float]:
    """One set's scores by model, for the models that have one."""
    return {model: row[name] for model, row in board.items() if name in row}


def evoeval_average(row: Row, seed: str = SEED) -> float | None:
    """Mean pass@1 of HumanEval and the five semantic-altering sets (EvoEval, table 1), if all are there."""
    names = (seed, *SEMANTIC_ALTERING)
    return fmean(row[name] for name in names) if all(name in row for name in names) else None


def evoeval_column(board: Board, seed: str = SEED) -> dict[str, float]:
    """The EvoEval average by model, for the models that have one."""
    averages = {model: evoeval_average(row, seed) for model, row in board.items()}
    return {model: average for model, average in averages.items() if average is not None}
