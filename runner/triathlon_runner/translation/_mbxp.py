"""MBXP as tasks of the translation loop: its files joined on the task number."""

from collections.abc import Sequence
from typing import Final

from triathlon_runner.datasets import DataStore, official
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
        DataUnavailableError: a data file can't be had.
    """
    rows = {
        Language(language): {row.number: row for row in official.mbxp(store, language)}
        for language in official.MBXP_LANGUAGES
    }
    common = sorted(set.intersection(*(set(by_number) for by_number in rows.values())))
    return tuple(
        MbxpTask(number, {language: by_number[number] for language, by_number in rows.items()})
        for number in common
    )


def mbxp_tasks(store: DataStore) -> Sequence[MbxpTask]:
    """Those of them whose Python reference passes its tests."""
    return [task for task in joined(store) if task.number not in WRONG_START]
