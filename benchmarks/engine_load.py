"""Whether verdicts depend on load: the same programs on an idle machine and beside busy processes.

    python benchmarks/engine_load.py [--busy 8] [--level auto]

The programs compute for a known share of their CPU limit, some within it and some beyond. Exit code 1 where a
verdict differs.
"""

import argparse
import asyncio
import multiprocessing
import sys
import time

from triathlon_runner.datasets import Problem
from triathlon_runner.grading import ProgramGrader
from triathlon_runner.sandbox import open_sandbox

LIMIT = 1.0
"""CPU seconds that the programs are given."""
SHARES = (0.05, 0.2, 0.4, 0.6, 3.0)
"""Of the limit: what a program computes, by its own CPU clock. The last one has to time out."""
PROBLEM = Problem("load/0", "f", "", "def f(x):\n    return x\n", ("(1,)",))
PROGRAM = "import time\ndef f(x):\n    while time.process_time() < {seconds}:\n        pass\n    return x\n"


def spin() -> None:
    """Keeps a core busy."""
    while True:
        pass


async def verdicts(level: str, rounds: int) -> list[str]:
    """The outcomes of all programs, in order."""
    async with open_sandbox(level) as sandbox:
        grader = ProgramGrader(sandbox, min_cpu_seconds=LIMIT)
        programs = [PROGRAM.format(seconds=share * LIMIT) for share in SHARES] * rounds
        graded = await asyncio.gather(*(grader.grade(program, PROBLEM) for program in programs))
    return [str(verdict.outcome) for verdict in graded]


def timed(level: str, rounds: int) -> list[str]:
    start = time.monotonic()
    outcomes = asyncio.run(verdicts(level, rounds))
    counts = {outcome: outcomes.count(outcome) for outcome in sorted(set(outcomes))}
    print(f"  {counts} in {time.monotonic() - start:.0f} s", flush=True)
    return outcomes


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--busy", type=int, default=8, help="busy processes beside the second run")
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--level", default="auto")
    options = parser.parse_args()
    print("without load of our own:")
    alone = timed(options.level, options.rounds)
    context = multiprocessing.get_context("spawn")
    spinners = [context.Process(target=spin, daemon=True) for _ in range(options.busy)]
    for spinner in spinners:
        spinner.start()
    print(f"beside {options.busy} busy processes:")
    try:
        beside = timed(options.level, options.rounds)
    finally:
        for spinner in spinners:
            spinner.kill()
    flipped = sum(left != right for left, right in zip(alone, beside, strict=True))
    print(f"{flipped} of {len(alone)} verdicts differ")
    sys.exit(1 if flipped else 0)


if __name__ == "__main__":
    main()
