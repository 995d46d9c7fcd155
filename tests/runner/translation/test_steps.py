"""The translation loop by language, from the lines alone."""

import math

import pytest

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
            protocol="p",
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
    assert [(step.reached, step.passed, step.stopped) for step in steps] == [
        (6, 5, 2),
        (5, 3, 0),
        (3, 3, 1),
        (3, 2, 0),
        (2, 2, 2),
    ]
    assert [step.rate for step in steps] == pytest.approx([5 / 6, 3 / 5, 1, 2 / 3, 1])


def test_the_steps_sum_to_asl() -> None:
    """Each step holds its term of EVALOOOP's equation 1 with s = 1."""
    sustained = [0, 1, 1, 2, 3, 4, 5, 5]
    parts = parts_of(sustained)
    total = sum(part.numerator for part in parts["asl"]) / len(sustained)
    assert sum(step.asl for step in translation.by_language(parts)) == pytest.approx(total)
    counts = [sustained.count(n) for n in range(6)]
    assert total == pytest.approx(loop.asl_of_counts(counts, 5))


def test_nothing_run_has_no_rates() -> None:
    """No task, no rate, and no division by nothing."""
    assert all(math.isnan(step.rate) and step.asl == 0 for step in translation.by_language(parts_of([])))
