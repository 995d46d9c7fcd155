"""What must be true of a seed's references in other languages: they pass the seed's own cases."""

from typing import Final

from core_checks._details import CoreProblem
from triathlon_runner.records import Outcome, Verdict
from triathlon_runner.sandbox import Language, Sandbox
from triathlon_runner.translation import CoreTask, core_task

LANGUAGES: Final = tuple(language.value for language in Language if language is not Language.PYTHON)


def _languages(core: CoreProblem) -> list[str]:
    """A seed is translated into every language of the chain, or into none."""
    translated = set(core.translations)
    missing = [f"has translations, but none into {name}" for name in LANGUAGES if name not in translated]
    strange = sorted(translated - set(LANGUAGES))
    return missing + [f"translates into {name!r}, no language of ours" for name in strange]


def _finding(language: str, verdict: Verdict) -> str:
    case = verdict.failing
    shown = f" on ({case.input}): {case.expected} expected, got {case.got}" if case else f": {verdict.detail}"
    return f"the {language} translation {verdict.outcome.value}{shown}"


async def _judged(sandbox: Sandbox, task: CoreTask, core: CoreProblem) -> list[str]:
    programs = {"python": task.start, **{name: core.translations[name] for name in LANGUAGES}}
    verdicts = {
        name: await task.grade(program, Language(name), sandbox) for name, program in programs.items()
    }
    return [
        _finding(name, verdict) for name, verdict in verdicts.items() if verdict.outcome is not Outcome.PASSED
    ]


async def check_translations(sandbox: Sandbox, core: CoreProblem) -> list[str]:
    """Executes a seed's translations, and its reference, on the values that cross.

    Raises:
        SandboxError: our machinery failed.
    """
    if not core.translations:
        return []
    findings = _languages(core)
    if findings:
        return findings
    task = await core_task(core.problem, sandbox)
    if task is None:
        return ["has translations, but a value of its inputs or results does not cross languages"]
    return await _judged(sandbox, task, core)
