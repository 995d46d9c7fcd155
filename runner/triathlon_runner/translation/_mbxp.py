"""MBXP as tasks of the translation loop: its files joined on the task number."""

from collections.abc import Sequence
from typing import Final

from triathlon_runner.datasets import DataStore, official
from triathlon_runner.datasets.official import MbxpRow
from triathlon_runner.sandbox import Language
from triathlon_runner.translation._task import MbxpTask

WRONG_START: Final = frozenset({56, 64, 160, 349, 607, 631, 899, 966, 967})
"""Tasks whose Python reference fails its own tests, so that there is no correct program to begin with.

Found by `triathlon translation check`. Four of them are named `check`, as their test is; two
references are indented wrongly; three return what the test does not want.
"""


def joined(store: DataStore) -> tuple[MbxpTask, ...]:
    """The tasks that all five languages have, by number.

    Raises:
        DataUnavailableError: a data file is not here and cannot be fetched.
    """
    return tuple(
        MbxpTask(number, rows) for number, rows in _rows(store).items() if len(rows) == len(Language)
    )


def incomplete(store: DataStore) -> dict[int, tuple[Language, ...]]:
    """The other tasks, by number, with the languages that they lack.

    Raises:
        DataUnavailableError: a data file is not here and cannot be fetched.
    """
    return {
        number: tuple(language for language in Language if language not in rows)
        for number, rows in _rows(store).items()
        if len(rows) < len(Language)
    }


def _rows(store: DataStore) -> dict[int, dict[Language, MbxpRow]]:
    rows_by_number: dict[int, dict[Language, MbxpRow]] = {}
    for language in official.MBXP_LANGUAGES:
        for row in official.mbxp(store, language):
            rows_by_number.setdefault(row.number, {})[Language(language)] = row
    return dict(sorted(rows_by_number.items()))


def mbxp_tasks(store: DataStore) -> Sequence[MbxpTask]:
    """Those of them whose Python reference passes its tests."""
    return [task for task in joined(store) if task.number not in WRONG_START]
