"""What the options of several commands name: suites, data, models, prices, what executes programs."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TypeVar

from triathlon_runner import models_yaml
from triathlon_runner.cache import cache_folder
from triathlon_runner.catalogue import Catalogue
from triathlon_runner.cli import _app as cli
from triathlon_runner.datasets import DataStore, DataUnavailableError
from triathlon_runner.errors import UserError
from triathlon_runner.grading import Grader, ProgramGrader
from triathlon_runner.models_yaml import ModelRow, Price, Registry
from triathlon_runner.sandbox import open_sandbox
from triathlon_runner.schedule import BuiltSuite, Wanted, build_suite, why_not

T = TypeVar("T")


def data_store(data: Path | None, *, fetch: bool = True) -> DataStore:
    """Returns the store of data sets; refuses a folder that is none."""
    if data is not None and not data.is_dir():
        raise UserError(f"expected a folder with data files at --data (TRIATHLON_DATA), got {str(data)!r}")
    return DataStore(cache=cache_folder() / "data", folder=data, fetch=fetch)


def kept_verdicts(name: str) -> Path:
    """Returns the file of the cache with the verdicts on the problems of a suite, or of a file's name."""
    return cache_folder() / "verdicts" / f"{name.replace('/', '-')}.jsonl"


@asynccontextmanager
async def open_grader(
    executor: cli.Executor, ray_address: str | None, report: Callable[[str], object]
) -> AsyncIterator[Grader]:
    """Opens a grader that executes programs on this machine or on a cluster, with answer keys in the cache.

    `report` is called with one line about each node of the cluster.

    Raises:
        UserError: the cluster cannot be used.
        SandboxError: nothing can be executed here.
    """
    keys = cache_folder() / "keys"
    if executor == "ray":
        try:
            from triathlon_runner.cluster import open_cluster  # noqa: PLC0415  a second of import
        except ModuleNotFoundError as error:
            if error.name != "ray":
                raise
            raise UserError(
                "--executor ray needs Ray: pip install '.[ray]' in the checkout, on every node"
                " (docs/running.md, 'On a cluster')"
            ) from None
        async with open_cluster(ray_address, keys=keys, report=report) as grader:
            yield grader
        return
    if ray_address is not None:
        raise UserError(f"--ray-address {ray_address!r} is for --executor ray; add that, or leave it out")
    async with open_sandbox() as sandbox:
        yield ProgramGrader(sandbox, keys)


def with_grader(
    work: Callable[[Grader], Awaitable[T]],
    executor: cli.Executor = "local",
    ray_address: str | None = None,
    report: Callable[[str], object] = lambda _: None,
) -> T:
    """Runs `work` with a grader, opened as by `open_grader`; returns its result."""

    async def run() -> T:
        async with open_grader(executor, ray_address, report) as grader:
            return await work(grader)

    return asyncio.run(run())


async def built_suite(
    catalogue: Catalogue, data: DataStore, suite: str, grader: Grader, prompts: Path | None = None
) -> BuiltSuite | str:
    """Returns the suite with its data, or why it cannot be built; `suite` is an id, or a question file."""
    try:
        (entry,) = catalogue.select([suite], (), prompts)
    except UserError as error:
        if (of_results := catalogue.find(suite)) is None:
            return str(error)
        entry = of_results  # says that its questions came from a file
    try:
        return await build_suite(entry, data, grader, Wanted())
    except (UserError, DataUnavailableError) as error:
        return str(error)


def models_to_run(
    models_file: Path | None,
    models: str | None,
    model: str | None,
    base_url: str | None,
    key_env: str | None,
    price: str | None,
) -> tuple[Registry, list[str] | None]:
    """Returns the registry, and the ids of the models to run; None: all.

    Raises:
        UserError: `--model` without `--base-url`, or the other way round; a file or an id that is not usable.
    """
    if model is base_url is key_env is price is None:
        return models_yaml.load(models_file), cli.names(models)
    if model is None or base_url is None:
        raise UserError(
            "expected --model and --base-url together (and --key-env where the server wants a key, --price"
            " for --budget); a model of models.yaml is named with --models"
        )
    if models is not None:
        raise UserError(f"expected --model or --models, got both ({model!r} and {models!r})")
    listed = models_yaml.load(models_file, needed=False)
    stated = None
    if price is not None:
        try:
            usd_in, usd_out = map(float, price.split(","))
            stated = Price(input=usd_in, output=usd_out)
        except ValueError:  # pydantic's ValidationError is one, too
            raise UserError(
                f"expected --price as INPUT,OUTPUT, USD per million tokens, such as 1,4, got {price!r}"
            ) from None
    with_model, model_id = models_yaml.single(model, base_url, key_env, listed, price=stated)
    return with_model, [model_id]


def check_prices(rows: Sequence[ModelRow]) -> None:
    """Checks that every model behind an API has a price, as a budget needs."""
    for row in rows:
        if row.api is not None and row.price is None and why_not(row) is None:
            raise UserError(
                f"--budget needs the price of {row.id!r}, in USD per million tokens (0 where it is free): add"
                " `price: {input: …, output: …}` to its row; without a row, say --price INPUT,OUTPUT"
            )
