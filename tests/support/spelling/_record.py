"""What one word came to."""

from collections.abc import Iterator

from triathlon_runner.records import Reply, Strict, UnitRecord


class SpellingStep(Strict):
    """One word, spelt backwards or not."""

    word: str
    reply: Reply
    right: bool


class SpellingRecord(UnitRecord):
    """One word on its way there and back; it ends at the first wrong spelling."""

    steps: tuple[SpellingStep, ...]

    def recorded_replies(self) -> Iterator[tuple[str, Reply]]:
        """Returns the replies in the order of asking."""
        for step in self.steps:
            yield "", step.reply
