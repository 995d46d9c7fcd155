"""One task of the translation loop: a correct Python program, and a function to write in every language."""

from dataclasses import dataclass
from typing import Any

from triathlon_runner.datasets.official import MbxpRow
from triathlon_runner.grading import (
    TEST_LIMITS,
    Fault,
    grade_by_tests,
    grade_results,
    shown,
)
from triathlon_runner.records import Outcome, Verdict
from triathlon_runner.sandbox import Call, Job, Language, Raised, Sandbox, Sent
from triathlon_runner.translation._languages import definition, opening
from triathlon_runner.translation._values import same


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
        """Executes a program with the tests of its language.

        Raises:
            SandboxError: our machinery failed.
        """
        calls = tuple(Call(self.entry_point, arguments) for arguments, _ in self.cases)
        job = Job(program, calls, language, limits=TEST_LIMITS)
        return await grade_results(sandbox, job, _CoreResults(self, language))


@dataclass(frozen=True, slots=True)
class _CoreResults:
    """What a program in this language has to return: Python's values, as far as the language has them."""

    task: CoreTask
    language: Language

    def fault(self, index: int, result: Sent | Raised) -> Fault | None:
        if isinstance(result, Raised):
            return Fault.exception(result)
        expected, got = self.task.cases[index][1], result.value()
        right = same(expected, got, self.language, self.task.tolerance)
        return None if right else Fault(Outcome.FAILED, shown(got))

    def texts(self, index: int) -> tuple[str, str]:
        arguments, expected = self.task.cases[index]
        return ", ".join(map(shown, arguments)), shown(expected)


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
        return reference(self.rows[Language.PYTHON])

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
        """Executes the tests of the data set against a program.

        Raises:
            SandboxError: our machinery failed.
        """
        row = self.rows[language]
        tests = row.test.replace(*_PHP_COMPARISON) if language is Language.PHP else row.test
        return await grade_by_tests(sandbox, program, tests, (row.entry_point,), language=language)


_PHP_COMPARISON = ("return $x == $y;", r"return \Triathlon\Harness::same($x, $y);")
"""All PHP tests define `compare` by `==`, which holds between true and whatever is not empty, and between
null and whatever is: the harness compares by type and value instead."""


TranslationTask = CoreTask | MbxpTask


def reference(row: MbxpRow) -> str:
    """The data set's own program in this language; empty where it has none."""
    return f"{row.prompt}{row.canonical_solution}" if row.canonical_solution else ""
