"""The suites of predictions: CRUXEval's two sides, each asked directly and with a chain of thought."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, Final

from triathlon_runner.datasets import DataStore, official
from triathlon_runner.grading import Grader
from triathlon_runner.llm import Model, ModelKind
from triathlon_runner.metrics import pass_at_k_metric
from triathlon_runner.prompts import load_prompts
from triathlon_runner.records import PredictionRecord, ProtocolHashes
from triathlon_runner.runtime._asking import STYLES, Asker, Style, sampling
from triathlon_runner.runtime._grade import answer_record
from triathlon_runner.runtime.prediction._grade import FUNCTION, Asked, grade_prediction, masked_assertion
from triathlon_runner.suites import (
    DataSetInfo,
    SuiteEntry,
    Task,
    asked_settings,
    graded_settings,
    request_settings,
)

TEMPERATURE: Final = 0.2
"""CRUXEval, section 3: for pass@1."""
SAMPLES: Final = 10
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

    def build(store: DataStore) -> PredictionSuite:
        tasks = {task.task_id: task for task in official.cruxeval(store)}
        asker = Asker(load_prompts("runtime", prompts), style)
        return PredictionSuite(suite_id, DataSetInfo.of(official.CRUXEVAL), tasks, asked, asker)

    return SuiteEntry(
        id=suite_id,
        title=f"CRUXEval, {asked} prediction" + (" (chain of thought)" if style == "cot" else ""),
        discipline="runtime",
        metrics=METRICS,
        record=PredictionRecord,
        build=build,
        sampling=sampling(style, TEMPERATURE),
        quick_tasks=3,
        graded="in part",
        variant_of=plain if style == "cot" else None,
        variant_kind="style" if style == "cot" else None,
        default_samples=SAMPLES,
    )


@dataclass(frozen=True)
class PredictionSuite:
    """Programs with the side of their assertions that is asked for. A unit is one program."""

    id: str
    data: DataSetInfo
    programs: Mapping[str, official.CruxevalTask]
    asked: Asked
    asker: Asker

    def tasks(self) -> Sequence[Task]:
        return [Task(task_id) for task_id in self.programs]

    @property
    def protocol(self) -> Mapping[str, Mapping[str, Any]]:
        """The masked side is part of what it asks."""
        style, prompts = self.asker.style, self.asker.digest(f"predict-{self.asked}")
        decoding = sampling(style, TEMPERATURE)
        return {
            "asked": asked_settings(self.data, decoding, prompts, style=style, predicted=self.asked),
            "graded": graded_settings(self.data),
        }

    def settings(self, kind: ModelKind, _judge: str | None = None) -> Mapping[str, Any]:
        return request_settings(kind, sampling(self.asker.style, TEMPERATURE))

    async def run(
        self,
        task_id: str,
        sample: int,
        model: Model,
        grader: Grader,
        protocol: ProtocolHashes,
        _judge: Model | None = None,
    ) -> PredictionRecord:
        """Asks for one prediction and grades it.

        Raises:
            InfrastructureError: no reply, or the sandbox failed; the unit stays open.
        """
        task, kind, style = self.programs[task_id], f"predict-{self.asked}", self.asker.style
        masked = masked_assertion(task, self.asked)
        question = self.asker.prompts.render(
            f"{kind}-question", program=task.program.strip("\n"), assertion=masked
        )
        prompt = self.asker.prompt(kind, question, completes=model.kind == "base")
        answer = await model.ask(prompt, sampling(style, TEMPERATURE), sample=sample)
        prediction = await answer_record(
            answer.reply,
            style,
            partial(grade_prediction, grader.sandbox, task, self.asked),
            question=question,
            expected=(f"assert {FUNCTION}({task.input}) == {task.output}",),
        )
        return PredictionRecord(
            suite=self.id,
            model=model.id,
            task_id=task_id,
            sample=sample,
            protocol=protocol,
            outcome=prediction.outcome,
            usage=answer.usage,
            seconds=answer.seconds,
            asked=self.asked,
            style=style,
            program=task.program,
            assertion=masked,
            prediction=prediction,
        )
