"""What `triathlon run` may be told, and what of it is checked before anything is read."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from triathlon_runner import catalogue, registry
from triathlon_runner.cli._bounds import check_prices
from triathlon_runner.cli._executor import Executor
from triathlon_runner.datasets import DataStore
from triathlon_runner.endpoints import Limits
from triathlon_runner.errors import UserError
from triathlon_runner.prompts import check_prompts
from triathlon_runner.schedule import PROFILES, Bounds, Profile, Wanted
from triathlon_runner.store import ResultsFolder

_SPAN = re.compile(r"(?:(\d+(?:\.\d+)?)\s*h)?\s*(?:(\d+(?:\.\d+)?)\s*m(?:in)?)?\s*(?:(\d+(?:\.\d+)?)\s*s)?")

Variants = Annotated[
    str | None, typer.Option(help="Variants too: prompts, temperatures, attacks, style, sampling.")
]
Prompts = Annotated[
    Path | None, typer.Option(help="Folder with prompts of your own: <discipline>/<name>.txt.")
]
ProfileName = Annotated[str, typer.Option(help="How much: " + ", ".join(PROFILES) + ".")]
Limit = Annotated[int | None, typer.Option(min=1, help="At most so many tasks of each suite.")]
Samples = Annotated[int | None, typer.Option(min=1, help="Samples a task; left out: the profile's.")]
Temperature = Annotated[
    float | None,
    typer.Option(min=0, max=2, help="Of evolved suites, for pass@k of several samples; left out: greedy."),
]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Say what it would take (requests, tokens, money), ask nothing.")
]
Budget = Annotated[float | None, typer.Option(min=0, help="USD; once they are spent, nothing new is asked.")]
Deadline = Annotated[
    str | None, typer.Option(help="8h, 2d12h, 07:00 or a date and time; then nothing new is asked.")
]
AskAgain = Annotated[
    bool, typer.Option("--ask-again", help="Archive results of another protocol, data or revision; ask anew.")
]
LogJson = Annotated[
    Path | None, typer.Option("--log-json", help="File that gets one JSON line an event, for machines.")
]
Outage = Annotated[
    str,
    typer.Option(help="How long a server that has answered may be away: 90s, 10m, 8h. Then its model stops."),
]
Attempts = Annotated[
    int, typer.Option(min=1, help="Tries of one question that may fail while others are answered.")
]
Timeout = Annotated[
    str | None, typer.Option(help="Longest wait for one answer, as 90s or 10m; left out: as the row says.")
]
LongestWait = Annotated[
    str, typer.Option("--longest-wait", help="Longest wait that a server may ask for; then its model stops.")
]


def seconds(option: str, text: str) -> float:
    """Seconds of `90s`, `10m`, `1h30m`.

    Raises:
        UserError: it is no span of time, or none at all.
    """
    match = _SPAN.fullmatch(text.strip())
    hours, minutes, rest = (float(part or 0) for part in match.groups()) if match else (0.0, 0.0, 0.0)
    if (span := hours * 3600 + minutes * 60 + rest) <= 0:
        raise UserError(f"expected {option} as 90s, 10m or 1h30m, got {text!r}")
    return span


def limits_of(outage: str, attempts: int, longest_wait: str) -> Limits:
    """How hard and how long servers are asked.

    Raises:
        UserError: a span of time that is none.
    """
    return Limits(
        attempts=attempts,
        outage_seconds=seconds("--outage", outage),
        longest_retry_after=seconds("--longest-wait", longest_wait),
    )


@dataclass(frozen=True, slots=True)
class Options:
    """What the user asked for."""

    wanted: Wanted
    dry_run: bool
    bounds: Bounds
    ask_again: bool
    log_json: Path | None
    executor: Executor
    ray_address: str | None
    limits: Limits
    timeout_seconds: float | None
    folder: ResultsFolder
    data: DataStore

    def check(self, listed: registry.Registry) -> None:
        """Before money is spent, or data read.

        Raises:
            UserError: an unknown model or suite, prompts that are none, a budget without prices.
        """
        rows = listed.select(self.wanted.models)
        if self.bounds.budget_usd is not None:
            check_prices([*rows, *([listed.row(listed.judge)] if listed.judge else [])])
        catalogue.select(self.wanted.suites, self.wanted.variants)
        if self.wanted.prompts is not None:
            check_prompts(self.wanted.prompts)


def profile_of(name: str) -> Profile:
    """The profile of this name.

    Raises:
        UserError: there is none.
    """
    if name not in PROFILES:
        raise UserError(f"expected --profile {' or '.join(PROFILES)}, got {name!r}")
    return PROFILES[name]
