"""What other words or helper functions change, by kind of model (EvoEval, sections 4.1 and 4.3)."""

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import fmean
from typing import Final, Literal

from triathlon_runner.endpoints import ModelKind
from triathlon_runner.evolved.analysis._board import SEED, Board

_BASE_FAMILIES: Final = frozenset(
    {
        *("DS Coder", "DS Coder-1.5", "CodeLlama", "StarCoder", "StarCoder2", "Gemma", "Phi-2"),
        *("mistral-7b", "stable-code-3b"),
    }
)
"""The others are asked by instruction; the Qwen rows are the chat models."""


@dataclass(frozen=True, slots=True)
class Change:
    """Mean relative change from one set to another over some models, in per cent (positive: more solved)."""

    change: float
    before: float
    """Mean pass@1 on the first set, in per cent."""
    after: float
    models: int


def change(board: Board, before: str, after: str) -> Change | None:
    """The mean over the models that have both scores and solve something of the first set, if any do."""
    pairs = [(row[before], row[after]) for row in board.values() if row.get(before) and after in row]
    if not pairs:
        return None
    return Change(
        change=fmean(100 * (new - old) / old for old, new in pairs),
        before=fmean(old for old, _ in pairs),
        after=fmean(new for _, new in pairs),
        models=len(pairs),
    )


def change_by_kind(
    board: Board, kinds: Mapping[str, ModelKind], after: str, before: str = SEED
) -> dict[ModelKind, Change]:
    """`change` for instruct and base models apart; verbose or concise or subtle against HumanEval."""
    changes: dict[ModelKind, Change] = {}
    for kind in ("instruct", "base"):
        rows = {model: row for model, row in board.items() if kinds.get(model) == kind}
        result = change(rows, before, after)
        if result is not None:
            changes[kind] = result
    return changes


def helped_by_tools(board: Board, kinds: Mapping[str, ModelKind]) -> dict[ModelKind | Literal["all"], Change]:
    """tool_use against the same problems without helper functions.

    The paper: 29.8 % without helpers and 80.1 % more with them; 59.2 % for instruct, 122.0 % for base models.
    """
    everyone = change(board, "tool_use-main_only", "tool_use")
    apart = change_by_kind(board, kinds, "tool_use", before="tool_use-main_only")
    results: tuple[tuple[ModelKind | Literal["all"], Change | None], ...] = (
        ("all", everyone),
        ("instruct", apart.get("instruct")),
        ("base", apart.get("base")),
    )
    return {name: result for name, result in results if result is not None}


def kind_of(model: str) -> ModelKind:
    """Whether a published row is a base model or follows instructions."""
    family = model.rpartition(" ")[0] or model
    return "base" if family in _BASE_FAMILIES else "instruct"
