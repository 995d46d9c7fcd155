"""The one suite of this discipline and what is counted in it."""

import hashlib
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Final

from support.spelling._record import SpellingRecord
from support.spelling._suite import SAMPLING, STEPS, SpellingSuite
from triathlon_runner.datasets import DataStore
from triathlon_runner.metrics import Contribution, Metric
from triathlon_runner.prompts import PromptSet, load_prompts
from triathlon_runner.records import UnitRecord
from triathlon_runner.suites import DataSetInfo, DisciplineEntry, SuiteEntry

WORDS: Final = ("stone", "river", "candle", "window", "garden", "silver")


def _share_of_steps(records: Sequence[UnitRecord]) -> list[Contribution]:
    return [
        Contribution(record.task_id, sum(step.right for step in record.steps), STEPS)
        for record in records
        if isinstance(record, SpellingRecord)
    ]


METRICS: Final = (Metric("spelt", "Words spelt", "ours", _share_of_steps, role="headline"),)


def prompts(folder: Path | None) -> PromptSet:
    """Returns the prompts of this discipline, with a user's in place of ours."""
    return load_prompts("spelling", folder, package="support.spelling")


def catalogue(folder: Path | None = None) -> tuple[SuiteEntry, ...]:
    """Returns the one suite."""
    return (
        SuiteEntry(
            id="spelling/words",
            title="Spelling words backwards",
            discipline="spelling",
            metrics=METRICS,
            record=SpellingRecord,
            build=partial(_build, folder),
            sampling=SAMPLING,
            most_requests=STEPS,
            quick_tasks=4,
            core=True,
        ),
    )


def _build(folder: Path | None, _store: DataStore) -> SpellingSuite:
    sha256 = hashlib.sha256(" ".join(WORDS).encode()).hexdigest()
    return SpellingSuite("spelling/words", DataSetInfo("words", "1", sha256), WORDS, prompts(folder))


DISCIPLINE: Final = DisciplineEntry("spelling", catalogue, prompts)
