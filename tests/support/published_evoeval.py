"""The published tables of EvoEval (`results/published/evoeval*.csv`) as boards and counts: check values."""

import csv
from pathlib import Path
from typing import Final

from triathlon_runner.llm import ModelKind
from triathlon_site.analysis import Composition, Decomposition

_PROBLEMS: Final = 164
"""HumanEval, verbose and concise; the five other sets have 100, so that their per cents are counts."""

_SETS: Final = ("difficult", "creative", "subtle", "combine", "tool_use")
_OF_164: Final = {
    "humaneval": "humaneval",
    "humaneval_plus": "humaneval-plus",
    "verbose": "verbose",
    "concise": "concise",
}


def _rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


def _exact(per_cent: str) -> float:
    """A published share of 164 problems, unrounded."""
    return 100 * round(float(per_cent) * _PROBLEMS / 100) / _PROBLEMS


def published_board(folder: Path) -> dict[str, dict[str, float]]:
    """The paper's 57 models, pass@1 in per cent by set; a score that is not published is absent.

    The text of table 1 holds 51 rows. The six that complete it (`in_paper` = 0) stand on EvoEval's public
    board: with them every printed rank and every mean drop of the paper comes out, without them not.
    """
    return {
        row["model"]: {
            **{name: _exact(row[key]) for key, name in _OF_164.items() if row[key]},
            **{name: float(row[name]) for name in _SETS},
        }
        for row in _rows(folder / "evoeval.csv")
    }


def published_kinds(folder: Path) -> dict[str, ModelKind]:
    """Whether each model follows instructions, by its column `prompted`."""
    rows = _rows(folder / "evoeval.csv")
    return {row["model"]: "instruct" if row["prompted"] == "1" else "base" for row in rows}


def published_composition(folder: Path) -> dict[tuple[str, str], Composition]:
    """Table 2 by (set, model); sets are combine and combine_naive."""
    columns = [f"{part}_pass_{how}" for part in ("humaneval", "solved") for how in ("both", "one", "none")]
    return {
        (row["dataset"], row["model"]): Composition(*(int(row[name]) for name in columns))
        for row in _rows(folder / "evoeval_combine.csv")
    }


def published_decomposition(folder: Path) -> dict[str, Decomposition]:
    """Table 3 by model."""
    columns = [f"{seed}_{how}" for seed in ("pass", "fail") for how in ("both", "one", "none")]
    return {
        row["model"]: Decomposition(*(int(row[name]) for name in columns))
        for row in _rows(folder / "evoeval_decompose.csv")
    }
