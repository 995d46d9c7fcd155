"""What a machine lacks to run suites whole: data, languages, libraries."""

from collections.abc import Iterable
from dataclasses import dataclass

from triathlon_runner.datasets import DataStore, DataUnavailableError
from triathlon_runner.sandbox import Sandbox, try_language
from triathlon_runner.suites import OFFICIAL_EXTRA, SuiteEntry, UsesLibraries
from triathlon_runner.syntax import not_installed


@dataclass(frozen=True, slots=True)
class Missing:
    """What one suite lacks."""

    what: str
    """And how to get it, in words."""
    runs: bool
    """Whether it can run without that, with fewer tasks."""


async def what_is_missing(
    entries: Iterable[SuiteEntry], data: DataStore, sandbox: Sandbox
) -> dict[str, Missing]:
    """Returns what each suite lacks here, by id; suites that can run whole are not in it.

    Reads their data, and fetches it where that is allowed.

    Raises:
        SandboxError: nothing can be executed here.
    """
    entries = list(entries)
    languages = dict.fromkeys(language for entry in entries for language in entry.languages)
    faults = {language: (await try_language(sandbox, language)).fault for language in languages}
    missing = {}
    for entry in entries:
        lacks = [fault for language in entry.languages if (fault := faults[language])]
        libraries = frozenset[str]()
        try:
            suite = entry.build(data)
        except DataUnavailableError as error:
            lacks.append(str(error))
        else:
            libraries = suite.libraries() if isinstance(suite, UsesLibraries) else libraries
        runs = not lacks
        if absent := not_installed(libraries):
            lacks.append(f"programs need {', '.join(absent)}, which {OFFICIAL_EXTRA} installs")
        if lacks:
            missing[entry.id] = Missing("; ".join(lacks), runs)
    return missing
