"""Tests what the sandbox can do on this machine."""

import os
from dataclasses import dataclass

from triathlon_runner.languages import LANGUAGES, Language
from triathlon_runner.sandbox._api import Call, Job, Limits, Returned, Sandbox, SandboxError
from triathlon_runner.sandbox._local import open_sandbox
from triathlon_runner.sandbox._settings import LEVELS


@dataclass(frozen=True, slots=True)
class LanguageHealth:
    """One language, as tested in the sandbox."""

    language: Language
    version: str
    """Empty where it does not work."""
    fault: str
    """What is missing and how to get it, or empty."""


@dataclass(frozen=True, slots=True)
class SandboxHealth:
    """The strongest level that works, why stronger ones don't, and the languages at that level."""

    level: str | None
    """None: nothing can be executed here."""
    refused: dict[str, str]
    """Levels that do not work, with the reason."""
    jobs: int
    """Programs at once by default."""
    languages: tuple[LanguageHealth, ...]


async def doctor() -> SandboxHealth:
    """Tries every level and, at the strongest that works, every language."""
    refused: dict[str, str] = {}
    working: str | None = None
    languages: tuple[LanguageHealth, ...] = ()
    for level in LEVELS:
        try:
            async with open_sandbox(level, 1) as sandbox:
                if working is None:
                    working = level
                    languages = tuple([await try_language(sandbox, language) for language in Language])
        except SandboxError as error:
            refused[level] = str(error)
    return SandboxHealth(working, refused, len(os.sched_getaffinity(0)), languages)


async def try_language(sandbox: Sandbox, language: Language) -> LanguageHealth:
    """Whether programs of a language can be executed there, tested by executing one."""
    job = Job(LANGUAGES[language].version_program, (Call("version", ()),), language, Limits(cpu_seconds=10))
    try:
        execution = await sandbox.run(job)
    except SandboxError as error:
        return LanguageHealth(language, "", f"{error}; {_hint(language)}")
    result = execution.results[0] if execution.results else None
    if isinstance(result, Returned) and isinstance(result.value, str):
        return LanguageHealth(language, result.value, "")
    return LanguageHealth(language, "", f"{execution.detail or result}; {_hint(language)}")


def _hint(language: Language) -> str:
    package = LANGUAGES[language].package
    return f"on Debian: apt-get install {package}" if package else "the runner's own Python"
