"""Records of output and input prediction (CRUXEval)."""

from collections.abc import Iterator
from typing import Literal

from triathlon_runner.records._base import Reply, UnitRecord
from triathlon_runner.records._runtime import AnswerRecord


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
