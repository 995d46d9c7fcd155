"""Records of the runtime discipline (spec: REval)."""

from typing import Literal

from triathlon_runner.records._base import Outcome, Reply, Strict, UnitRecord


class AnswerRecord(Strict):
    """One question's answer, judged."""

    reply: Reply
    answer: str | None
    """What was taken out of the reply; None where nothing could be."""
    expected: tuple[str, ...]
    """Every answer that would be right, as text."""
    outcome: Outcome
    correct: bool


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
    input: str
    """The call or test that is made, as text."""
    statements: tuple[StatementRecord, ...]
    output: AnswerRecord
