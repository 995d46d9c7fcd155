"""The suites of predictions: CRUXEval's two sides, each asked directly and with a chain of thought."""

from functools import partial
from itertools import product
from pathlib import Path
from typing import Final

from triathlon_runner.datasets import DataStore, official
from triathlon_runner.metrics import pass_at_k_metric
from triathlon_runner.prompts import load_prompts
from triathlon_runner.records import PredictionRecord
from triathlon_runner.runtime._asking import STYLES, Style
from triathlon_runner.runtime.prediction._suite import SAMPLES, PredictionSuite, sampling
from triathlon_runner.runtime.prediction._task import Asked, PredictionTask
from triathlon_runner.suites import DataSetInfo, SuiteEntry

_SOURCE: Final = "CRUXEval (Gu et al. 2024), section 3: over 10 samples a task at temperature 0.2"
METRICS: Final = (pass_at_k_metric(1, _SOURCE), pass_at_k_metric(5, _SOURCE))
"""pass@5 is undefined where a task has fewer than 5 samples."""
_SIDES: Final[tuple[Asked, ...]] = ("output", "input")


def catalogue(prompts: Path | None = None) -> tuple[SuiteEntry, ...]:
    """All suites of predictions; nothing is read for this.

    Args:
        prompts: A user's folder of prompts in place of ours.
    """
    return tuple(_entry(asked, style, prompts) for asked, style in product(_SIDES, STYLES))


def _entry(asked: Asked, style: Style, prompts: Path | None) -> SuiteEntry:
    plain = f"runtime/cruxeval-{asked}"
    suite_id = f"{plain}@cot" if style == "cot" else plain
    return SuiteEntry(
        id=suite_id,
        title=f"CRUXEval, {asked} prediction" + (" (chain of thought)" if style == "cot" else ""),
        discipline="runtime",
        metrics=METRICS,
        record=PredictionRecord,
        build=partial(_build, suite_id, asked, style, prompts),
        sampling=sampling(style),
        quick_tasks=3,
        graded="in part",
        variant_of=plain if style == "cot" else None,
        variant_kind="style" if style == "cot" else None,
        default_samples=SAMPLES,
    )


def _build(
    suite_id: str, asked: Asked, style: Style, prompts: Path | None, store: DataStore
) -> PredictionSuite:
    rows = official.cruxeval(store)
    tasks = [PredictionTask(row.task_id, row.code, row.input, row.output) for row in rows]
    return PredictionSuite(
        id=suite_id,
        data=DataSetInfo.of(official.CRUXEVAL),
        programs={task.task_id: task for task in tasks},
        asked=asked,
        style=style,
        prompts=load_prompts("runtime", prompts),
    )
