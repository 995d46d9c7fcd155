"""How near the loop comes to what a server and this machine can give.

    python benchmarks/loop.py [--tasks 378] [--loops 10] [--latency 0.05] [--slots 64] [--jobs N]
        [--same-program]

The server (a process of its own, bare asyncio) answers every request after `latency` seconds and is asked
`slots` at a time: at best it gives slots / latency answers a second. The run is the real one: schedule,
client, cache of replies, results file, sandbox. A program of another text is written in every loop, so that
every loop executes one; with `--same-program` a task executes its program once, as a model at its fixed point
has it.

Three runs, one after the other: asking alone (nothing is executed), executing alone (the same programs,
nobody is asked), both. CPU time is that of the runner, the server and the sandbox with all its children. What
the first two need together, divided by the cores, is what no order of doing things can beat on this machine;
where that is more than the server's own time, it and not the server is the limit.
"""

import argparse
import asyncio
import os
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.clients.server import fixed_server

from support.loop_fakes import ADD, FakeGrader
from triathlon_runner import loop
from triathlon_runner.grading import Grader, ProgramGrader
from triathlon_runner.llm import ReplyCache
from triathlon_runner.models_yaml import ModelRow, Registry
from triathlon_runner.prompts import load_prompts
from triathlon_runner.records import UnitRecord
from triathlon_runner.sandbox import open_sandbox
from triathlon_runner.schedule import (
    PROFILES,
    UNITS_PER_SLOT,
    ConsoleProgress,
    ModelOpener,
    Runner,
    RunPlan,
    choose,
    work_for,
)
from triathlon_runner.store import ResultsFolder
from triathlon_runner.suites import DataSetInfo


@dataclass
class _Silent:
    """Progress that nobody watches; keeps the records."""

    records: list[UnitRecord] = field(default_factory=list)

    def __getattr__(self, name: str) -> Callable[..., None]:
        return lambda *_, **__: None

    def finished(self, record: UnitRecord, **_: object) -> None:
        self.records.append(record)

    def failed(self, *told: object) -> None:
        raise RuntimeError(str(told))


@dataclass
class Measured:
    """Seconds and CPU seconds of one run."""

    seconds: float = 0.0
    own_cpu: float = 0.0
    """Of the runner's process."""
    children_cpu: float = 0.0
    """Of all processes under it: the server's, the sandbox' and the programs'."""

    @property
    def cpu(self) -> float:
        return self.own_cpu + self.children_cpu

    @contextmanager
    def clock(self) -> Any:
        """Times what is done inside."""
        begin, cpu, children = time.perf_counter(), time.process_time(), children_cpu()
        yield
        self.seconds = time.perf_counter() - begin
        self.own_cpu = time.process_time() - cpu
        self.children_cpu = children_cpu() - children


def children_cpu() -> float:
    """CPU seconds of all processes under this one, those that ended and were waited for included."""
    stats: dict[int, tuple[int, int]] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:  # ended meanwhile
            continue
        stats[int(path.parent.name)] = int(fields[1]), sum(map(int, fields[11:15]))
    family = {os.getpid()}
    while new := {pid for pid, (parent, _) in stats.items() if parent in family} - family:
        family |= new
    ticks = sum(stats[pid][1] for pid in family - {os.getpid()})
    return ticks / os.sysconf("SC_CLK_TCK")


def plan_of(options: argparse.Namespace, base_url: str) -> tuple[Registry, RunPlan]:
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
    return registry, RunPlan(work={row.id: work_for(registry, row, [choose(entry, suite, profile)])})


async def ask(
    options: argparse.Namespace, base_url: str, folder: Path, *, execute: bool
) -> tuple[Measured, list[UnitRecord]]:
    """One whole run of the runner; `execute` says whether programs are executed or taken for right."""
    registry, plan = plan_of(options, base_url)
    progress = _Silent()
    measured = Measured()
    async with AsyncExitStack() as stack:
        grader: Grader = FakeGrader()
        if execute:
            grader = await _grader(stack, options.jobs)
        replies = stack.enter_context(ReplyCache(folder / "replies.sqlite"))
        opener = ModelOpener(registry, replies, folder, progress.say)
        runner = Runner(
            ResultsFolder(folder / "results"),
            grader,
            opener,
            cast(ConsoleProgress, cast(Any, progress)),
            "standard",
        )
        with measured.clock():
            await runner.run(plan)
    return measured, progress.records


async def execute(programs: int, at_once: int, jobs: int | None) -> Measured:
    """Grades so many different right programs, as many of them waiting as the runner has units at work."""
    measured = Measured()
    async with AsyncExitStack() as stack:
        grader = await _grader(stack, jobs)
        numbers = iter(range(programs))

        async def some() -> None:
            for number in numbers:
                await grader.grade(f"{ADD.reference}# {number}\n", ADD)

        with measured.clock():
            async with asyncio.TaskGroup() as group:
                for _ in range(at_once):
                    group.create_task(some())
    return measured


async def _grader(stack: AsyncExitStack, jobs: int | None) -> ProgramGrader:
    """With its answer key made and its sandbox warm."""
    grader = ProgramGrader(await stack.enter_async_context(open_sandbox(jobs=jobs)))
    await grader.grade(ADD.reference, ADD)
    return grader


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tasks", type=int, default=378)
    parser.add_argument("--loops", type=int, default=10)
    parser.add_argument("--latency", type=float, default=0.05)
    parser.add_argument("--slots", type=int, default=64)
    parser.add_argument("--jobs", type=int, help="places in the sandbox; by default its own number")
    parser.add_argument("--same-program", action="store_true")
    options = parser.parse_args()
    script = f"loop_scripts:{'same_program' if options.same_program else 'new_programs'}"
    runs: list[tuple[Measured, list[UnitRecord]]] = []
    for execute_too in (False, True):
        with (
            tempfile.TemporaryDirectory() as folder,
            fixed_server(options.latency, script) as base_url,
        ):
            runs.append(asyncio.run(ask(options, base_url, Path(folder), execute=execute_too)))
    programs = options.tasks * (1 if options.same_program else options.loops)
    executing = asyncio.run(execute(programs, options.slots * UNITS_PER_SLOT, options.jobs))
    report(options, runs[0][0], executing, *runs[1], programs)


def report(
    options: argparse.Namespace,
    asking: Measured,
    executing: Measured,
    both: Measured,
    records: list[UnitRecord],
    programs: int,
) -> None:
    requests = sum(record.usage.requests for record in records)
    cores = len(os.sched_getaffinity(0))
    ideal = requests * options.latency / options.slots
    cpu = asking.cpu + executing.cpu
    least = max(ideal, cpu / cores)
    runner, server = (1000 * seconds / requests for seconds in (asking.own_cpu, asking.children_cpu))
    grading, ours = (1000 * seconds / programs for seconds in (executing.cpu, executing.own_cpu))
    print(f"{len(records)} tasks, {requests} requests, {programs} programs; {cores} cores")
    print(
        f"CPU time needed     {cpu:7.2f} s: {asking.own_cpu:.2f} s asking, {executing.cpu:.2f} s executing,"
        f" {asking.children_cpu:.2f} s the server; {cpu / cores:.2f} s on {cores} cores"
    )
    print(f"the server at best  {ideal:7.2f} s")
    print(
        f"asking alone        {asking.seconds:7.2f} s, {ideal / asking.seconds:.1%} of the server's best;"
        f" CPU a request: {runner:.2f} ms in the runner, {server:.2f} ms in the server"
    )
    print(
        f"executing alone     {executing.seconds:7.2f} s;"
        f" CPU a program: {grading:.2f} ms, {ours:.2f} ms of it in the runner"
    )
    print(f"both                {both.seconds:7.2f} s, {ideal / both.seconds:.1%} of the server's best")
    print(
        f"possible here       {least:7.2f} s, for {'CPU time' if least > ideal else 'the server'}:"
        f" {least / both.seconds:.1%} of it is opened; {both.cpu:.2f} s of CPU time were used"
    )


if __name__ == "__main__":
    main()
