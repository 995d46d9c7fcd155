"""MBXP: one problem of MBPP in five languages, each with its own tests; which of its programs pass them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from triathlon_runner.concurrency import run_all
from triathlon_runner.datasets import DataStore, official
from triathlon_runner.datasets.official import MbxpRow
from triathlon_runner.grading import grade_by_tests
from triathlon_runner.records import Outcome, Verdict
from triathlon_runner.sandbox import Language, Sandbox
from triathlon_runner.translation._languages import TITLES, definition

WRONG_START: Final = frozenset({56, 64, 160, 349, 607, 631, 899, 966, 967})
"""Tasks whose Python reference fails its own tests, so that there is no correct program to begin with.

Found by `triathlon translation check`. Four of them are named `check`, as their test is; two
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
        return await grade_by_tests(sandbox, program, tests, row.entry_point, language)


_PHP_COMPARISON = ("return $x == $y;", r"return \Triathlon\Harness::same($x, $y);")
"""All PHP tests define `compare` by `==`, which holds between true and whatever is not empty, and between
null and whatever is: the harness compares by type and value instead."""


def reference(row: MbxpRow) -> str:
    """The data set's own program in this language; empty where it has none."""
    return f"{row.prompt}{row.canonical_solution}" if row.canonical_solution else ""


def read_mbxp(store: DataStore) -> tuple[tuple[MbxpTask, ...], dict[int, tuple[Language, ...]]]:
    """The tasks that all five languages have, by number, and the languages that each other number lacks.

    Raises:
        DataUnavailableError: a data file is not here and cannot be fetched.
    """
    rows: dict[int, dict[Language, MbxpRow]] = {}
    for language in official.MBXP_LANGUAGES:
        for row in official.mbxp(store, language):
            rows.setdefault(row.number, {})[Language(language)] = row
    lacking = {n: tuple(each for each in Language if each not in rows[n]) for n in sorted(rows)}
    tasks = tuple(MbxpTask(number, rows[number]) for number, missing in lacking.items() if not missing)
    return tasks, {number: missing for number, missing in lacking.items() if missing}


def mbxp_tasks(store: DataStore) -> Sequence[MbxpTask]:
    """Those that all five languages have and whose Python reference passes its tests."""
    return [task for task in read_mbxp(store)[0] if task.number not in WRONG_START]


LanguageCheck = tuple[int, tuple[int, ...]]
"""How many programs the data set has in a language, and the tasks whose program fails its own tests."""


async def check_references(tasks: Sequence[MbxpTask], sandbox: Sandbox, language: Language) -> LanguageCheck:
    """Executes every reference in a language with its own tests.

    Raises:
        SandboxError: our machinery failed.
    """
    references = [(task, text) for task in tasks if (text := reference(task.rows[language]))]
    verdicts = await run_all(task.grade(text, language, sandbox) for task, text in references)
    judged = zip(references, verdicts, strict=True)
    failing = (task.number for (task, _), verdict in judged if verdict.outcome is not Outcome.PASSED)
    return len(references), tuple(failing)


def report(
    tasks: Sequence[MbxpTask],
    checks: Mapping[Language, LanguageCheck],
    lacking: Mapping[int, Sequence[Language]],
) -> Iterator[str]:
    """The report as text, a line each; `lacking` are the tasks that some languages lack."""
    yield f"{len(tasks)} tasks have all {len(Language)} languages; {len(lacking)} others do not"
    for number, languages in lacking.items():
        yield f"  {number} lacks {', '.join(TITLES[language] for language in languages)}"
    yield f"{'language':<12}{'references':>12}{'passing':>9}"
    for language, (count, failing) in checks.items():
        yield f"{TITLES[language]:<12}{count:>12}{count - len(failing):>9}"
        if language is Language.PYTHON and failing:
            yield f"  without a correct Python program: {', '.join(map(str, failing))}"
