"""What planning, recognising finished work, waiting and a long queue cost.

    python benchmarks/schedule.py [--models 100] [--seconds 10]

Each part runs in a process of its own, so that peak memory is its own. Suites and models are made up; files,
locks, manifests and the schedule are the real ones.
"""

import argparse
import asyncio
import io
import multiprocessing
import resource
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import cast

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from rich.console import Console

from support.fake_suite import FakeModel, FakeSuite, entry_of
from support.model_server import ModelServer
from support.server_replies import Hang
from triathlon_runner.grading import Grader
from triathlon_runner.llm import Chat, Message, Model, OpenAI, Sampling, open_model
from triathlon_runner.models_yaml import ModelRow, Registry
from triathlon_runner.schedule import (
    PROFILES,
    ConsoleProgress,
    ModelOpener,
    OpenModel,
    Runner,
    RunPlan,
    choose,
    work_for,
)
from triathlon_runner.store import ResultsFolder
from triathlon_runner.suites import Task

MIB = 2**20


def plan_of(models: int, suites: int, tasks: int) -> RunPlan:
    """So many models on so many suites of so many tasks."""
    rows = tuple(
        ModelRow.model_validate(
            {"id": f"m{n}", "name": "M", "api": {"base_url": "http://127.0.0.1:1/v1", "model": f"m{n}"}}
        )
        for n in range(models)
    )
    registry = Registry(models=rows)
    built = []
    for number in range(suites):
        suite = FakeSuite(f"evolved/s{number}", [Task(f"task/{n}") for n in range(tasks)])
        built.append(choose(entry_of(suite), suite, PROFILES["standard"]))
    return RunPlan(work={row.id: work_for(registry, row, built) for row in rows})


class RowOpener:
    """Reaches a model of each row that answers at once."""

    @asynccontextmanager
    async def open(self, row: ModelRow) -> AsyncIterator[OpenModel]:
        model = FakeModel(row.id, lambda text: text)
        yield OpenModel(cast(Model, model), served_by="a benchmark", served_model="fake-1", slots=16)


async def run(plan: RunPlan, folder: Path) -> None:
    """One run whose models answer at once."""
    progress = ConsoleProgress(Console(file=io.StringIO()))
    place, grader = (
        ResultsFolder(folder),
        cast(Grader, SimpleNamespace(sandbox=SimpleNamespace(level="none"))),
    )
    runner = Runner(place, grader, cast(ModelOpener, RowOpener()), progress, "standard")
    await runner.run(plan)


def planning(models: int) -> str:
    """A million units: planned, and what is open found out against an empty folder."""
    began = time.perf_counter()
    plan = plan_of(models, 50, 1_000_000 // models // 50)
    with tempfile.TemporaryDirectory() as folder:
        results = ResultsFolder(Path(folder))
        left = [
            work.open_units(results.units(work.row.id, work.suite_id))
            for works in plan.work.values()
            for work in works
        ]
    return f"{sum(map(len, left)):,} units planned in {time.perf_counter() - began:.1f} s"


def finished(models: int) -> str:
    """Every model has done 20 suites of 20 tasks; the same run again."""
    plan = plan_of(models, 20, 20)
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(run(plan, Path(folder)))
        began = time.perf_counter()
        asyncio.run(run(plan_of(models, 20, 20), Path(folder)))
        took = time.perf_counter() - began
    return f"a finished run of {models} models × 20 suites recognised in {took:.2f} s"


def long_queue(_: int) -> str:
    """200,000 units of one model, run to their end."""
    with tempfile.TemporaryDirectory() as folder:
        began = time.perf_counter()
        asyncio.run(run(plan_of(1, 1, 200_000), Path(folder)))
        return f"200,000 units of one model run in {time.perf_counter() - began:.0f} s"


def waiting(seconds: int) -> str:
    """64 questions in flight to a server that says nothing, 1,000 behind them."""

    async def wait() -> float:
        async with ModelServer(lambda _: Hang(3600)) as server:
            config = OpenAI(base_url=server.base_url, model="scripted", concurrency=64)
            async with open_model("m", "instruct", config) as model:
                chats = [Chat((Message("user", str(n)),)) for n in range(1064)]
                tasks = [asyncio.create_task(model.ask(chat, Sampling(8))) for chat in chats]
                await asyncio.sleep(2)
                cpu = time.process_time()
                await asyncio.sleep(seconds)
                cpu = time.process_time() - cpu
                for task in tasks:
                    task.cancel()
                await asyncio.wait(tasks)
                return cpu

    return f"CPU while waiting {asyncio.run(wait()) / seconds:.2%} of a core, server and client together"


def _measured(part: Callable[[int], str], argument: int) -> None:
    line = part(argument)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(f"{line}; peak memory {peak / MIB:.0f} MiB", flush=True)


def main() -> None:
    """Prints a line a part."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--models", type=int, default=100)
    parser.add_argument("--seconds", type=int, default=10, help="how long to wait for the silent server")
    arguments = parser.parse_args()
    spawn = multiprocessing.get_context("spawn")
    for part, argument in (
        (planning, arguments.models),
        (finished, arguments.models),
        (long_queue, 1),
        (waiting, arguments.seconds),
    ):
        process = spawn.Process(target=_measured, args=(part, argument))
        process.start()
        process.join()


if __name__ == "__main__":
    main()
