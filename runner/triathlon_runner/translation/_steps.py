"""Where chains of translations break: the suite's scores taken apart by language."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from triathlon_runner.metrics import Contribution
from triathlon_runner.sandbox import Language
from triathlon_runner.translation._languages import STEPS, TARGETS, TITLES

CURVE = ("pass_at_1", *(f"sustain_{step}" for step in range(2, STEPS + 1)))
"""The ids of the suite's metrics that say whether a task passed step 1 … M."""


@dataclass(frozen=True, slots=True)
class LanguageStep:
    """One step of the chain for one model."""

    step: int
    """j, from 1."""
    language: Language
    """What is translated into."""
    title: str
    reached: int
    """Tasks (times samples) with a correct program to translate."""
    passed: int
    """Of these, whose translation passes the tests of its language."""
    stopped: int
    """Tasks for which this was the last step passed: n_j."""
    asl: float
    """What these add to ASL, n_j · j² / (M · T) with s = 1 (EVALOOOP, equation 1); the steps sum to ASL."""

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
    steps = []
    for step, (language, reached) in enumerate(zip(TARGETS, (tasks, *passed), strict=False), 1):
        stopped = passed[step - 1] - (passed[step] if step < STEPS else 0)
        share = stopped * step**2 / (STEPS * tasks) if tasks else 0.0
        steps.append(
            LanguageStep(step, language, TITLES[language], reached, passed[step - 1], stopped, share)
        )
    return tuple(steps)
