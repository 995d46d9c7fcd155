"""Whether recorded answers to CRUXEval are graded here as its authors graded them.

    python benchmarks/recorded_cruxeval.py --data FOLDER --recorded FOLDER [--files a,b]

FOLDER of --recorded holds files `<model>_temp0.2_<output|input>.json.gz`, as CRUXEval's site has them
(`raw_generations` and `raw_scored_generations` by task). A line a file says how many answers have the same
verdict; below it come the differences: the task, how often, and what our grading says. Exit code 1 where
fewer than 99.9 % of a file's answers are equal.

CRUXEval's own harness does not execute an answer to an input question without `f(` and one to an output
question that holds the question's own call: it counts them as failed. An earlier version, which made three of
the files, left them out of a task's list of verdicts where another answer passes; they count as failed here,
too.
"""

import argparse
import asyncio
import gzip
import json
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import platformdirs

from triathlon_runner.datasets import DataStore, official
from triathlon_runner.runtime.prediction import Asked, grade_prediction
from triathlon_runner.sandbox import Sandbox, open_sandbox

PER_FILE = 0.999
_AT_ONCE = 8


@dataclass(frozen=True, slots=True)
class Recorded:
    """One answer and whether it passed there."""

    task_id: str
    answer: str
    passed: bool


def recorded_answers(
    path: Path, asked: Asked, tasks: Mapping[str, official.CruxevalTask]
) -> Iterator[Recorded]:
    """The answers of a file with their verdicts."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        content: dict[str, Any] = json.load(file)
    for task_id, answers in content["raw_generations"].items():
        verdicts = _with_places(content["raw_scored_generations"][task_id], answers, asked, tasks[task_id])
        for answer, passed in zip(answers, verdicts, strict=True):
            yield Recorded(task_id, answer, passed)


def _with_places(
    verdicts: Sequence[bool], answers: Sequence[str], asked: Asked, task: official.CruxevalTask
) -> Sequence[bool]:
    """The verdicts with a failure for each answer that the harness passed over."""
    if len(verdicts) == len(answers):
        return verdicts
    rest = iter(verdicts)
    return [False if _passed_over(answer, asked, task) else next(rest) for answer in answers]


def _passed_over(answer: str, asked: Asked, task: official.CruxevalTask) -> bool:
    return f"f({task.input})" in answer if asked == "output" else "f(" not in answer


async def differences(
    answers: Sequence[Recorded], asked: Asked, tasks: Mapping[str, official.CruxevalTask], sandbox: Sandbox
) -> Counter[tuple[str, bool, str]]:
    """How many answers are graded otherwise, by task, verdict there and our reason."""
    limit = asyncio.Semaphore(_AT_ONCE)

    async def ours(task_id: str, answer: str) -> tuple[bool, str]:
        async with limit:
            graded = await grade_prediction(sandbox, tasks[task_id], asked, answer)
        return graded.correct, f"{graded.outcome}: {graded.why[:120]}"

    different = list(dict.fromkeys((answer.task_id, answer.answer) for answer in answers))
    graded = dict(zip(different, await asyncio.gather(*(ours(*pair) for pair in different)), strict=True))
    differing: Counter[tuple[str, bool, str]] = Counter()
    for answer in answers:
        correct, why = graded[answer.task_id, answer.answer]
        if correct != answer.passed:
            differing[answer.task_id, answer.passed, why] += 1
    return differing


async def measure(options: argparse.Namespace) -> bool:
    """Grades the chosen files and prints what came out; whether enough is equal."""
    chosen = options.files.split(",") if options.files else None
    paths = [path for path in sorted(options.recorded.glob("*put.json.gz")) if _is_chosen(path, chosen)]
    store = DataStore(Path(platformdirs.user_cache_dir("triathlon")), options.data, fetch=False)
    tasks = {task.task_id: task for task in official.cruxeval(store)}
    enough = bool(paths)
    async with open_sandbox(jobs=options.jobs) as sandbox:
        for path in paths:
            asked: Asked = "output" if path.name.endswith("_output.json.gz") else "input"
            answers = list(recorded_answers(path, asked, tasks))
            differing = await differences(answers, asked, tasks, sandbox)
            equal = len(answers) - differing.total()
            print(
                f"{_name(path)}: {equal} of {len(answers)} ({100 * equal / len(answers):.3f} %)", flush=True
            )
            for (task_id, passed, why), count in differing.most_common():
                there = "passed" if passed else "failed"
                print(f"    {task_id}: {count} × {there} there; here {why}", flush=True)
            enough = enough and equal / len(answers) >= PER_FILE
    return enough


def _name(path: Path) -> str:
    return path.name.removesuffix(".json.gz")


def _is_chosen(path: Path, chosen: Sequence[str] | None) -> bool:
    return chosen is None or _name(path) in chosen


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True, help="folder with the official data files")
    parser.add_argument("--recorded", type=Path, required=True, help="folder of the recordings")
    parser.add_argument("--files", help="comma-separated names without .json.gz; all where left out")
    parser.add_argument("--jobs", type=int, help="programs at once; as many as cores where left out")
    sys.exit(0 if asyncio.run(measure(parser.parse_args())) else 1)


if __name__ == "__main__":
    main()
