"""The translation loop by language, from the lines alone."""

import math

import pytest

from support.hashes import hashes
from triathlon_runner import loop, translation
from triathlon_runner.metrics import Contribution
from triathlon_runner.records import LoopRecord, Outcome


def parts_of(sustained: list[int]) -> dict[str, list[Contribution]]:
    """The contributions of a model's records, as a reader of its results has them."""
    records = [
        LoopRecord(
            suite="translation/test",
            model="m",
            task_id=f"t/{number}",
            protocol=hashes("p"),
            outcome=Outcome.PASSED if length == 5 else Outcome.FAILED,
            max_loops=5,
            sustained_loops=length,
            loops=(),
            similarity=1.0 if 1 <= length < 5 else None,
        )
        for number, length in enumerate(sustained)
    ]
    return {metric.id: metric.contributions(records) for metric in translation.metrics()}


def test_steps_say_who_got_there_and_who_passed() -> None:
    """A step's rate counts only chains that reached it: Perl is not blamed for what PHP broke."""
    steps = translation.by_language(parts_of([0, 1, 1, 3, 5, 5]))
    assert [step.title for step in steps] == ["PHP", "Ruby", "JavaScript", "Perl", "Python"]
    assert [(step.reached, step.passed) for step in steps] == [(6, 5), (5, 3), (3, 3), (3, 2), (2, 2)]
    assert [step.rate for step in steps] == pytest.approx([5 / 6, 3 / 5, 1, 2 / 3, 1])


def test_asl_is_that_of_the_loop() -> None:
    """EVALOOOP's equation 1 with M = 5 and s = 1."""
    sustained = [0, 1, 1, 2, 3, 4, 5, 5]
    total = sum(part.numerator for part in parts_of(sustained)["asl"]) / len(sustained)
    assert total == pytest.approx(loop.asl_of_counts([sustained.count(n) for n in range(6)], 5))


def test_nothing_run_has_no_rates() -> None:
    """No task, no rate, and no division by nothing."""
    assert all(math.isnan(step.rate) for step in translation.by_language(parts_of([])))
