"""Whether verdicts are the official ones: every reference on all inputs, and recorded solutions.

    python benchmarks/engine_fidelity.py --data FOLDER [--recorded FILE.jsonl.gz] [--sets humaneval,mbpp]

A recorded line has `subset`, `task_id`, `solution` and `published` with `base_status` and `plus_status`.
Exit code 1 where a reference does not pass.
"""

import argparse
import asyncio
import gzip
import json
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from triathlon_runner.cache import cache_folder
from triathlon_runner.datasets import DataStore, Problem
from triathlon_runner.datasets.official import (
    EVOEVAL_SETS,
    evoeval,
    graded_typed,
    humaneval_plus,
    mbpp_plus,
)
from triathlon_runner.grading import ProgramGrader
from triathlon_runner.records import Outcome, Verdict
from triathlon_runner.sandbox import SandboxError, open_sandbox


@dataclass(frozen=True)
class DataSet:
    """One set of problems, and the name that recorded solutions call it by."""

    name: str
    recorded_as: str
    load: Callable[[DataStore], Sequence[Problem]]


DATA_SETS = (
    DataSet("humaneval", "humaneval", lambda store: [graded_typed(task) for task in humaneval_plus(store)]),
    DataSet("mbpp", "mbpp", mbpp_plus),
    *(DataSet(name, f"EvoEval_{name}", partial(evoeval, name=name)) for name in EVOEVAL_SETS),
)


async def references(grader: ProgramGrader, problems: Sequence[Problem]) -> list[str]:
    """Grades every reference on all inputs; what went wrong, in words."""

    async def grade_reference(problem: Problem) -> str:
        try:
            verdict = await grader.grade(problem.reference, problem)
        except SandboxError as error:
            return str(error)
        return "" if verdict.outcome is Outcome.PASSED else f"{problem.task_id}: {brief(verdict)}"

    return [fault for fault in await asyncio.gather(*map(grade_reference, problems)) if fault]


async def recorded(
    grader: ProgramGrader, problems: Sequence[Problem], rows: Sequence[dict[str, Any]]
) -> list[str]:
    """Grades the recorded solutions; where our verdict differs from the official one, in words."""
    by_id = {problem.task_id: problem for problem in problems}

    async def grade_solution(row: dict[str, Any]) -> str:
        problem, published = by_id[row["task_id"]], row["published"]
        faults = []
        for inputs, status in (("base", published["base_status"]), ("all", published["plus_status"])):
            if status is None or (inputs == "all" and published["base_status"] != "pass"):
                continue
            verdict = await grader.grade(row["solution"], problem, inputs=inputs)  # type: ignore[arg-type]
            if (verdict.outcome is Outcome.PASSED) != (status == "pass"):
                faults.append(f"{problem.task_id} {inputs}: officially {status}, here {brief(verdict)}")
        return "; ".join(faults)

    return [fault for fault in await asyncio.gather(*map(grade_solution, rows)) if fault]


def brief(verdict: Verdict) -> str:
    """A verdict in a line."""
    case = verdict.failing
    shown = (
        f" input {case.input[:80]!r} expected {case.expected[:80]!r} got {case.got[:80]!r}" if case else ""
    )
    return f"{verdict.outcome} after {verdict.passed} of {verdict.total}{shown} {verdict.detail[:80]}"


async def measure(options: argparse.Namespace) -> int:
    """All chosen sets; the number of references that do not pass."""
    store = DataStore(cache_folder() / "data", options.data, fetch=False)
    rows = read_rows(options.recorded)
    bad = 0
    async with open_sandbox(options.level) as sandbox:
        grader = ProgramGrader(sandbox, options.keys)
        for chosen in DATA_SETS:
            if options.sets and chosen.name not in options.sets.split(","):
                continue
            start = time.monotonic()
            problems = chosen.load(store)
            faults = await references(grader, problems)
            bad += len(faults)
            report(f"{chosen.name} references", len(problems), faults, time.monotonic() - start)
            mine = [row for row in rows if row["subset"] == chosen.recorded_as]
            if mine:
                differences = await recorded(grader, problems, mine)
                report(f"{chosen.name} recorded", len(mine), differences, time.monotonic() - start)
    return bad


def report(what: str, count: int, faults: Sequence[str], seconds: float) -> None:
    print(f"{what}: {count - len(faults)} of {count} ({seconds:.0f} s)", flush=True)
    for fault in faults:
        print(f"    {fault}", flush=True)


def read_rows(path: Path | None) -> list[dict[str, Any]]:
    if path is None:
        return []
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True, help="folder with the official data files")
    parser.add_argument("--recorded", type=Path, help="recorded solutions with official verdicts")
    parser.add_argument("--sets", help="comma-separated; all where left out")
    parser.add_argument("--keys", type=Path, help="folder to keep answer keys in")
    parser.add_argument("--level", default="auto")
    sys.exit(1 if asyncio.run(measure(parser.parse_args())) else 0)


if __name__ == "__main__":
    main()
