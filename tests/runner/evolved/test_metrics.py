"""pass@1 and the unbiased pass@k."""

import math
from itertools import combinations

import pytest

from support.hashes import hashes
from triathlon_runner.evolved import pass_at_k
from triathlon_runner.metrics import pass_at_k_of
from triathlon_runner.records import Outcome, UnitRecord

OUTCOMES = {"p": Outcome.PASSED, "f": Outcome.FAILED, "t": Outcome.TRUNCATED}


@pytest.mark.parametrize(
    ("k", "samples", "score"),
    [
        (1, {"a": "p", "b": "f", "c": "t", "d": "p"}, 0.5),
        (2, {"a": "pff", "b": "pp", "c": "ff"}, (2 / 3 + 1 + 0) / 3),
        (3, {"a": "ppp", "b": "f"}, 1.0),
        (3, {"b": "f"}, math.nan),
        (1, {}, math.nan),
    ],
)
def test_pass_at_k(k: int, samples: dict[str, str], score: float) -> None:
    """A mean over tasks, each with its own number of samples; one with fewer than k says nothing.

    Every outcome but passed counts as not passed. Without a task there is no score, not a 0.
    """
    records = [
        UnitRecord(suite="s", model="m", task_id=task, protocol=hashes(""), outcome=OUTCOMES[letter])
        for task, letters in samples.items()
        for letter in letters
    ]
    assert pass_at_k(k).score(records) == pytest.approx(score, nan_ok=True)


@pytest.mark.parametrize("k", [1, 2, 3, 5])
@pytest.mark.parametrize("correct", range(6))
def test_unbiased(k: int, correct: int) -> None:
    """The estimate is the share of k-subsets of the samples that hold a correct one; it needs k samples."""
    subsets = list(combinations([True] * correct + [False] * (5 - correct), k))
    assert pass_at_k_of(5, correct, k) == pytest.approx(sum(map(any, subsets)) / len(subsets))
    with pytest.raises(ValueError, match="k <= samples"):
        pass_at_k_of(k - 1, 0, k)
