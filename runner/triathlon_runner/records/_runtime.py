"""Records of the runtime discipline: REval's questions, CRUXEval's predictions."""

import re
from collections.abc import Iterator
from typing import Final, Literal

from triathlon_runner.records._base import Outcome, Reply, Strict, UnitRecord

_QUESTION: Final = re.compile(r"\[QUESTION\](.*?)\[/QUESTION\]", re.DOTALL)


class AnswerRecord(Strict):
    """One question's answer, graded."""

    question: str = ""
    """What was asked, in a sentence or two; the program and the input stand in the unit."""
    reply: Reply
    answer: str | None
    """What was taken out of the reply; None where nothing could be."""
    expected: tuple[str, ...]
    """Every answer that would be right, as text."""
    outcome: Outcome
    correct: bool
    why: str = ""
    """What was wrong, in words; empty where the answer is right."""


class StatementRecord(Strict):
    """The three questions about one (line, variable)."""

    line: int
    """1-based line of the program."""
    variable: str
    coverage: AnswerRecord
    state: AnswerRecord
    path: AnswerRecord


class RuntimeRecord(UnitRecord):
    """One (program, input). `outcome` is `passed` where every answer is right, else `failed`."""

    style: Literal["direct", "cot"]
    program_id: str
    program: str
    """The program text whose lines the questions name."""
    setup: str = ""
    """What a test's set-up did before the input; its execution is not asked about."""
    input: str
    """The call or test that is made, as text."""
    statements: tuple[StatementRecord, ...]
    output: AnswerRecord

    def recorded_replies(self) -> Iterator[tuple[str, Reply]]:
        """Returns every question with its reply; all of a unit's are asked at once."""
        for statement in self.statements:
            for answer in (statement.coverage, statement.state, statement.path):
                yield answer.question, answer.reply
        yield self.output.question, self.output.reply

    @staticmethod
    def question_in(prompt: str) -> str:
        """Returns the text in the last question tags; those before it belong to demonstrations."""
        questions = _QUESTION.findall(prompt)
        return str(questions[-1]).strip() if questions else ""


class PredictionRecord(UnitRecord):
    """One program and one assertion about it that the model completed. `outcome` is that of the answer."""

    asked: Literal["output", "input"]
    """Which side of the assertion was masked."""
    style: Literal["direct", "cot"]
    program: str
    assertion: str
    """As it was shown, with `??` in place of what was asked for."""
    prediction: AnswerRecord

    def recorded_replies(self) -> Iterator[tuple[str, Reply]]:
        """Returns the one reply."""
        yield "", self.prediction.reply
