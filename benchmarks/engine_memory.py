"""Whether the engine stays flat: memory, descriptors and processes over many checks.

    python benchmarks/engine_memory.py [--checks 100000] [--level auto] [--jobs 2]

Prints a line at every tenth; exit code 1 where anything grew after the first tenth, or a zombie is left.
"""

import argparse
import asyncio
import os
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from triathlon_runner.datasets import Problem
from triathlon_runner.grading import ProgramGrader
from triathlon_runner.sandbox import open_sandbox

PROBLEM = Problem("memory/0", "f", "", "def f(x):\n    return [x] * 10\n", ("(1,)", "(2,)", "(3,)"))
PROGRAMS = (
    PROBLEM.reference,
    "def f(x):\n    return [x] * 9\n",
    "def f(x):\n    raise ValueError(x)\n",
    "def f(x:\n",
    "import os\nos._exit(0)\n",
)
"""Passing, failing, raising, not loading and dying programs, in turn."""
GROWTH_KIB = 8192
"""Resident memory that may be added after the first tenth: an allocator's noise."""


@dataclass(frozen=True)
class State:
    """What could leak."""

    resident_kib: int
    servers_kib: int
    descriptors: int
    processes: int
    zombies: int


def state() -> State:
    """Of this process and all that it started."""
    children = list(descendants())
    return State(
        resident_kib=resident(os.getpid()),
        servers_kib=sum(resident(pid) for pid, _ in children),
        descriptors=len(list(Path("/proc/self/fd").iterdir())),
        processes=len(children),
        zombies=sum(kind == "Z" for _, kind in children),
    )


def descendants() -> Iterator[tuple[int, str]]:
    """Pid and state letter of every process under this one."""
    parents: dict[int, tuple[int, str]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                kind, parent = (entry / "stat").read_text().rpartition(")")[2].split()[:2]
            except OSError:
                continue
            parents[int(entry.name)] = int(parent), kind
    for pid, (above, kind) in parents.items():
        ancestor = above
        while ancestor > 1 and ancestor != os.getpid():
            ancestor, _ = parents.get(ancestor, (0, ""))
        if ancestor == os.getpid():
            yield pid, kind


def resident(pid: int) -> int:
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("VmRSS:")), 0)


async def measure(checks: int, level: str, jobs: int) -> bool:
    """Runs the checks; True where nothing grew."""
    async with open_sandbox(level, jobs) as sandbox:
        grader = ProgramGrader(sandbox)
        states = []
        start = time.monotonic()
        for tenth in range(1, 11):
            waiting = iter(range(checks // 10))

            async def grade_some(waiting: Iterator[int] = waiting) -> None:
                for number in waiting:
                    await grader.grade(PROGRAMS[number % len(PROGRAMS)], PROBLEM)

            await asyncio.gather(*(grade_some() for _ in range(jobs)))
            states.append(state())
            rate = checks * tenth / 10 / (time.monotonic() - start)
            print(f"{checks * tenth // 10:8} checks {rate:6.0f} /s {states[-1]}", flush=True)
    first, last = states[0], states[-1]
    return (
        last.resident_kib - first.resident_kib < GROWTH_KIB
        and last.servers_kib - first.servers_kib < GROWTH_KIB
        and last.descriptors <= first.descriptors
        and last.processes <= first.processes
        and last.zombies == 0
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--checks", type=int, default=100_000)
    parser.add_argument("--level", default="auto")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    options = parser.parse_args()
    sys.exit(0 if asyncio.run(measure(options.checks, options.level, options.jobs)) else 1)


if __name__ == "__main__":
    main()
