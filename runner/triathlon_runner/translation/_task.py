"""One task of the translation loop, whatever data set it came from."""

from dataclasses import dataclass
from typing import Any, Protocol

from triathlon_runner.datasets.official import MbxpRow
from triathlon_runner.grading import TEST_LIMITS, judge_by_tests
from triathlon_runner.grading._shown import shorten, shown
from triathlon_runner.records import FailingCase, Outcome, Verdict
from triathlon_runner.sandbox import Call, Ended, Execution, Job, Language, Raised, Returned, Sandbox
from triathlon_runner.translation._languages import definition, opening
from triathlon_runner.translation._values import same


class TranslationTask(Protocol):
    """A correct Python program and, for every language, the function's name, opening and tests."""

    @property
    def task_id(self) -> str: ...
    @property
    def level(self) -> int | None: ...
    @property
    def start(self) -> str:
        """The Python program that the chain begins with."""
        ...

    def name(self, language: Language) -> str: ...
    def opening(self, language: Language) -> str: ...

    async def judge(self, program: str, language: Language, sandbox: Sandbox) -> Verdict:
        """Executes a program with the tests of its language.

        Raises:
            SandboxError: our machinery failed.
        """
        ...


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

    async def judge(self, program: str, language: Language, sandbox: Sandbox) -> Verdict:
        calls = tuple(Call(self.entry_point, arguments) for arguments, _ in self.cases)
        job = Job(program, calls, language, limits=TEST_LIMITS)
        execution = await sandbox.run(job, lambda index, result: self._is_right(index, result, language))
        return self._verdict(execution, language)

    def _is_right(self, index: int, result: Returned | Raised, language: Language) -> bool:
        expected = self.cases[index][1]
        return isinstance(result, Returned) and same(expected, result.value, language, self.tolerance)

    def _verdict(self, execution: Execution, language: Language) -> Verdict:
        total = len(self.cases)
        if execution.ended is Ended.NOT_LOADED:
            return Verdict(outcome=Outcome.CRASHED, passed=0, total=total, detail=shorten(_said(execution)))
        passed = next(
            (n for n, result in enumerate(execution.results) if not self._is_right(n, result, language)),
            len(execution.results),
        )
        if passed == total:
            return Verdict(outcome=Outcome.PASSED, passed=total, total=total)
        outcome, got = _failure(execution, passed)
        arguments, expected = self.cases[passed]
        case = FailingCase(
            index=passed,
            input=shorten(", ".join(map(repr, arguments))),
            expected=shown(expected),
            got=shorten(got),
        )
        return Verdict(
            outcome=outcome, passed=passed, total=total, failing=case, detail=shorten(execution.detail)
        )


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
        return reference(self.rows[Language.PYTHON])

    def name(self, language: Language) -> str:
        return self.rows[language].entry_point

    def opening(self, language: Language) -> str:
        """The code of the data set's prompt, without its comment."""
        prompt = self.rows[language].prompt
        found = list(definition(language, self.name(language)).finditer(prompt))
        begin = found[-1].start() if found else 0
        code = prompt[begin:].strip("\n")
        return (code.split("\n")[0] if language is Language.PYTHON else code) + "\n"

    async def judge(self, program: str, language: Language, sandbox: Sandbox) -> Verdict:
        row = self.rows[language]
        return await judge_by_tests(sandbox, program, row.test, (row.entry_point,), language=language)


def reference(row: MbxpRow) -> str:
    """The data set's own program in this language; empty where it has none."""
    return f"{row.prompt}{row.canonical_solution}" if row.canonical_solution else ""


def _failure(execution: Execution, at: int) -> tuple[Outcome, str]:
    if at < len(execution.results):
        result = execution.results[at]
        if isinstance(result, Raised):
            return Outcome.CRASHED, f"{result.type}: {result.message}"
        return Outcome.FAILED, shown(result.value)
    timed_out = execution.ended is Ended.TIMED_OUT
    return Outcome.TIMED_OUT if timed_out else Outcome.CRASHED, execution.detail


def _said(execution: Execution) -> str:
    fault = execution.results[-1] if execution.results else None
    return f"{fault.type}: {fault.message}" if isinstance(fault, Raised) else execution.detail
