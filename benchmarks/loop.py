"""How near the loop comes to what a server can give: tasks and loops against a server of fixed answer time.

    python benchmarks/loop.py [--tasks 378] [--loops 10] [--latency 0.05] [--slots 64] [--same-program]
        [--dry]

The server (a process of its own) answers every request after `latency` seconds, `slots` at a time: at best it
gives slots / latency answers a second. The run is the real one: schedule, endpoint client, cache of replies,
results file, sandbox. A program of another text is written in every loop, so that every loop executes one;
with `--same-program` a task executes its program once, as a model at its fixed point has it; with `--dry`
nothing is executed, which leaves the asking alone.
"""

import argparse
import asyncio
import importlib
import sys
import tempfile
import time
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from support.loop_fakes import ADD, FakeGrader
from support.model_server import model_server_process
from triathlon_runner import loop
from triathlon_runner.endpoints import ReplyCache
from triathlon_runner.grading import Grader, ProgramGrader
from triathlon_runner.prompts import load_prompts
from triathlon_runner.records import UnitRecord
from triathlon_runner.registry import ModelRow, Registry
from triathlon_runner.sandbox import open_sandbox
from triathlon_runner.schedule import PROFILES, Conditions, ConsoleProgress, Plan, Reacher, Runner
from triathlon_runner.schedule._plan import choose, work_for
from triathlon_runner.store import ResultsFolder
from triathlon_runner.suites import DataSetInfo


@dataclass
class _Silent:
    """Progress that nobody watches; keeps the records."""

    records: list[UnitRecord] = field(default_factory=list)

    def plan(self, *_: object, **__: object) -> None: ...
    def start(self, *_: object) -> None: ...
    def finished(self, record: UnitRecord) -> None:
        self.records.append(record)

    def failed(self, *told: object) -> None:
        raise RuntimeError(str(told))

    def say(self, message: str) -> None:
        print(message)


def plan_of(options: argparse.Namespace, base_url: str) -> tuple[Registry, Plan]:
    problems = [
        replace(ADD, task_id=f"bench/{n}", prompt=f'"""\nTask {n}: add.\n"""\n') for n in range(options.tasks)
    ]
    setting = loop.Setting(max_loops=options.loops)
    data = DataSetInfo("bench", "1", "0" * 64)
    suite = loop.LoopSuite("loop/core", data, problems, load_prompts("loop"), setting)
    (entry,) = (entry for entry in loop.catalogue() if entry.id == "loop/core")
    api = {"base_url": base_url, "model": "scripted", "concurrency": options.slots}
    row = ModelRow.model_validate({"id": "bench", "name": "Bench", "api": api})
    registry = Registry(models=(row,))
    profile = PROFILES["standard"]
    return registry, Plan(work={row.id: work_for(registry, row, [choose(entry, suite, profile)])})


async def measure(
    options: argparse.Namespace, base_url: str, folder: Path
) -> tuple[float, float, list[UnitRecord]]:
    """Wall and CPU seconds of one whole run in this process, and its records."""
    importlib.import_module("openai.types.responses")  # a second of start-up that is no part of the asking
    registry, plan = plan_of(options, base_url)
    progress = _Silent()
    async with AsyncExitStack() as stack:
        grader: Grader = FakeGrader()
        if not options.dry:
            grader = ProgramGrader(await stack.enter_async_context(open_sandbox()))
            await grader.judge(ADD.reference, ADD)
        replies = stack.enter_context(ReplyCache(folder / "replies.sqlite"))
        reacher = Reacher(registry, replies, folder, progress.say)
        runner = Runner(
            ResultsFolder(folder / "results"),
            grader,
            reacher,
            cast(ConsoleProgress, cast(Any, progress)),
            Conditions("standard", "bench", "not run"),
        )
        begin, cpu = time.perf_counter(), time.process_time()
        await runner.run(plan)
        return time.perf_counter() - begin, time.process_time() - cpu, progress.records


def main() -> None:
    """Runs once and prints what came out."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tasks", type=int, default=378)
    parser.add_argument("--loops", type=int, default=10)
    parser.add_argument("--latency", type=float, default=0.05)
    parser.add_argument("--slots", type=int, default=64)
    parser.add_argument("--same-program", action="store_true")
    parser.add_argument("--dry", action="store_true")
    options = parser.parse_args()
    script = f"support.loop_fakes:{'same_program' if options.same_program else 'new_programs'}"
    with tempfile.TemporaryDirectory() as folder:
        arguments = ["--latency", str(options.latency), "--slots", str(options.slots)]
        with model_server_process(script, *arguments) as base_url:
            seconds, cpu, records = asyncio.run(measure(options, base_url, Path(folder)))
    requests = sum(record.usage.requests for record in records)
    ideal = requests * options.latency / options.slots
    print(f"{len(records)} tasks, {requests} requests in {seconds:.2f} s: {requests / seconds:.0f} a second")
    print(f"ideal {ideal:.2f} s, reached {100 * ideal / seconds:.1f} %")
    print(f"CPU time of the runner's own process {cpu:.2f} s: {1000 * cpu / requests:.2f} ms a request")


if __name__ == "__main__":
    main()
