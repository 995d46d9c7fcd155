"""A discipline made of a folder, a record type and one line in the catalogue: words spelt backwards.

A word is asked for backwards, then that is asked for backwards again; it ends at the first wrong spelling.
"""

import hashlib
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Final

from triathlon_runner.datasets import DataStore
from triathlon_runner.llm import Chat, Completion, Message, ModelKind, Sampling
from triathlon_runner.metrics import Contribution, Metric
from triathlon_runner.prompts import PromptSet, load_prompts
from triathlon_runner.records import Outcome, Question, Reply, Strict, UnitRecord, Usage
from triathlon_runner.suites import (
    DataSetInfo,
    DisciplineEntry,
    SuiteEntry,
    Task,
    UnitRun,
    asked_settings,
    graded_settings,
    request_settings,
)

sys.modules["triathlon_runner.spelling"] = sys.modules[__name__]  # as if its folder lay in the runner
WORDS: Final = ("stone", "river", "candle", "window", "garden", "silver")
SAMPLING: Final = Sampling(max_tokens=16)
STEPS: Final = 2
DATA: Final = DataSetInfo("words", "1", hashlib.sha256(" ".join(WORDS).encode()).hexdigest())


class SpellingStep(Strict):
    """One word, spelt backwards or not."""

    word: str
    reply: Reply
    right: bool


class SpellingRecord(UnitRecord):
    """One word on its way there and back."""

    conversation: ClassVar[bool] = True
    steps: tuple[SpellingStep, ...]

    def questions(self) -> Iterator[Question]:
        """Returns the words with their spellings, in the order of asking."""
        for step in self.steps:
            yield Question(step.word, step.reply)


@dataclass(frozen=True)
class SpellingSuite:
    """The words."""

    prompts: PromptSet
    id: str = "spelling/words"
    data: DataSetInfo = DATA

    def tasks(self) -> Sequence[Task]:
        return [Task(word) for word in WORDS]

    @property
    def protocol(self) -> Mapping[str, Mapping[str, Any]]:
        asked = asked_settings(DATA, SAMPLING, self.prompts.digest("ask"))
        return {"asked": asked, "graded": graded_settings(DATA)}

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


def _share_of_steps(records: Sequence[UnitRecord]) -> list[Contribution]:
    return [
        Contribution(record.task_id, sum(step.right for step in record.steps), STEPS)
        for record in records
        if isinstance(record, SpellingRecord)
    ]


METRICS: Final = (Metric("spelt", "Words spelt", "ours", _share_of_steps, role="headline"),)


def prompts(folder: Path | None) -> PromptSet:
    """Returns the prompts of this discipline, with a user's in place of ours."""
    return load_prompts("spelling", folder)


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
    return SpellingSuite(prompts(folder))


DISCIPLINE: Final = DisciplineEntry("spelling", catalogue, prompts)
