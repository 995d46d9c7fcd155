"""Where chains of translations break: the suite's pass rates taken apart by language."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from triathlon_runner.metrics import Contribution
from triathlon_runner.translation._languages import STEPS, TARGETS, TITLES

CURVE = ("pass_at_1", *(f"sustain_{step}" for step in range(2, STEPS + 1)))
"""The ids of the suite's metrics that say whether a task passed step 1 … M."""


@dataclass(frozen=True, slots=True)
class LanguageStep:
    """One step of the chain for one model."""

    title: str
    """Of the language that is translated into."""
    reached: int
    """Tasks (times samples) with a correct program to translate."""
    passed: int
    """Of these, whose translation passes the tests of its language."""

    @property
    def rate(self) -> float:
        """Share of translations that pass, of those tried; nan where none was."""
        return self.passed / self.reached if self.reached else float("nan")


def by_language(contributions: Mapping[str, Sequence[Contribution]]) -> tuple[LanguageStep, ...]:
    """The five steps of one model, in the order of the chain.

    `contributions` are what the metrics of `CURVE` got from the model's tasks, by metric id.
    """
    tasks = round(sum(part.denominator for part in contributions[CURVE[0]]))
    passed = [round(sum(part.numerator for part in contributions[name])) for name in CURVE]
    return tuple(
        LanguageStep(TITLES[language], reached, passing)
        for language, reached, passing in zip(TARGETS, (tasks, *passed), passed, strict=False)
    )
