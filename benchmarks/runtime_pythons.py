"""What changes with the Python that programs run in: answer keys, tests as code, CRUXEval, questions' truths.

    python3.11 benchmarks/runtime_pythons.py --data FOLDER --write FOLDER_311
    python3.12 benchmarks/runtime_pythons.py --data FOLDER --write FOLDER_312 [--suites evolved/mbpp-plus,…]
    python3.11 benchmarks/runtime_pythons.py --compare FOLDER_311 FOLDER_312

Each Python needs this package (`pip install .`; for DREval's programs `pip install '.[official]'`). The
references of every suite in Python are graded, and a file a suite says of each task how its reference
ended: outcome, score, first failing index. Of a function also what it returned on each input, which is the
answer key: once bit by bit, once with floats to nine digits and sets in order. Of runtime suites it holds the
truth of each question. `--keys` names a folder of answer keys to use and add to (`keys` of the cache).

docs/running.md has what differs. Left out: pairs of HumanEval's functions (combine_naive: 1,074 pairs of
functions that are graded one by one) and variants, which have the same references.
"""

import argparse
import asyncio
import hashlib
import json
import tempfile
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Final

from triathlon_runner.catalogue import BUILT_IN
from triathlon_runner.concurrency import run_all
from triathlon_runner.datasets import DataStore, FunctionProblem, TestedProblem, official
from triathlon_runner.grading import ProgramGrader, UngradableError
from triathlon_runner.grading._answer_keys import MAX_EXAMINED_BYTES, AnswerKey, answer_key
from triathlon_runner.memo import python_version
from triathlon_runner.runtime._catalogue import question_source
from triathlon_runner.runtime._construct import construct
from triathlon_runner.runtime._outputs import grade_prediction
from triathlon_runner.runtime._programs import Side
from triathlon_runner.runtime._questions import ProgramQuestions
from triathlon_runner.sandbox import Sandbox, Tagged, open_sandbox
from triathlon_runner.suites import Programs

Found = dict[str, Any]
"""What one task showed."""
KINDS: Final = {"coverage": "executed", "state": "states", "path": "next_lines"}
_DIGITS: Final = 9
_AT_ONCE: Final = 4


class Executor:
    """Executes the references of suites under this Python."""

    def __init__(self, sandbox: Sandbox, store: DataStore, keys: Path) -> None:
        """Answer keys are taken from, and put into, the folder `keys`."""
        self.sandbox, self.store = sandbox, store
        self.keys, self.grader = keys, ProgramGrader(sandbox, keys)

    async def functions(self, problems: Iterable[FunctionProblem]) -> dict[str, Found]:
        """How the references of functions end; of those without tests as code also what they return."""
        return await _by_task(problems, self._function)

    async def _function(self, problem: FunctionProblem) -> Found:
        found: Found = {}
        try:
            if not isinstance(problem, TestedProblem):
                found = outputs_of(await answer_key(self.sandbox, self.keys, problem), len(problem.inputs))
            verdict = await self.grader.grade(problem.reference, problem)
        except UngradableError as error:
            return {"outcome": "not gradable", "why": str(error)}
        index = verdict.failing.index if verdict.failing else None
        return found | {
            "outcome": verdict.outcome,
            "passed": verdict.passed,
            "index": index,
            "why": verdict.detail,
        }

    async def cruxeval(self, asked: Side) -> dict[str, Found]:
        """Whether CRUXEval's own values are right answers."""

        async def check(task: official.CruxevalTask) -> Found:
            answer = f"assert f({task.input}) == {task.output}"
            graded = await grade_prediction(self.sandbox, task, asked, answer)
            return {"outcome": graded.outcome, "why": graded.why}

        return await _by_task(official.cruxeval(self.store), check)

    async def questions(self, programs: Sequence[ProgramQuestions]) -> dict[str, Found]:
        """What is right about each question (program, input, line, variable), by kind of question."""
        built, _ = await construct(programs, self.sandbox)
        return {
            f"{program.task_id} input {asked.index} line {statement.line} {statement.variable}": {
                kind: statement.model_dump(mode="json")[name] for kind, name in KINDS.items()
            }
            for program in built
            for asked in program.inputs
            for statement in asked.statements
        }

    async def suite(self, suite_id: str) -> dict[str, Found]:
        """What the tasks of one suite show."""
        if suite_id.startswith("runtime/cruxeval-"):
            return await self.cruxeval("output" if suite_id.endswith("output") else "input")
        if suite_id.startswith("runtime/"):
            source = question_source(suite_id.removeprefix("runtime/"), self.store)
            return await self.questions(list(source.programs()))
        entry = BUILT_IN.find(suite_id)
        suite = entry.build(self.store) if entry is not None else None
        if not isinstance(suite, Programs):
            raise SystemExit(f"expected a suite of functions in Python, got {suite_id!r}")
        return await self.functions(suite.functions())


async def _by_task(tasks: Iterable[Any], examine: Callable[[Any], Awaitable[Found]]) -> dict[str, Found]:
    limit = asyncio.Semaphore(_AT_ONCE)

    async def one(task: Any) -> tuple[str, Found]:
        async with limit:
            return task.task_id, await examine(task)

    return dict(await run_all(map(one, tasks)))


def outputs_of(key: AnswerKey, count: int) -> Found:
    """Hashes of what a reference returned, bit by bit and rounded; a long output is rounded nowhere."""
    exact, rounded = [], []
    for index in range(count):
        encoded = key.encoded(index)
        exact.append(_hash(encoded))
        short = key.length(index) <= MAX_EXAMINED_BYTES
        rounded.append(_hash(_rounded(key.expected(index)).encode()) if short else exact[-1])
    return {"outputs": exact, "rounded": rounded}


def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:12]


def _rounded(value: Any) -> str:
    """A value as text, with floats to nine digits and sets in order."""
    match value:
        case float():
            text = f"{value:.{_DIGITS}g}"
        case complex():
            text = f"complex({_rounded(value.real)}, {_rounded(value.imag)})"
        case list() | tuple():
            text = f"{type(value).__name__}({', '.join(map(_rounded, value))})"
        case set() | frozenset():
            text = f"{type(value).__name__}({', '.join(sorted(map(_rounded, value)))})"
        case dict():
            text = f"dict({', '.join(f'{_rounded(key)}: {_rounded(value[key])}' for key in value)})"
        case Tagged():
            text = f"{value.type} {_rounded(value.value)}"
        case int():
            text = f"{type(value).__name__} {value:x}"  # in decimal Python refuses long ones
        case _:
            text = repr(value)
    return text


def all_suites() -> list[str]:
    """The suites whose references run in Python, but for variants and the pairs of HumanEval."""
    plain = [entry.id for entry in BUILT_IN.entries() if entry.variant_of is None]
    left_out = "evolved/combine_naive"
    return [
        each for each in plain if each.startswith(("loop/core", "evolved/", "runtime/")) and each != left_out
    ]


async def write(options: argparse.Namespace) -> None:
    """Writes a file a suite."""
    options.write.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as cache:
        store = DataStore(cache=Path(cache), folder=options.data, fetch=False)
        async with open_sandbox(jobs=options.jobs) as sandbox:
            executor = Executor(sandbox, store, options.keys or Path(cache) / "keys")
            for suite_id in options.suites.split(",") if options.suites else all_suites():
                began = time.monotonic()
                tasks = await executor.suite(suite_id)
                content = {"python": python_version(), "suite": suite_id, "tasks": tasks}
                file = options.write / f"{suite_id.replace('/', ' ')}.json"
                file.write_text(json.dumps(content), "utf-8")
                print(f"{suite_id}: {len(tasks)} in {time.monotonic() - began:.0f} s", flush=True)


def compare(first: Path, second: Path) -> None:
    """Prints what differs between two folders, suite by suite."""
    for file in sorted(first.glob("*.json")):
        if not (second / file.name).is_file():
            print(f"{file.stem}: only in {str(first)!r}")
            continue
        ours, theirs = (json.loads((folder / file.name).read_text("utf-8")) for folder in (first, second))
        before, after = ours["tasks"], theirs["tasks"]
        differing: Counter[str] = Counter()
        for name in sorted(before.keys() | after.keys()):
            kinds = _differences(before.get(name), after.get(name))
            differing.update(kind for kind, _ in kinds)
            for kind, what in kinds:
                print(f"  {name}: {kind}{what}")
        counts = ", ".join(f"{number} {kind}" for kind, number in differing.items()) or "nothing"
        pythons = f"Python {ours['python']} and {theirs['python']}"
        print(f"{ours['suite']}: {pythons}, {len(before)} references or questions; differ: {counts}")


def _differences(before: Found | None, after: Found | None) -> list[tuple[str, str]]:
    """The kinds of difference of one task, each with what differs."""
    if before is None or after is None:
        return [("only under one of them", "; is a library missing under the other?")]
    kinds = [(kind, "") for kind in KINDS if before.get(kind) != after.get(kind)]
    verdicts = [
        {name: found.get(name) for name in ("outcome", "passed", "index")} for found in (before, after)
    ]
    if verdicts[0] != verdicts[1]:
        kinds.append(("outcome", f" {verdicts[0]} and {verdicts[1]}"))
    elif before.get("why") != after.get("why"):
        kinds.append(("wording", f" {before.get('why')!r} and {after.get('why')!r}"))
    exact, rounded = (_places(before.get(name, ()), after.get(name, ())) for name in ("outputs", "rounded"))
    beyond = sorted(set(exact) & set(rounded))
    if exact:
        kind, inputs = ("output", beyond) if beyond else ("rounding or order", exact)
        kinds.append((kind, f" on inputs {inputs[:10]}, {len(inputs)} of {len(before['outputs'])}"))
    return kinds


def _places(before: Sequence[str], after: Sequence[str]) -> list[int]:
    return [index for index, pair in enumerate(zip(before, after, strict=True)) if pair[0] != pair[1]]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, help="folder with the official data files")
    parser.add_argument("--write", type=Path, help="folder for what this Python gives")
    parser.add_argument("--suites", help="ids, separated by commas; all where left out")
    parser.add_argument("--jobs", type=int, help="programs at once; as many as cores where left out")
    parser.add_argument("--keys", type=Path, help="folder of answer keys")
    parser.add_argument("--compare", type=Path, nargs=2, help="two such folders")
    options = parser.parse_args()
    if options.compare:
        compare(*options.compare)
    elif options.data and options.write:
        asyncio.run(write(options))
    else:
        parser.error("expected --data with --write, or --compare")


if __name__ == "__main__":
    main()
