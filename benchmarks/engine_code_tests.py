"""How many references pass tests that are code, run in another process than the program and in the same one.

    python benchmarks/engine_code_tests.py --data FOLDER [--sets mbpp,python,php,ruby,javascript,classeval]

`mbpp` are MBPP+'s references with its assert scripts; languages are MBXP's own references. A reference that
passes in its tests' process only is lost by the relay; one that passes neither way is wrong. The same
process counts only where the text was executed to its end: after a program in PHP that ends in `?>` the
tests are mere output.
"""

import argparse
import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from triathlon_runner.datasets import ClassProblem, DataStore
from triathlon_runner.datasets.official import MBPP_PLUS, mbpp_plus
from triathlon_runner.datasets.official._raw import read_rows
from triathlon_runner.datasets.user import problem_file
from triathlon_runner.grading import TEST_LIMITS, ClassGrader, grade_by_tests
from triathlon_runner.records import Outcome
from triathlon_runner.sandbox import Call, Job, Language, Returned, Sandbox, SandboxError, open_sandbox
from triathlon_runner.translation import joined
from triathlon_runner.translation._task import reference

END = {
    Language.PYTHON: "def triathlon_end():\n    return 1\n",
    Language.PHP: "function triathlon_end() { return 1; }\n",
    Language.RUBY: "def triathlon_end\n  1\nend\n",
    Language.JAVASCRIPT: "function triathlon_end() { return 1; }\n",
    Language.PERL: "sub triathlon_end { return 1; }\n",
}
"""Stands after the tests: it can be called only where they were executed."""
SETS = ("mbpp", *(language.value for language in Language), "classeval")


@dataclass(frozen=True)
class Trial:
    """One reference with its tests."""

    task_id: str
    program: str
    tests: str
    function: str
    language: Language = Language.PYTHON
    libraries: frozenset[str] = frozenset()


def of_mbpp(store: DataStore) -> list[Trial]:
    """MBPP+'s references with its assert scripts, which are the tests of MBPP."""
    scripts = {row["task_id"]: row["assertion"] for row in read_rows(store, MBPP_PLUS)}
    return [
        Trial(
            problem.task_id,
            problem.reference,
            f"import math, sys\n{scripts[problem.task_id]}",  # which two scripts take from the program
            problem.entry_point,
            libraries=problem.libraries,
        )
        for problem in mbpp_plus(store)
    ]


def of_language(store: DataStore, language: Language) -> list[Trial]:
    """MBXP's references of one language; Perl has none."""
    return [
        Trial(str(task.number), program, row.test, task.name(language), language)
        for task in joined(store)
        if (program := reference(row := task.rows[language]))
    ]


async def passes_apart(sandbox: Sandbox, trial: Trial) -> bool:
    verdict = await grade_by_tests(
        sandbox, trial.program, trial.tests, (trial.function,),
        language=trial.language, libraries=trial.libraries,
    )  # fmt: skip
    return verdict.outcome is Outcome.PASSED


async def passes_in_one_process(sandbox: Sandbox, trial: Trial) -> bool:
    """Program and tests as one text, in one process: what the data set's authors did."""
    text = f"{trial.program}\n{trial.tests}\n"
    if trial.language is Language.PYTHON and "def check(" in trial.tests:
        text += f"check({trial.function})\n"
    end = (Call("triathlon_end", ()),)
    job = Job(text + END[trial.language], end, trial.language, limits=TEST_LIMITS, libraries=trial.libraries)
    return (await sandbox.run(job)).results == (Returned(1),)


async def measure(sandbox: Sandbox, name: str, trials: Sequence[Trial]) -> None:
    """Prints one set's figures."""
    start = time.monotonic()
    apart = await asyncio.gather(*(passes_apart(sandbox, trial) for trial in trials))
    failing = [trial for trial, passed in zip(trials, apart, strict=True) if not passed]
    together = await asyncio.gather(*(passes_in_one_process(sandbox, trial) for trial in failing))
    lost = [trial.task_id for trial, passed in zip(failing, together, strict=True) if passed]
    seconds = time.monotonic() - start
    print(
        f"{name}: {sum(apart)} of {len(trials)} pass in another process than their tests, {len(lost)} only "
        f"in the same one {lost}, {len(failing) - len(lost)} neither way ({seconds:.0f} s)",
        flush=True,
    )


async def measure_classes(sandbox: Sandbox, path: Path) -> None:
    """Prints how many of ClassEval's classes can be graded, and why the others can't."""
    grader = ClassGrader(sandbox)
    problems = [problem for problem in problem_file(path) if isinstance(problem, ClassProblem)]

    async def passes(problem: ClassProblem) -> bool:
        try:
            return (await grader.grade(problem.reference, problem)).outcome is Outcome.PASSED
        except SandboxError as error:
            print(f"    {str(error)[:160]}", flush=True)
            return False

    graded = await asyncio.gather(*map(passes, problems))
    print(f"classeval: {sum(graded)} of {len(problems)} classes can be graded", flush=True)


async def run(options: argparse.Namespace) -> None:
    store = DataStore(options.data, options.data, fetch=False)
    async with open_sandbox(options.level) as sandbox:
        for name in options.sets.split(","):
            if name == "classeval":
                await measure_classes(sandbox, options.data / "ClassEval_data.json.gz")
            else:
                trials = of_mbpp(store) if name == "mbpp" else of_language(store, Language(name))
                await measure(sandbox, name, trials)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True, help="folder with the official data files")
    parser.add_argument("--sets", default=",".join(SETS), help="comma-separated")
    parser.add_argument("--level", default="auto")
    asyncio.run(run(parser.parse_args()))


if __name__ == "__main__":
    main()
