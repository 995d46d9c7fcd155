"""One side of the assertions, asked in one style. A unit is one program."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from triathlon_runner.endpoints import Model, ModelKind, Sampling
from triathlon_runner.grading import Grader
from triathlon_runner.prompts import PromptSet
from triathlon_runner.records import AnswerRecord, Outcome, PredictionRecord, Reply
from triathlon_runner.runtime._answers import extract_answer
from triathlon_runner.runtime._asking import (
    STOP,
    Style,
    sentence_of,
    template_names,
    with_demonstrations,
)
from triathlon_runner.runtime._grade import Graded
from triathlon_runner.runtime.prediction._grade import grade_prediction
from triathlon_runner.runtime.prediction._task import Asked, PredictionTask
from triathlon_runner.suites import DataSetInfo, Task

TEMPERATURE: Final = 0.2
"""CRUXEval, section 3: for pass@1."""
SAMPLES: Final = 10
_MAX_TOKENS: Final[dict[Style, int]] = {"direct": 256, "cot": 1024}
"""As the other suites of this discipline; the longest assertion of CRUXEval has 146 characters."""


def sampling(style: Style) -> Sampling:
    """Returns how an instruct model is asked in a style."""
    return Sampling(max_tokens=_MAX_TOKENS[style], temperature=TEMPERATURE, stop=STOP)


@dataclass(frozen=True)
class PredictionSuite:
    """Programs with the side of their assertions that is asked for."""

    id: str
    data: DataSetInfo
    programs: Mapping[str, PredictionTask]
    asked: Asked
    style: Style
    prompts: PromptSet

    def tasks(self) -> Sequence[Task]:
        return [Task(task_id) for task_id in self.programs]

    def settings(self, kind: ModelKind, _judge: str | None = None) -> Mapping[str, Any]:
        """Returns data set, what is asked, style, sampling and prompts."""
        return {
            "data": asdict(self.data),
            "predicted": self.asked,
            "style": self.style,
            "asked": "completion" if kind == "base" else "chat",
            "sampling": asdict(sampling(self.style)),
            "prompts": self.prompts.digest(*template_names(self._kind)),
        }

    async def run(
        self,
        task_id: str,
        sample: int,
        model: Model,
        grader: Grader,
        settings_hash: str,
        _judge: Model | None = None,
    ) -> PredictionRecord:
        """Asks for one prediction and grades it.

        Raises:
            InfrastructureError: no reply, or the sandbox failed; the unit stays open.
        """
        task = self.programs[task_id]
        question = self.prompts.render(
            f"{self._kind}-question",
            program=task.program.strip("\n"),
            assertion=task.masked(self.asked),
        )
        completes = model.kind == "base"
        prompt = with_demonstrations(self.prompts, self._kind, self.style, question, completes=completes)
        answer = await model.ask(prompt, sampling(self.style), sample=sample)
        prediction = await self._graded(task, question, answer.reply, grader)
        return PredictionRecord(
            suite=self.id,
            model=model.id,
            task_id=task_id,
            sample=sample,
            protocol=settings_hash,
            outcome=prediction.outcome,
            usage=answer.usage,
            seconds=answer.seconds,
            asked=self.asked,
            style=self.style,
            program=task.program,
            assertion=task.masked(self.asked),
            prediction=prediction,
        )

    @property
    def _kind(self) -> str:
        """What the names of its templates begin with."""
        return f"predict-{self.asked}"

    async def _graded(
        self, task: PredictionTask, question: str, reply: Reply, grader: Grader
    ) -> AnswerRecord:
        extracted = extract_answer(reply, self.style, "output")
        if extracted.text is None:
            graded = Graded(extracted.outcome or Outcome.NO_ANSWER, extracted.why)
        else:
            graded = await grade_prediction(grader.sandbox, task, self.asked, extracted.text)
        return AnswerRecord(
            question=sentence_of(question),
            reply=reply,
            answer=extracted.text,
            expected=(task.assertion(),),
            outcome=graded.outcome,
            correct=graded.correct,
            why=graded.why,
        )
