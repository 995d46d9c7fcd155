"""pass@1 and the unbiased pass@k."""

import math
from itertools import combinations

import pytest

from support.hashes import hashes
from triathlon_runner.evolved import PASS_AT_1, pass_at_k
from triathlon_runner.metrics import pass_at_k_of
from triathlon_runner.records import Outcome, UnitRecord


def _records(outcomes: dict[str, str]) -> list[UnitRecord]:
    """`p` passed, `f` failed, `t` truncated: one letter a sample."""
    names = {"p": Outcome.PASSED, "f": Outcome.FAILED, "t": Outcome.TRUNCATED}
    return [
        UnitRecord(
            suite="s", model="m", task_id=task, sample=number, protocol=hashes(""), outcome=names[letter]
        )
        for task, letters in outcomes.items()
        for number, letter in enumerate(letters)
    ]


def test_pass_at_1_of_one_sample() -> None:
    """With one sample, pass@1 is the share of tasks passed; every other outcome counts as not passed."""
    assert PASS_AT_1.score(_records({"a": "p", "b": "f", "c": "t", "d": "p"})) == 0.5


@pytest.mark.parametrize("k", [1, 2, 3, 5])
@pytest.mark.parametrize("correct", range(6))
def test_unbiased(k: int, correct: int) -> None:
    """The estimate is the share of k-subsets of the samples that hold a correct one, counted out."""
    samples = [True] * correct + [False] * (5 - correct)
    subsets = list(combinations(samples, k))
    assert pass_at_k_of(5, correct, k) == pytest.approx(sum(map(any, subsets)) / len(subsets))


def test_pass_at_k_is_a_mean_over_tasks() -> None:
    """pass@2 averages over tasks, each with its own number of samples."""
    assert pass_at_k(2).score(_records({"a": "pff", "b": "pp", "c": "ff"})) == pytest.approx(
        (2 / 3 + 1 + 0) / 3
    )


def test_too_few_samples() -> None:
    """A task with fewer than k samples says nothing about pass@k."""
    assert pass_at_k(3).score(_records({"a": "ppp", "b": "f"})) == 1.0
    assert math.isnan(pass_at_k(3).score(_records({"b": "f"})))
    with pytest.raises(ValueError, match="k <= samples"):
        pass_at_k_of(2, 1, 3)


def test_no_records() -> None:
    """Without records there is no score, not a 0."""
    assert math.isnan(PASS_AT_1.score([]))
