"""The translation suites."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final

from triathlon_runner import loop
from triathlon_runner.datasets import DataStore, core, official
from triathlon_runner.metrics import Metric
from triathlon_runner.prompts import load_prompts
from triathlon_runner.records import LoopRecord
from triathlon_runner.sandbox import Language, Sandbox
from triathlon_runner.suites import DataSetInfo, DisciplineEntry, SuiteEntry
from triathlon_runner.translation._languages import STEPS, TARGETS
from triathlon_runner.translation._mbxp import MbxpTask, mbxp_tasks
from triathlon_runner.translation._suite import BASE_STOP, SAMPLING, TranslationSuite
from triathlon_runner.translation._task import core_tasks

_TARGETS_BUT_PYTHON = tuple(language for language in TARGETS if language is not Language.PYTHON)


def metrics() -> tuple[Metric, ...]:
    """The loop's, with ASL as one number: similarities are 1 here (EVALOOOP, section 5)."""
    low, _high, *without_asl = loop.metrics(STEPS)
    asl = replace(low, id="asl", title="ASL", source="EVALOOOP, section 5", upper="", column="")
    return (asl, *without_asl)


def catalogue(prompts: Path | None = None) -> tuple[SuiteEntry, ...]:
    """Returns both suites; nothing is read for this. `prompts` is `--prompts`."""
    return (
        _entry("core", "Translation loop on our own problems", partial(_core, prompts), core=True),
        _entry("mbxp", "Translation loop on MBXP", partial(_mbxp, prompts)),
    )


def _entry(
    name: str, title: str, build: Callable[[DataStore], TranslationSuite], *, core: bool = False
) -> SuiteEntry:
    return SuiteEntry(
        id=f"translation/{name}",
        title=title,
        discipline="translation",
        metrics=metrics(),
        record=LoopRecord,
        build=build,
        sampling=SAMPLING,
        base_stop=BASE_STOP,
        most_requests=STEPS,
        in_quick=False,
        core=core,
        languages=_TARGETS_BUT_PYTHON,
    )


def _core(prompts: Path | None, _store: DataStore) -> TranslationSuite:
    data = DataSetInfo("core/seeds", core.VERSION, core.sha256("seeds"))
    return TranslationSuite("translation/core", data, load_prompts("translation", prompts), core_tasks)


def _mbxp(prompts: Path | None, store: DataStore) -> TranslationSuite:
    tasks = mbxp_tasks(store)

    async def read(_sandbox: Sandbox) -> list[MbxpTask]:
        return list(tasks)

    data = DataSetInfo.of(*(official.MBXP[language] for language in official.MBXP_LANGUAGES), name="mbxp")
    return TranslationSuite("translation/mbxp", data, load_prompts("translation", prompts), read)


DISCIPLINE: Final = DisciplineEntry(
    "translation", catalogue, partial(load_prompts, "translation"), kind_of="loop"
)
