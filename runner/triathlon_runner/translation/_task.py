"""The tasks of the translation loop: our own problems, whose values cross to every language as JSON; MBXP's.

At the end: which values cross, and when two of them are the same.
"""

import math
import sys
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, Final

from triathlon_runner.datasets import DataStore, Problem, core, official
from triathlon_runner.datasets.official import MbxpRow
from triathlon_runner.grading import TEST_LIMITS, Fault, grade_by_tests, grade_results, shown
from triathlon_runner.languages import LANGUAGES, LanguageSpec
from triathlon_runner.records import Outcome, Verdict
from triathlon_runner.sandbox import (
    Call,
    Ended,
    Job,
    Language,
    Opaque,
    Raised,
    Returned,
    Sandbox,
    SandboxError,
    Sent,
    Source,
)
from triathlon_runner.syntax import functions_named
from triathlon_runner.translation._languages import definition, opening

_ARGUMENTS = "_triathlon_arguments"
_ECHO = f"\n\ndef {_ARGUMENTS}(*values):\n    return list(values)\n"
"""Inputs are source text, which only a sandbox evaluates."""


@dataclass(frozen=True, slots=True)
class CoreTask:
    """One of our own problems: its cases cross to every language as JSON."""

    task_id: str
    level: int | None
    start: str
    entry_point: str
    parameters: tuple[str, ...]
    cases: tuple[tuple[tuple[Any, ...], Any], ...]
    """(arguments, expected) as plain values."""
    tolerance: float = 0.0

    def name(self, _language: Language) -> str:
        return self.entry_point

    def opening(self, language: Language) -> str:
        return opening(language, self.entry_point, self.parameters)

    async def grade(self, program: str, language: Language, sandbox: Sandbox) -> Verdict:
        """Executes a program with the tests of its language."""
        calls = tuple(Call(self.entry_point, arguments) for arguments, _ in self.cases)
        job = Job(program, calls, language, limits=TEST_LIMITS)

        def fault(index: int, result: Sent | Raised) -> Fault | None:
            if isinstance(result, Raised):
                return Fault(Outcome.CRASHED, str(result))
            expected, got = self.cases[index][1], result.value()
            right = same(expected, got, language, self.tolerance)
            return None if right else Fault(Outcome.FAILED, shown(got))

        def texts(index: int) -> tuple[str, str]:
            arguments, expected = self.cases[index]
            return ", ".join(map(shown, arguments)), shown(expected)

        return await grade_results(sandbox, job, fault, texts)


async def core_tasks(sandbox: Sandbox) -> Sequence[CoreTask]:
    """Every seed that can cross, and whose reference passes on values that went through JSON.

    Some need a tuple, not a list.
    """
    candidates = [await core_task(problem, sandbox) for problem in core.problems("seeds")]
    return [
        task
        for task in candidates
        if task and (await task.grade(task.start, Language.PYTHON, sandbox)).outcome is Outcome.PASSED
    ]


async def core_task(problem: Problem, sandbox: Sandbox) -> CoreTask | None:
    """A problem as a task; None where its values or its comparison do not cross, or its reference raises."""
    parameters = _parameters(problem)
    if problem.comparison.oracle not in ("exact", "close") or parameters is None:
        return None
    calls = tuple(
        Call(function, Source(text))
        for text in problem.inputs
        for function in (_ARGUMENTS, problem.entry_point)
    )
    execution = await sandbox.run(Job(problem.reference + _ECHO, calls, libraries=problem.libraries))
    if execution.ended is not Ended.FINISHED or len(execution.results) != len(calls):
        raise SandboxError(f"the reference of {problem.task_id} could not be executed: {execution.detail}")
    try:
        values = [plain(result.value) for result in execution.results if isinstance(result, Returned)]
    except ValueError:
        return None
    if len(values) != len(calls):
        return None
    return CoreTask(
        task_id=problem.task_id,
        level=problem.level,
        start=problem.reference,
        entry_point=problem.entry_point,
        parameters=parameters,
        cases=tuple(zip(map(tuple, values[::2]), values[1::2], strict=True)),
        tolerance=problem.comparison.tolerance,
    )


def _parameters(problem: Problem) -> tuple[str, ...] | None:
    """The names of the reference's parameters; None where it does not take them all by place."""
    for function in functions_named(problem.reference, problem.entry_point):
        arguments = function.args
        if not (arguments.vararg or arguments.kwarg or arguments.kwonlyargs or arguments.defaults):
            return tuple(argument.arg for argument in [*arguments.posonlyargs, *arguments.args])
    return None


# MBXP: one problem of MBPP in five languages, each with its own tests

WRONG_START: Final = frozenset({56, 64, 160, 349, 607, 631, 899, 966, 967})
"""Tasks whose Python reference fails its own tests, so that there is no correct program to begin with.

Found by `tools/mbxp_check.py`. Four of them are named `check`, as their test is; two
references are indented wrongly; three return what the test does not want.
"""


@dataclass(frozen=True, slots=True)
class MbxpTask:
    """One MBPP problem in the five languages of MBXP, each with its own tests."""

    number: int
    rows: dict[Language, MbxpRow]
    level: int | None = None

    @property
    def task_id(self) -> str:
        return f"MBXP/{self.number}"

    @property
    def start(self) -> str:
        """The Python program that the chain begins with."""
        return self.reference(Language.PYTHON)

    def reference(self, language: Language) -> str:
        """The data set's own program in a language; empty where it has none."""
        row = self.rows[language]
        return f"{row.prompt}{row.canonical_solution}" if row.canonical_solution else ""

    def name(self, language: Language) -> str:
        return self.rows[language].entry_point

    def opening(self, language: Language) -> str:
        """The code of the data set's prompt, without its comment."""
        prompt = self.rows[language].prompt
        definitions = list(definition(language, self.name(language)).finditer(prompt))
        begin = definitions[-1].start() if definitions else 0
        code = prompt[begin:].strip("\n")
        return (code.split("\n")[0] if language is Language.PYTHON else code) + "\n"

    async def grade(self, program: str, language: Language, sandbox: Sandbox) -> Verdict:
        """Executes the tests of the data set against a program."""
        row = self.rows[language]
        tests = row.test.replace(*_PHP_COMPARISON) if language is Language.PHP else row.test
        return await grade_by_tests(sandbox, program, tests, row.entry_point, language)


_PHP_COMPARISON = ("return $x == $y;", r"return \Triathlon\Harness::same($x, $y);")
"""All PHP tests define `compare` by `==`, which holds between true and whatever is not empty, and between
null and whatever is: the harness compares by type and value instead."""


def mbxp_tasks(store: DataStore, left_out: Collection[int] = WRONG_START) -> list[MbxpTask]:
    """The tasks that all five languages have, by number, without those that are to be left out.

    Raises:
        DataUnavailableError: a data file is not here and cannot be fetched.
    """
    rows: dict[int, dict[Language, MbxpRow]] = {}
    for language in official.MBXP_LANGUAGES:
        for row in official.mbxp(store, language):
            rows.setdefault(row.number, {})[Language(language)] = row
    whole = (number for number in sorted(rows) if len(rows[number]) == len(Language))
    return [MbxpTask(number, rows[number]) for number in whole if number not in left_out]


# Values that cross

_LARGEST_EXACT: Final = 1 << 53
"""Beyond it a number of JavaScript's is not exact any more."""
_LARGEST_FLOAT: Final = int(sys.float_info.max)
"""The largest float: a larger whole number is near no expected value."""
_RELATIVE: Final = 1e-9
"""Relative error that a float may have after another language wrote it (Perl writes 15 digits)."""
_EXACT_FLOAT: Final = 10**15
"""Below it each language writes a float that is a whole number exactly."""


def plain(value: Any) -> Any:
    """The value as JSON has it: null, truth values, numbers, texts, maps of texts; tuples become lists.

    Raises:
        ValueError: a language of the chain lacks this value.
    """
    match value:
        case list() | tuple():
            return [plain(item) for item in value]
        case dict() if all(isinstance(key, str) for key in value):
            return {key: plain(item) for key, item in value.items()}
        case None | bool() | str():
            return value
        case int() if abs(value) <= _LARGEST_EXACT:
            return value
        case float() if math.isfinite(value):
            return value
    raise ValueError(f"not every language has such a {type(value).__name__}")


def same(expected: Any, got: Any, language: Language, tolerance: float = 0.0) -> bool:
    """Whether a program of this language returned what Python's reference did.

    Numbers are compared by value, for JavaScript has one kind of them. A language without truth values means
    true by 1, and false by 0, "" or nothing.
    """
    spec = LANGUAGES[language]
    if expected is None:
        return got is None or (isinstance(got, Opaque) and got.type == "undefined")
    if isinstance(expected, bool):
        meant = got in (1, "1") if expected else got is None or got in (0, "0", "")
        return got is expected or (not spec.has_truth_values and meant)
    if isinstance(expected, int | float):
        number = _number(got, spec)
        return number is not None and abs(expected - number) <= tolerance + _rounding(expected, number)
    if isinstance(expected, str):
        is_number = isinstance(got, int | float) and not isinstance(got, bool)
        digits = ""
        if is_number and not spec.has_number_type:
            digits = f"{got:.15g}" if isinstance(got, float) else _text(got)  # as Perl prints it
        return bool(got == expected or (digits and digits == expected))
    if isinstance(expected, dict):
        got = dict(enumerate(got)) if spec.lists_are_maps and isinstance(got, list) else got
        # PHP makes numbers of digits.
        items = {_text(key): item for key, item in got.items()} if isinstance(got, dict) else None
        return (
            items is not None
            and items.keys() == expected.keys()
            and all(same(item, items[key], language, tolerance) for key, item in expected.items())
        )
    return (
        isinstance(got, list | tuple)
        and len(got) == len(expected)
        and all(same(left, right, language, tolerance) for left, right in zip(expected, got, strict=True))
    )


def _rounding(expected: float, number: float) -> float:
    """How far a number may be off; a whole one that was written exactly is the value or another."""
    is_exact = isinstance(number, int) or (number.is_integer() and abs(expected) < _EXACT_FLOAT)
    return 0.0 if isinstance(expected, int) and is_exact else _RELATIVE * abs(expected)


def _number(got: Any, spec: LanguageSpec) -> float | None:
    if isinstance(got, str) and not spec.has_number_type:
        try:
            got = float(got)
        except ValueError:
            return None
    if isinstance(got, bool) or not isinstance(got, int | float):
        return None
    is_float = abs(got) <= _LARGEST_FLOAT if isinstance(got, int) else math.isfinite(got)
    return got if is_float else None


def _text(value: Any) -> str:
    """A key or number as text; empty for an int of more digits than Python writes."""
    try:
        return str(value)
    except ValueError:
        return ""
