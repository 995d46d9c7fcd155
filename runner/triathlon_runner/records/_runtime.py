"""Records of the runtime discipline (spec: REval)."""

from typing import Literal

from triathlon_runner.records._base import Outcome, Reply, Strict, UnitRecord


class AnswerRecord(Strict):
    """One question's answer, judged."""

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
