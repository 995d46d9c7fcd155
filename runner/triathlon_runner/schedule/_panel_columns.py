"""Columns of the progress panel and of the final table, and what stands in them."""

from typing import Final, NamedTuple

from triathlon_runner.llm import EndpointStats
from triathlon_runner.schedule._tally import ModelProgress, Tally
from triathlon_runner.terminal import duration

_UNKNOWN: Final = "–"


class Column(NamedTuple):
    """A column of the panel or of the final table."""

    name: str
    from_width: int
    """The narrowest window, in columns, that shows it."""
    if_any: bool = False
    """Whether it is left out where all its values are 0."""


PANEL: Final = (
    Column("done", 0),
    Column("open", 50),
    Column("failed", 80),
    Column("tokens/s", 60),
    Column("in flight", 80),
    Column("time left", 40),
    Column("USD", 90),
    Column("limit", 100),
    Column("replies", 110),
    Column("cached", 120),
    Column("retries", 120),
    Column("cut", 120),
    Column("too long", 120, if_any=True),
)
FINAL: Final = (
    Column("done", 0),
    Column("open", 50),
    Column("replies", 60),
    Column("tokens", 60),
    Column("cached", 60, if_any=True),
    Column("retries", 70, if_any=True),
    Column("USD", 40),
    Column("cut", 90, if_any=True),
    Column("too long", 80, if_any=True),
    Column("most in flight", 110),
)


def cells_of_model(model: ModelProgress) -> dict[str, str]:
    """Returns a model's row, by the names of columns."""
    cells = {"tokens/s": _UNKNOWN}  # from the start, so that no column appears when its server answers
    if model.suites:
        total = model.total
        cells |= {**cells_of_tally(total), "time left": _time_left(total, model.seconds_left)}
    if model.account is not None:
        stats = model.account.stats
        cells |= cells_of_server(stats)
        cells |= {
            "in flight": f"{stats.in_flight}",
            "limit": f"{stats.limit}",
            "most in flight": f"{stats.most_in_flight}",
            "replies": f"{stats.answered}",
            "retries": f"{stats.retries}",
            "cut": f"{stats.truncated}",
            "too long": f"{stats.too_long + stats.cut_by_context}",
            "USD": "" if model.account.price is None else f"{model.account.usd:.4f}",
        }
    if model.is_stopped:
        cells["time left"] = "stopped"
    return cells


def cells_of_tally(tally: Tally) -> dict[str, str]:
    return {
        "done": f"{tally.done_before + tally.done}/{tally.planned}",
        "open": f"{tally.open}",
        "failed": f"{tally.failed or ''}",
        "time left": _time_left(tally, tally.seconds_left),
    }


def _time_left(tally: Tally, seconds: float | None) -> str:
    if seconds is None or not tally.open:
        return ""
    return "?" if seconds < 0 else duration(seconds)


def cells_of_server(stats: EndpointStats) -> dict[str, str]:
    """What the server has sent, and how many questions the cache answered: their tokens were sent before.

    `?` stands for the tokens of replies that the server did not count.
    """
    tokens, speed = f"{stats.output_tokens}", _UNKNOWN
    if stats.tokens_per_second is not None:
        speed = f"{stats.tokens_per_second:.0f}"
    if stats.uncounted:
        tokens, speed = f"{tokens} + ?" if stats.output_tokens else "?", "?"
    return {"tokens": tokens, "tokens/s": speed, "cached": f"{stats.from_cache}"}
