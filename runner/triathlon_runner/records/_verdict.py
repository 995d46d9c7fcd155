"""What executing a program against its tests showed."""

from typing import Literal

from triathlon_runner.records._base import Outcome, Strict

JudgedBy = Literal["outside", "same-process"]
"""Where the comparison ran: always outside the program's process. Records of earlier versions may say
`same-process`."""


class FailingCase(Strict):
    """The first test that a program did not pass, shortened for reading."""

    index: int
    """Position among the suite's inputs, from 0."""
    input: str
    expected: str
    got: str
    """The value that came, the exception with its message, or what the process died of."""


class Verdict(Strict):
    """How one program was graded. Equal inputs give equal verdicts on any machine at any load."""

    outcome: Outcome
    passed: int
    """Inputs passed before the first failure (grading stops there)."""
    total: int
    failing: FailingCase | None = None
    judged: JudgedBy = "outside"
    detail: str = ""
    """What a reader needs beside the failing case: a syntax error, the signal, the last output."""
