"""Cost and speed as columns of a board."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from triathlon_site.costs._run_cost import RunCost


@dataclass(frozen=True, slots=True)
class CostColumn:
    """One column, hidden until a visitor turns it on."""

    title: str
    small: str
    note: str
    """What it is, in a sentence."""
    value: Callable[[RunCost], float | None]
    text: Callable[[float], str]


@dataclass(frozen=True, slots=True)
class CostCell:
    """One cell."""

    value: float | None
    text: str

    @property
    def sort(self) -> str:
        """What scripts sort by; empty for none."""
        return "" if self.value is None else f"{self.value:.6g}"


def _dollars(value: float) -> str:
    return f"{value:.2f}" if value >= 1 else f"{value:.2g}" if value >= 1e-4 else f"{value:.6f}"


COLUMNS: Final = (
    CostColumn(
        "Cost", "$", "What the run cost at the prices of models.yaml.", lambda cost: cost.usd, _dollars
    ),
    CostColumn(
        "Cost per solved",
        "$ a unit that passed",
        "The cost of the run for each unit that ended as passed; in the loop, in every loop.",
        lambda cost: cost.usd_per_solved,
        _dollars,
    ),
    CostColumn(
        "Output tokens",
        "a unit",
        "Tokens that the model wrote, reasoning included.",
        lambda cost: cost.output_tokens,
        lambda value: f"{value:,.0f}",
    ),
    CostColumn(
        "Reasoning tokens",
        "a unit",
        "Part of the output tokens that the server names as reasoning.",
        lambda cost: cost.reasoning_tokens,
        lambda value: f"{value:,.0f}",
    ),
    CostColumn(
        "Speed",
        "output tokens / s",
        "Over all requests in flight, in the newest run.",
        lambda cost: cost.tokens_per_second,
        lambda value: f"{value:,.0f}",
    ),
    CostColumn(
        "Cut replies",
        "at the token limit",
        "Share of the replies that ended at the token limit.",
        lambda cost: cost.cut_share,
        lambda value: f"{100 * value:.1f} %",
    ),
)


def cost_columns(costs: Mapping[str, RunCost]) -> list[CostColumn]:
    """The columns that some model has a value in."""
    return [column for column in COLUMNS if any(column.value(cost) is not None for cost in costs.values())]


def cost_cells(columns: Sequence[CostColumn], cost: RunCost) -> tuple[CostCell, ...]:
    """One model's cells; a dash where nothing is known."""
    values = [(column, column.value(cost)) for column in columns]
    return tuple(CostCell(value, "–" if value is None else column.text(value)) for column, value in values)
