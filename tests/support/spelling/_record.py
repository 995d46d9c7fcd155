"""What one word came to."""

from collections.abc import Iterator
from typing import ClassVar

from triathlon_runner.records import Question, Reply, Strict, UnitRecord


class SpellingStep(Strict):
    """One word, spelt backwards or not."""

    word: str
    reply: Reply
    right: bool


class SpellingRecord(UnitRecord):
    """One word on its way there and back; it ends at the first wrong spelling."""

    conversation: ClassVar[bool] = True
    steps: tuple[SpellingStep, ...]

    def questions(self) -> Iterator[Question]:
        """Returns the words with their spellings, in the order of asking."""
        for step in self.steps:
            yield Question(step.word, step.reply)
