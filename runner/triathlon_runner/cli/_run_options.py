"""What `triathlon run` may be told, and what of it is checked before anything is read."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import typer

from triathlon_runner import catalogue, registry
from triathlon_runner.cli._bounds import check_prices
from triathlon_runner.cli._executor import Executor
from triathlon_runner.cli._names import names
from triathlon_runner.cli._options import Common
from triathlon_runner.datasets import DataStore
from triathlon_runner.endpoints import Limits
from triathlon_runner.errors import UserError
from triathlon_runner.registry import ModelRow, Price
from triathlon_runner.schedule import PROFILES, Bounds, Profile, Wanted, span_seconds, why_not
from triathlon_runner.store import ResultsFolder

SingleModel = Annotated[
    str | None,
    typer.Option(
        "--model", help="One model without a models file: its name at --base-url. Results go under that name."
    ),
]
BaseUrl = Annotated[
    str | None,
    typer.Option("--base-url", help="Server of --model, such as http://127.0.0.1:11434/v1."),
]
KeyEnv = Annotated[
    str | None,
    typer.Option("--key-env", help="Environment variable with the key of --model, never the key itself."),
]
PriceOfModel = Annotated[
    str | None,
    typer.Option("--price", help="Price of --model as INPUT,OUTPUT in USD per million tokens, such as 1,4."),
]
Variants = Annotated[
    str | None, typer.Option(help="Variants too: prompts, temperatures, attacks, style, sampling.")
]
Prompts = Annotated[
    Path | None, typer.Option(help="Folder with prompts of your own: <discipline>/<name>.txt.")
]


def complete_profiles(incomplete: str) -> list[str]:
    """Names of profiles, for the shell."""
    return [name for name in PROFILES if name.startswith(incomplete)]


ProfileName = Annotated[
    str,
    typer.Option(help="How much: " + ", ".join(PROFILES) + ".", autocompletion=complete_profiles),
]
Limit = Annotated[int | None, typer.Option(min=1, help="At most so many tasks of each suite.")]
Samples = Annotated[int | None, typer.Option(min=1, help="Samples a task; left out: the profile's.")]
Temperature = Annotated[
    float | None,
    typer.Option(min=0, max=2, help="Of evolved suites, for pass@k of several samples; left out: greedy."),
]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Say what it would take (requests, tokens, money), ask nothing.")
]
Budget = Annotated[float | None, typer.Option(min=0, help="USD; once they are spent, no request is sent.")]
Deadline = Annotated[
    str | None, typer.Option(help="8h, 2d12h, 90m, 10s, 07:00 or a date and time; then no request is sent.")
]
StopWithin = Annotated[
    str,
    typer.Option(help="For how long a stop waits for requests in flight and programs at most: 30s, 2m."),
]
AskAgain = Annotated[
    bool, typer.Option("--ask-again", help="Archive results of another protocol, data or revision; ask anew.")
]
LogJson = Annotated[
    Path | None, typer.Option("--log-json", help="File that gets one JSON line an event, for machines.")
]
Outage = Annotated[
    str,
    typer.Option(help="How long a server that was reached may be away: 90s, 10m, 8h. Then its model stops."),
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
    span = span_seconds(text)
    if not span:
        raise UserError(f"expected {option} as 90s, 10m or 1h30m, got {text!r}")
    return span


def limits_of(outage: str, attempts: int, longest_wait: str, budget: float | None) -> Limits:
    """How hard and how long servers are asked; with a budget one request first, since its price is not known.

    Raises:
        UserError: a span of time that is none.
    """
    limits = Limits(
        attempts=attempts,
        outage_seconds=seconds("--outage", outage),
        longest_retry_after=seconds("--longest-wait", longest_wait),
    )
    return limits if budget is None else replace(limits, first_concurrency=1)


@dataclass(frozen=True, slots=True)
class Options:
    """What the user asked for."""

    wanted: Wanted
    dry_run: bool
    bounds: Bounds
    stop_within: float
    ask_again: bool
    log_json: Path | None
    executor: Executor
    ray_address: str | None
    limits: Limits
    timeout_seconds: float | None
    folder: ResultsFolder
    data: DataStore
    single: str | None = None
    """The id of the model that --model names, which has no row in models.yaml."""

    def check(self, listed: registry.Registry) -> None:
        """Before money is spent, or data read.

        Raises:
            UserError: an unknown model or suite, a named model that cannot run here, or no model at all that
                can; prompts that are none; a budget without prices.
        """
        rows = self._models_and_suites(listed)
        if not rows:
            raise UserError(
                "expected a model to run, the models file lists none; add one (README, 'Add a model') or run"
                " one without a file: triathlon run --model NAME --base-url http://127.0.0.1:11434/v1"
            )
        none_runs = all(why_not(row) is not None for row in rows)
        if self.wanted.asks and (self.wanted.models is not None or none_runs):
            _check_that_they_run(rows)
        if self.bounds.budget_usd is not None:
            check_prices([*rows, *([listed.row(listed.judge)] if listed.judge else [])], self.single)
        if self.wanted.prompts is not None:
            catalogue.check_prompts(self.wanted.prompts)

    def _models_and_suites(self, listed: registry.Registry) -> Sequence[ModelRow]:
        """The wanted rows.

        Raises:
            UserError: unknown models or suites; names all of both.
        """
        rows: Sequence[ModelRow] = ()
        faults = []
        try:
            rows = listed.select(self.wanted.models)
        except UserError as error:
            faults.append(str(error))
        try:
            self.wanted.catalogue.select(self.wanted.suites, self.wanted.variants)
        except UserError as error:
            faults.append(str(error))
        if faults:
            raise UserError("\n".join(faults))
        return rows


@dataclass(frozen=True, slots=True)
class SingleModelOptions:
    """What the command line says of a model that no file describes."""

    model: str | None = None
    base_url: str | None = None
    key_env: str | None = None
    price: str | None = None


def models_to_run(
    models_file: Path, models: str | None, single: SingleModelOptions
) -> tuple[registry.Registry, list[str] | None]:
    """The models that may run, and the ids of those that are wanted; None: all.

    Raises:
        UserError: `--model` without `--base-url`, or the other way round; a file or an id that is not usable.
    """
    model, base_url = single.model, single.base_url
    if single == SingleModelOptions():
        return registry.load(models_file), names(models)
    if model is None or base_url is None:
        raise UserError(
            "expected --model and --base-url together (and --key-env where the server wants a key, --price"
            " for --budget); a model of models.yaml is named with --models"
        )
    if models is not None:
        raise UserError(f"expected --model or --models, got both ({model!r} and {models!r})")
    listed = registry.load(models_file, missing_ok=models_file == Common.models_file)
    known, added = registry.single(model, base_url, single.key_env, listed, price=_price(single.price))
    return known, [added]


def _price(text: str | None) -> Price | None:
    """`1,4` as a price; None where there is none.

    Raises:
        UserError: it is no pair of numbers from 0.
    """
    if text is None:
        return None
    try:
        first, second = (float(part) for part in text.split(","))
        return Price(input=first, output=second)
    except ValueError:  # pydantic's is one, too
        raise UserError(
            f"expected --price as INPUT,OUTPUT, USD per million tokens, such as 1,4, got {text!r}"
        ) from None


def _check_that_they_run(rows: Sequence[ModelRow]) -> None:
    """Models that were named are wanted: one that cannot run is no reason to go on without it.

    Raises:
        UserError: some cannot run here; names each with the reason.
    """
    reasons = {row.id: reason for row in rows if (reason := why_not(row)) is not None}
    if reasons:
        each = "; ".join(f"{model}: {reason}" for model, reason in reasons.items())
        raise UserError(f"expected models that can run here, got {each}")


def profile_of(name: str) -> Profile:
    """The profile of this name.

    Raises:
        UserError: there is none.
    """
    if name not in PROFILES:
        raise UserError(f"expected --profile {' or '.join(PROFILES)}, got {name!r}")
    return PROFILES[name]
