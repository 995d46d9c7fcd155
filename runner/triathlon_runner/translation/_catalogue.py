"""The translation suites."""

import hashlib
from functools import partial
from pathlib import Path

from triathlon_runner import loop
from triathlon_runner.datasets import DataStore, core, official
from triathlon_runner.metrics import Metric
from triathlon_runner.prompts import load_prompts
from triathlon_runner.records import Discipline, LoopRecord
from triathlon_runner.sandbox import Language, Sandbox
from triathlon_runner.suites import DataSetInfo, SuiteEntry
from triathlon_runner.translation._core import core_tasks
from triathlon_runner.translation._languages import STEPS, TARGETS
from triathlon_runner.translation._mbxp import mbxp_tasks
from triathlon_runner.translation._suite import TranslationSuite
from triathlon_runner.translation._task import MbxpTask

_OTHERS = tuple(language for language in TARGETS if language is not Language.PYTHON)


def metrics() -> tuple[Metric, ...]:
    """The loop's, with ASL as one number: similarities are 1 here (EVALOOOP, section 5)."""
    low, _high, *others = loop.metrics(STEPS)
    asl = Metric(
        "asl", "ASL", "EVALOOOP, section 5", low.contributions, low.scale, low.maximum, headline=True
    )
    return (asl, *others)


def catalogue(prompts: Path | None = None) -> tuple[SuiteEntry, ...]:
    """Both suites; nothing is read for this.

    Args:
        prompts: A user's folder of prompts (`--prompts`).
    """
    return (
        SuiteEntry(
            id="translation/core",
            title="Translation loop on our own problems",
            discipline=Discipline.TRANSLATION,
            metrics=metrics(),
            record=LoopRecord,
            build=partial(_core, prompts),
            core=True,
            languages=_OTHERS,
        ),
        SuiteEntry(
            id="translation/mbxp",
            title="Translation loop on MBXP",
            discipline=Discipline.TRANSLATION,
            metrics=metrics(),
            record=LoopRecord,
            build=partial(_mbxp, prompts),
            languages=_OTHERS,
        ),
    )


def _core(prompts: Path | None, _store: DataStore) -> TranslationSuite:
    data = DataSetInfo("core/seeds", core.VERSION, core.sha256("seeds"))
    return TranslationSuite("translation/core", data, load_prompts("translation", prompts), core_tasks)


def _mbxp(prompts: Path | None, store: DataStore) -> TranslationSuite:
    tasks = mbxp_tasks(store)

    async def read(_sandbox: Sandbox) -> list[MbxpTask]:
        return list(tasks)

    files = [official.MBXP[language] for language in official.MBXP_LANGUAGES]
    together = hashlib.sha256("".join(file.sha256 for file in files).encode()).hexdigest()
    data = DataSetInfo("mbxp", files[0].version, together)
    return TranslationSuite("translation/mbxp", data, load_prompts("translation", prompts), read)
