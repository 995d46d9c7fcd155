"""Boards: pass@1 of models on sets, from results or from published tables, and what is read off one row."""

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Final

from triathlon_runner.evolved._units import PASSED, Unit
from triathlon_runner.metrics import pass_at_k_by_task

SEMANTIC_ALTERING: Final = ("difficult", "creative", "subtle", "combine", "tool_use")
SEMANTIC_PRESERVING: Final = ("verbose", "concise")
SELF_INVOKING: Final = ("humaneval-pro", "mbpp-pro")
SEED: Final = "humaneval"
_OTHER_SEEDS: Final = {"mbpp-plus": "mbpp-plus", "mbpp-pro": "mbpp-plus"}


def seed_of(name: str) -> str:
    """The official set whose problems this one's were evolved from; its own name where they are the seeds."""
    return _OTHER_SEEDS.get(name, SEED)


Row = Mapping[str, float]
"""pass@1 in per cent by set; a set that was not measured is absent."""
Board = Mapping[str, Row]
"""Rows by model."""


def row_of(units: Mapping[str, Sequence[Unit]]) -> dict[str, float]:
    """One model's row from its results by set."""
    shares = {name: _shares(lines) for name, lines in units.items()}
    return {name: 100 * fmean(by_task.values()) for name, by_task in shares.items() if by_task}


def _shares(units: Sequence[Unit]) -> dict[str, float]:
    """By task, the share of its samples that passed; mostly there is one, and nothing to estimate."""
    first = {unit.task_id: float(unit.outcome == PASSED) for unit in units}
    return first if len(first) == len(units) else pass_at_k_by_task(units, 1)


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
