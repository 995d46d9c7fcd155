"""Whether recorded EvoEval solutions get their official verdicts here: every program is executed once more.

    python benchmarks/recorded_evolved.py --data FOLDER --recorded FOLDER [--models a,b] [--verdicts FILE]

FOLDER of --recorded holds one `evolved-<model>.jsonl.gz` a model: its greedy solutions of HumanEval and of
EvoEval's seven sets, each with EvoEval's verdict, those of HumanEval with EvalPlus' on the added inputs too.
A line a model and set says how many verdicts are equal; below it come the differences. Exit code 1 where one
is not in `recorded_evolved.csv` beside this file, which lists them with their causes:

- time there: the program is right and passes here. An input takes 3 to 7 s of CPU time here, on a busy
  machine; EvoEval's checker gives an input 1 s, or four times what the reference takes on it. Here all inputs
  together have 10 s, or four times the reference's time.
- time here: no input takes more than 0.7 s, but all of them together more than 10 s.
- inputs there: right programs fail on HumanEval+'s added inputs there (HumanEval/55, 114, 147). All inputs of
  version 0.1.10, which are executed here, they pass in less than 2 s together. Which version the recordings
  were made with is not known.
"""

import argparse
import asyncio
import csv
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import platformdirs

from triathlon_runner import catalogue
from triathlon_runner.datasets import DataStore
from triathlon_runner.grading import ProgramGrader
from triathlon_runner.imports import CachingGrader
from triathlon_runner.imports._foreign import ForeignSample
from triathlon_runner.imports._readers import read_evalplus
from triathlon_runner.records import Outcome
from triathlon_runner.sandbox import open_sandbox
from triathlon_runner.schedule import PROFILES, build_suite
from triathlon_runner.suites import Programs

SETS = ("humaneval", "difficult", "creative", "subtle", "combine", "tool_use", "verbose", "concise")
PLUS = "humaneval-plus"
"""HumanEval's solutions on EvalPlus' inputs: a verdict of its own."""
TABLE = Path(__file__).with_suffix(".csv")
_AT_ONCE = 8


@dataclass(frozen=True, slots=True)
class Difference:
    """A solution whose verdict is another here."""

    model: str
    suite: str
    task_id: str
    here: str
    """The outcome here, and what the verdict says of it."""


def solutions(path: Path, name: str) -> Sequence[tuple[ForeignSample, bool]]:
    """The programs of one set with the official verdicts on it."""
    subset = "humaneval" if name == PLUS else name
    programs = []
    for row in read_evalplus(path):
        if (
            isinstance(row, ForeignSample)
            and row.is_program
            and row.subset.removeprefix("EvoEval_") == subset
        ):
            official = row.theirs.plus if name == PLUS else row.theirs.base
            if official is not None:
                programs.append((row, official))
    return programs


async def differences(
    path: Path, name: str, suite: Programs, grader: CachingGrader
) -> tuple[int, list[Difference]]:
    """How many verdicts of one model and set are compared, and those that are others here."""
    problems = {problem.task_id: problem for problem in suite.functions()}
    limit = asyncio.Semaphore(_AT_ONCE)

    async def compare(row: ForeignSample, official: bool) -> Difference | None:
        async with limit:
            verdict = await grader.grade(row.text, problems[row.task_id], inputs=suite.inputs)
        if (verdict.outcome is Outcome.PASSED) == official:
            return None
        failing = verdict.failing
        where = f" on input {failing.index}: {failing.got[:120]}" if failing else ""
        return Difference(
            model_of(path), name, row.task_id, f"{verdict.outcome}{where} {verdict.detail[:120]}"
        )

    rows = solutions(path, name)
    compared = await asyncio.gather(*(compare(row, official) for row, official in rows))
    return len(rows), [difference for difference in compared if difference]


def model_of(path: Path) -> str:
    return path.name.removeprefix("evolved-").removesuffix(".jsonl.gz")


def known_differences() -> frozenset[tuple[str, str, str]]:
    """Model, set and task of each difference whose cause is listed."""
    with TABLE.open(encoding="utf-8", newline="") as file:
        return frozenset((row["model"], row["set"], row["task"]) for row in csv.DictReader(file))


async def measure(options: argparse.Namespace) -> bool:
    """Grades the chosen recordings and prints what came out; whether every difference is a known one."""
    known = known_differences()
    chosen = options.models.split(",") if options.models else None
    paths = sorted(options.recorded.glob("evolved-*.jsonl.gz"))
    paths = [path for path in paths if chosen is None or model_of(path) in chosen]
    compared = different = unknown = 0
    async with open_sandbox(jobs=options.jobs) as sandbox:
        grader = ProgramGrader(sandbox, options.keys)
        store = DataStore(Path(platformdirs.user_cache_dir("triathlon")), options.data, fetch=False)
        caching = CachingGrader(grader, options.verdicts)
        for name in options.sets.split(",") if options.sets else (*SETS, PLUS):
            (entry,) = catalogue.select([f"evolved/{name}"])
            suite = (await build_suite(entry, store, grader, PROFILES["standard"])).suite
            assert isinstance(suite, Programs)
            for path in paths:
                count, differing = await differences(path, name, suite, caching)
                compared, different = compared + count, different + len(differing)
                print(f"{model_of(path)}, {name}: {count - len(differing)} of {count}", flush=True)
                for difference in differing:
                    is_known = (difference.model, difference.suite, difference.task_id) in known
                    unknown += not is_known
                    mark = "" if is_known else " (NOT LISTED)"
                    print(f"    {difference.task_id} here {difference.here}{mark}", flush=True)
    share = 1 - different / compared
    print(f"\n{compared - different} of {compared} verdicts are equal: {share:.2%}; {unknown} not listed")
    return not unknown


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True, help="folder with the official data files")
    parser.add_argument("--recorded", type=Path, required=True, help="folder of the recordings")
    parser.add_argument("--models", help="comma-separated; all where left out")
    parser.add_argument(
        "--sets", help="comma-separated, such as difficult,humaneval-plus; all where left out"
    )
    parser.add_argument("--keys", type=Path, help="folder to keep answer keys in")
    parser.add_argument("--verdicts", type=Path, help="file to keep verdicts in, for the next call")
    parser.add_argument("--jobs", type=int, help="programs at once; as many as cores where left out")
    sys.exit(0 if asyncio.run(measure(parser.parse_args())) else 1)


if __name__ == "__main__":
    main()
