"""Options of `triathlon run`, `gate` and `probe`, and their checks before data is read."""

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
from triathlon_runner.errors import UserError
from triathlon_runner.llm import Limits
from triathlon_runner.models_yaml import ModelRow, Price
from triathlon_runner.schedule import STOP_SECONDS, Bounds, Wanted, span_seconds
from triathlon_runner.store import ResultsFolder

ModelName = Annotated[
    str | None,
    typer.Option("--model", help="One model without a models file: its name at --base-url, and its id."),
]
BaseUrl = Annotated[
    str | None, typer.Option("--base-url", help="Server of --model, such as http://127.0.0.1:11434/v1.")
]
KeyEnv = Annotated[
    str | None,
    typer.Option("--key-env", help="Environment variable with the key of --model, never the key itself."),
]
PriceOfModel = Annotated[
    str | None,
    typer.Option("--price", help="Price of --model as INPUT,OUTPUT in USD per million tokens, such as 1,4."),
]


def seconds(option: str, text: str) -> float:
    """Returns the seconds of `90s`, `10m`, `1h30m`; refuses other texts."""
    span = span_seconds(text)
    if not span:
        raise UserError(f"expected {option} as 90s, 10m or 1h30m, got {text!r}")
    return span


def limits_of(outage: str, attempts: int, longest_wait: str, budget: float | None) -> Limits:
    """Returns the limits of --outage, --attempts and --longest-wait.

    With a budget one request is sent first: the price of a reply is not known before it.
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
    estimates: bool = False
    """Whether the estimates of a dry run are shown before the run."""
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
            UserError: unknown models or suites; a named model that cannot run here, or no model that can;
                a folder without prompts; a budget without prices.
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
        if not rows:
            raise UserError(
                "expected a model to run, the models file lists none; add one (README, 'Add a model') or run"
                " one without a file: triathlon run --model NAME --base-url http://127.0.0.1:11434/v1"
            )
        reasons = [f"{row.id}: {reason}" for row in rows if (reason := self.wanted.why_not(row)) is not None]
        may_skip = self.wanted.models is None and len(reasons) < len(rows)
        if self.wanted.asks and reasons and not may_skip:
            raise UserError(f"expected models that can run here, got {'; '.join(reasons)}")
        if self.bounds.budget_usd is not None:
            asked = [row for row in rows if self.wanted.why_not(row) is None]
            check_prices([*asked, *([listed.row(listed.judge)] if listed.judge else [])], self.single)
        if self.wanted.prompts is not None:
            catalogue.check_prompts(self.wanted.prompts)


def models_to_run(
    models_file: Path,
    models: str | None,
    model: str | None,
    base_url: str | None,
    key_env: str | None,
    price: str | None,
) -> tuple[models_yaml.Registry, list[str] | None]:
    """Returns the registry, and the ids of the models to run; None: all.

    Raises:
        UserError: `--model` without `--base-url`, or the other way round; a file or an id that is not usable.
    """
    if all(option is None for option in (model, base_url, key_env, price)):
        return models_yaml.load(models_file), names(models)
    if model is None or base_url is None:
        raise UserError(
            "expected --model and --base-url together (and --key-env where the server wants a key, --price"
            " for --budget); a model of models.yaml is named with --models"
        )
    if models is not None:
        raise UserError(f"expected --model or --models, got both ({model!r} and {models!r})")
    listed = models_yaml.load(models_file, missing_ok=models_file == Common.models_file)
    with_model, model_id = models_yaml.single(model, base_url, key_env, listed, price=_price(price))
    return with_model, [model_id]


def _price(text: str | None) -> Price | None:
    """Returns the price that `1,4` stands for; None for None."""
    if text is None:
        return None
    try:
        usd_in, usd_out = (float(part) for part in text.split(","))
        return Price(input=usd_in, output=usd_out)
    except ValueError:  # pydantic's ValidationError is one, too
        raise UserError(
            f"expected --price as INPUT,OUTPUT, USD per million tokens, such as 1,4, got {text!r}"
        ) from None
