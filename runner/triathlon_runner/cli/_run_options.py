"""The options of `triathlon run` and `triathlon gate`, and their checks before data is read."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated

import typer

from triathlon_runner import catalogue, models_yaml
from triathlon_runner.cli._names import names
from triathlon_runner.cli._options import Common, Executor
from triathlon_runner.cli._run_report import check_prices
from triathlon_runner.datasets import DataStore
from triathlon_runner.endpoints import Limits
from triathlon_runner.errors import UserError
from triathlon_runner.models_yaml import ModelRow, Price
from triathlon_runner.schedule import PROFILES, STOP_SECONDS, Bounds, Profile, Wanted, span_seconds, why_not
from triathlon_runner.store import ResultsFolder

Budget = Annotated[float | None, typer.Option(min=0, help="USD; once they are spent, no request is sent.")]


def seconds(option: str, text: str) -> float:
    """Returns the seconds of `90s`, `10m`, `1h30m`.

    Raises:
        UserError: it is no span of time, or zero.
    """
    span = span_seconds(text)
    if not span:
        raise UserError(f"expected {option} as 90s, 10m or 1h30m, got {text!r}")
    return span


def limits_of(outage: str, attempts: int, longest_wait: str, budget: float | None) -> Limits:
    """Returns the limits of --outage, --attempts and --longest-wait.

    With a budget one request is sent first: the price of a reply is not known before it.

    Raises:
        UserError: an option is no span of time.
    """
    limits = Limits(
        attempts=attempts,
        outage_seconds=seconds("--outage", outage),
        longest_retry_after=seconds("--longest-wait", longest_wait),
    )
    return limits if budget is None else replace(limits, first_concurrency=1)


@dataclass(frozen=True, slots=True)
class Options:
    """What `run` or `gate` is to do."""

    wanted: Wanted
    bounds: Bounds
    folder: ResultsFolder
    data: DataStore
    dry_run: bool = False
    ask_again: bool = False
    log_json: Path | None = None
    executor: Executor = "local"
    ray_address: str | None = None
    limits: Limits = field(default_factory=Limits)
    timeout_seconds: float | None = None
    stop_seconds: float = STOP_SECONDS
    single: str | None = None
    """The id of the model that --model names, which has no row in models.yaml."""

    def check(self, listed: models_yaml.Registry) -> None:
        """Checks models, suites, prices and prompts before data is read or money is spent.

        Raises:
            UserError: an unknown model or suite; a named model that cannot run here, or no model that can;
                a folder without prompts; a budget without prices.
        """
        rows = self._models_and_suites(listed)
        if not rows:
            raise UserError(
                "expected a model to run, the models file lists none; add one (README, 'Add a model') or run"
                " one without a file: triathlon run --model NAME --base-url http://127.0.0.1:11434/v1"
            )
        no_model_runs = all(why_not(row) is not None for row in rows)
        if self.wanted.asks and (self.wanted.models is not None or no_model_runs):
            _check_runnable(rows)
        if self.bounds.budget_usd is not None:
            check_prices([*rows, *([listed.row(listed.judge)] if listed.judge else [])], self.single)
        if self.wanted.prompts is not None:
            catalogue.check_prompts(self.wanted.prompts)

    def _models_and_suites(self, listed: models_yaml.Registry) -> Sequence[ModelRow]:
        """Returns the rows of the models to run.

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
    """The options that describe a model without a row in models.yaml."""

    model: str | None = None
    base_url: str | None = None
    key_env: str | None = None
    price: str | None = None


def models_to_run(
    models_file: Path, models: str | None, single: SingleModelOptions
) -> tuple[models_yaml.Registry, list[str] | None]:
    """Returns the registry, and the ids of the models to run; None: all.

    Raises:
        UserError: `--model` without `--base-url`, or the other way round; a file or an id that is not usable.
    """
    model, base_url = single.model, single.base_url
    if single == SingleModelOptions():
        return models_yaml.load(models_file), names(models)
    if model is None or base_url is None:
        raise UserError(
            "expected --model and --base-url together (and --key-env where the server wants a key, --price"
            " for --budget); a model of models.yaml is named with --models"
        )
    if models is not None:
        raise UserError(f"expected --model or --models, got both ({model!r} and {models!r})")
    listed = models_yaml.load(models_file, missing_ok=models_file == Common.models_file)
    with_model, model_id = models_yaml.single(
        model, base_url, single.key_env, listed, price=_price(single.price)
    )
    return with_model, [model_id]


def _price(text: str | None) -> Price | None:
    """Returns the price that `1,4` stands for; None for None.

    Raises:
        UserError: it is no pair of numbers from 0.
    """
    if text is None:
        return None
    try:
        usd_in, usd_out = (float(part) for part in text.split(","))
        return Price(input=usd_in, output=usd_out)
    except ValueError:  # pydantic's ValidationError is one, too
        raise UserError(
            f"expected --price as INPUT,OUTPUT, USD per million tokens, such as 1,4, got {text!r}"
        ) from None


def _check_runnable(rows: Sequence[ModelRow]) -> None:
    """Checks that every one of these models can run here.

    Raises:
        UserError: some cannot run here; names each with the reason.
    """
    reasons = {row.id: reason for row in rows if (reason := why_not(row)) is not None}
    if reasons:
        listed_reasons = "; ".join(f"{model}: {reason}" for model, reason in reasons.items())
        raise UserError(f"expected models that can run here, got {listed_reasons}")


def profile_of(name: str) -> Profile:
    """Returns the profile of this name.

    Raises:
        UserError: no profile has it.
    """
    if name not in PROFILES:
        raise UserError(f"expected --profile {' or '.join(PROFILES)}, got {name!r}")
    return PROFILES[name]
