"""The table that shows how far each model is, during a run and at its end."""

from collections.abc import Collection, Mapping, Sequence
from typing import Final

from rich.progress import Task
from rich.table import Table

from triathlon_runner.llm import EndpointStats
from triathlon_runner.schedule._stop import Account
from triathlon_runner.terminal import duration, visible

_UNKNOWN: Final = "–"
PANEL: Final = {
    "done": 0,
    "open": 50,
    "failed": 80,
    "tokens/s": 60,
    "in flight": 80,
    "time left": 40,
    "USD": 90,
    "limit": 100,
    "replies": 110,
    "cached": 120,
    "retries": 120,
    "cut": 120,
    "too long": 120,
}
"""Columns during a run, each with the narrowest window that shows it."""
FINAL: Final = {
    "done": 0,
    "open": 50,
    "replies": 60,
    "tokens": 60,
    "cached": 60,
    "retries": 70,
    "USD": 40,
    "cut": 90,
    "too long": 80,
    "most in flight": 110,
}
"""Columns at the end of a run."""


def cells_of_suites(suites: Sequence[Task]) -> dict[str, str]:
    """Returns, by columns, how far one suite or several together are; the time left is the slowest one's."""
    done = sum(int(suite.completed) for suite in suites)
    planned = sum(int(suite.total or 0) for suite in suites)
    seconds = [suite.time_remaining for suite in suites if suite.remaining and suite.time_remaining]
    return {
        "done": f"{done}/{planned}",
        "open": f"{planned - done}",
        "failed": f"{sum(suite.fields['failed'] for suite in suites) or ''}",
        "time left": "" if done == planned else duration(max(seconds)) if seconds else "?",
    }


def cells_of_model(suites: Sequence[Task], account: Account | None) -> dict[str, str]:
    """Returns what stands in a model's row, by columns."""
    cells = {"tokens/s": _UNKNOWN}  # from the start, so that no column appears when its server answers
    if suites:
        cells |= cells_of_suites(suites)
    if account is None:
        return cells
    stats = account.stats
    cells |= cells_of_server(stats)
    cells |= {
        "in flight": f"{stats.in_flight}",
        "limit": f"{stats.limit}",
        "most in flight": f"{stats.most_in_flight}",
        "replies": f"{stats.answered}",
        "retries": f"{stats.retries}",
        "cut": f"{stats.truncated}",
        "too long": f"{stats.too_long + stats.cut_by_context}",
        "USD": "" if account.price is None else f"{account.usd:.4f}",
    }
    return cells | ({"time left": "stopped"} if stats.stopped else {})


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


def table_of(
    rows: Sequence[tuple[str, Mapping[str, str]]],
    columns: Mapping[str, int],
    width: int,
    only_if_any: Collection[str],
) -> Table:
    """Returns a table of names and cells with the columns that fit into the width and have a value.

    Those of `only_if_any` are left out, too, where all their values are 0.
    """
    names = []
    for name, from_width in columns.items():
        values = {cells.get(name, "") for _, cells in rows}
        if from_width <= width and values - ({"", "0"} if name in only_if_any else {""}):
            names.append(name)
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column("model", overflow="fold")
    for name in names:
        table.add_column(name, justify="right", no_wrap=True)
    for label, cells in rows:
        table.add_row(visible(label), *(cells.get(name, "") for name in names))
    return table
