"""How many of a data set's own programs pass its own tests, language by language."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from triathlon_runner.concurrency import run_all
from triathlon_runner.records import Outcome
from triathlon_runner.sandbox import Language, Sandbox
from triathlon_runner.translation._languages import TITLES
from triathlon_runner.translation._task import MbxpTask, reference


@dataclass(frozen=True, slots=True)
class LanguageCheck:
    """How many of the data set's programs in one language pass their own tests."""

    language: Language
    with_reference: int
    passing: int
    failing: tuple[int, ...]
    """Task numbers whose reference fails its own tests."""


async def check_references(
    tasks: Sequence[MbxpTask], sandbox: Sandbox, languages: Sequence[Language] = tuple(Language)
) -> tuple[LanguageCheck, ...]:
    """Executes every reference there is with its own tests.

    Raises:
        SandboxError: our machinery failed.
    """
    return tuple([await _check(tasks, sandbox, language) for language in languages])


def report(
    tasks: Sequence[MbxpTask], checks: Sequence[LanguageCheck], lacking: Mapping[int, Sequence[Language]]
) -> Iterator[str]:
    """The report as text, a line each; `lacking` are the tasks that some languages lack."""
    yield f"{len(tasks)} tasks have all {len(Language)} languages; {len(lacking)} others do not"
    for number, languages in lacking.items():
        yield f"  {number} lacks {', '.join(TITLES[language] for language in languages)}"
    yield f"{'language':<12}{'references':>12}{'passing':>9}"
    for check in checks:
        yield f"{TITLES[check.language]:<12}{check.with_reference:>12}{check.passing:>9}"
        if check.language is Language.PYTHON and check.failing:
            yield f"  without a correct Python program: {', '.join(map(str, check.failing))}"


async def _check(tasks: Sequence[MbxpTask], sandbox: Sandbox, language: Language) -> LanguageCheck:
    references = [(task, text) for task in tasks if (text := reference(task.rows[language]))]
    verdicts = await run_all(task.grade(text, language, sandbox) for task, text in references)
    failing = [
        task.number
        for (task, _), verdict in zip(references, verdicts, strict=True)
        if verdict.outcome is not Outcome.PASSED
    ]
    return LanguageCheck(language, len(references), len(references) - len(failing), tuple(failing))
