"""A model that says what a record holds, so that a suite judges the same replies once more."""

import re
from collections import deque
from collections.abc import Iterator
from contextvars import ContextVar
from typing import Literal

from triathlon_runner.endpoints import Answer, Chat, Completion, ModelUnavailableError, Sampling
from triathlon_runner.errors import InfrastructureError
from triathlon_runner.grading import Grader
from triathlon_runner.records import EvolvedRecord, LoopRecord, Reply, RuntimeRecord, UnitRecord, Usage
from triathlon_runner.schedule import Work

_QUESTION = re.compile(r"\[QUESTION\](.*?)\[/QUESTION\]", re.DOTALL)

current: ContextVar[LoopRecord] = ContextVar("current")
"""The record whose judge is asked; a suite has one judge for all its units."""


class NotInEvidenceError(InfrastructureError):
    """The suite asks something that the record holds no reply to."""


class ReplayModel:
    """Answers one unit's questions from its record."""

    def __init__(self, record: UnitRecord, kind: Literal["instruct", "base"]) -> None:
        self.id = record.model
        self.kind = kind
        self._in_order = deque(_replies(record))
        self._by_question: dict[str, deque[Reply]] = {}
        for question, reply in _answers(record):
            self._by_question.setdefault(question, deque()).append(reply)

    async def ask(
        self,
        prompt: Chat | Completion,
        sampling: Sampling,  # noqa: ARG002
        *,
        sample: int = 0,  # noqa: ARG002
    ) -> Answer:
        """The stored reply to this question.

        Raises:
            NotInEvidenceError: there is none.
        """
        text = prompt.text if isinstance(prompt, Completion) else prompt.messages[-1].content
        return _answer(self._next(text), self.id)

    def _next(self, text: str) -> Reply:
        if self._in_order:
            return self._in_order.popleft()
        found = _QUESTION.findall(text)
        stored = self._by_question.get(found[-1].strip()) if found else None
        if not stored:
            raise NotInEvidenceError(f"no reply is stored to the question {text[-200:]!r}")
        return stored.popleft()


class ReplayJudge:
    """The judge of similarities, as the record of the running unit holds its replies."""

    def __init__(self, model_id: str) -> None:
        self.id = model_id
        self.kind: Literal["instruct", "base"] = "instruct"

    async def ask(
        self,
        prompt: Chat | Completion,  # noqa: ARG002  as `Model` has it, here and in the other
        sampling: Sampling,  # noqa: ARG002
        *,
        sample: int = 0,
    ) -> Answer:
        """The stored reply to this attempt.

        Raises:
            ModelUnavailableError: there is none, and the record says that the similarity is unknown.
            NotInEvidenceError: there is none, and the record has a similarity.
        """
        record = current.get()
        replies = record.judge_replies
        if sample >= len(replies) and record.similarity is None:
            raise ModelUnavailableError("the judge could not be asked then")
        if sample >= len(replies):
            raise NotInEvidenceError(f"the judge was asked {len(replies)} times, not {sample + 1}")
        return _answer(replies[sample], self.id)


async def replayed(record: UnitRecord, work: Work, grader: Grader) -> UnitRecord:
    """The record that a record's own replies lead to now.

    Raises:
        NotInEvidenceError: our judgement asks for what was not asked.
        SandboxError: our machinery failed.
    """
    if isinstance(record, LoopRecord):
        current.set(record)  # each task has its own context
    model = ReplayModel(record, work.row.kind)
    return await work.built.suite.run(record.task_id, record.sample, model, grader, work.protocol)


def _answer(reply: Reply, model: str) -> Answer:
    return Answer(reply, Usage(), 0.0, model)


def _replies(record: UnitRecord) -> Iterator[Reply]:
    """The replies of a unit that asks one thing after another."""
    if isinstance(record, EvolvedRecord):
        yield record.reply
    if isinstance(record, LoopRecord):
        for step in record.loops:
            yield step.reply
            if step.summary_reply is not None:
                yield step.summary_reply


def _answers(record: UnitRecord) -> Iterator[tuple[str, Reply]]:
    """Question and reply of a unit that asks everything at once."""
    if isinstance(record, RuntimeRecord):
        for one in record.statements:
            for answer in (one.coverage, one.state, one.path):
                yield answer.question, answer.reply
        yield record.output.question, record.output.reply
