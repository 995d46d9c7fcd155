"""Asks for a word backwards, then for that backwards again."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from support.spelling._record import SpellingRecord, SpellingStep
from triathlon_runner.llm import Chat, Completion, Message, ModelKind, Sampling
from triathlon_runner.prompts import PromptSet
from triathlon_runner.records import Outcome, Usage
from triathlon_runner.suites import (
    DataSetInfo,
    Task,
    UnitRun,
    asked_settings,
    graded_settings,
    request_settings,
)

SAMPLING: Final = Sampling(max_tokens=16)
STEPS: Final = 2


@dataclass(frozen=True)
class SpellingSuite:
    """Some words."""

    id: str
    data: DataSetInfo
    words: Sequence[str]
    prompts: PromptSet

    def tasks(self) -> Sequence[Task]:
        return [Task(word) for word in self.words]

    @property
    def protocol(self) -> Mapping[str, Mapping[str, Any]]:
        asked = asked_settings(self.data, SAMPLING, self.prompts.digest("ask"))
        return {"asked": asked, "graded": graded_settings(self.data)}

    def settings(self, kind: ModelKind, _judge: str | None = None) -> Mapping[str, Any]:
        return request_settings(kind, SAMPLING)

    async def run(self, unit: UnitRun) -> SpellingRecord:
        word, usage, model = unit.task_id, Usage(), unit.model
        steps: list[SpellingStep] = []
        while len(steps) < STEPS and all(step.right for step in steps):
            text = self.prompts.render("ask", task=word)
            question = Completion(text) if model.kind == "base" else Chat((Message("user", text),))
            answer = await model.ask(question, SAMPLING, sample=unit.sample)
            usage += answer.usage
            right = answer.reply.text.strip() == word[::-1]
            steps.append(SpellingStep(word=word, reply=answer.reply, right=right))
            word = word[::-1]
        return SpellingRecord(
            **unit.record_fields(self.id),
            outcome=Outcome.PASSED if all(step.right for step in steps) else Outcome.FAILED,
            usage=usage,
            steps=tuple(steps),
        )
