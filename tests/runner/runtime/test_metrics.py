"""The metrics, recomputed by hand."""

import itertools
import math

import pytest

from support.hashes import hashes
from triathlon_runner.records import AnswerRecord, Outcome, Reply, RuntimeRecord, StatementRecord
from triathlon_runner.runtime import IC, METRICS, consistency

BY_ID = {metric.id: metric for metric in METRICS}


def answer(right: bool, *, text: str = "x", expected: str = "x") -> AnswerRecord:
    outcome = Outcome.PASSED if right else Outcome.FAILED
    return AnswerRecord(
        reply=Reply(text=text), answer=text, expected=(expected,), outcome=outcome, correct=right
    )


def coverage(right: bool, executed: bool) -> AnswerRecord:
    """A wrong answer is unusable where the line is executed."""
    expected, wrong = ("YES", "perhaps") if executed else ("NO", "YES")
    return answer(right, text=expected if right else wrong, expected=expected)


def unit(
    program: str, rows: list[tuple[bool, bool, bool]], output: bool, *, executed: bool = True
) -> RuntimeRecord:
    statements = tuple(
        StatementRecord(
            line=number, variable="v", coverage=coverage(one, executed), state=answer(two), path=answer(three)
        )
        for number, (one, two, three) in enumerate(rows, start=1)
    )
    return RuntimeRecord(
        suite="runtime/t", model="m", task_id=f"{program}#0", protocol=hashes("p"),
        outcome=Outcome.FAILED, style="direct", program_id=program, program="x = 1", input="f()",
        statements=statements, output=answer(output), output_by_authors=not output,
        output_masks_call=program == "b",
    )  # fmt: skip


def test_consistency_scores_of_all_sixteen_chains() -> None:
    """1111, 1110, 1100 and 1000 score 1, 1/2, 1/4, 1/8; every other chain scores 0 (section III-C)."""
    both = (True, False)
    chains = itertools.product(both, both, both, both)
    scores = {chain: score for chain in chains if (score := consistency(chain))}
    assert scores == {(1, 1, 1, 1): 1.0, (1, 1, 1, 0): 0.5, (1, 1, 0, 0): 0.25, (1, 0, 0, 0): 0.125}


RECORDS = [
    unit("a", [(True, True, True), (True, False, False)], output=True),
    unit("a", [(False, True, False)], output=False),
    unit("b", [(True, True, False), (False, False, True), (True, True, True)], output=False, executed=False),
]
"""Chains: 1111, 1001 | 0100 | 1100, 0010, 1110."""


@pytest.mark.parametrize(
    ("metric", "score"),
    [
        ("coverage_accuracy", 4 / 6), ("state_accuracy", 4 / 6), ("path_accuracy", 3 / 6),
        ("output_accuracy", 1 / 3), ("average_accuracy", (4 / 6 + 4 / 6 + 3 / 6 + 1 / 3) / 4),
        ("ic", 100 * (1 + 0 + 0 + 1 / 4 + 0 + 1 / 2) / 6), ("coverage_f1", 2 * 2 / (2 * 2 + 1 + 1)),
        ("output_accuracy_authors", 2 / 3), ("constant_coverage_accuracy", 3 / 6),
        ("constant_state_accuracy", 0.0), ("constant_path_accuracy", 0.0), ("constant_ic", 12.5 * 3 / 6),
    ],
)  # fmt: skip
def test_scores_by_hand(metric: str, score: float) -> None:
    """Statements count for three of the questions, units for the output; F1 = 2 TP / (2 TP + FP + FN)."""
    assert BY_ID[metric].score(RECORDS) == pytest.approx(score)


def test_programs_of_equal_accuracies_have_equal_averages() -> None:
    """However many statements they have: an interval is made of how the programs' parts differ."""
    first, row = (True, False, True), (True, False, False)
    records = [unit("a", [row], output=True), unit("b", [row, first, row], output=True)]
    a, b = BY_ID["average_accuracy"].contributions(records)
    assert a.numerator / a.denominator == pytest.approx((1 + 0 + 0 + 1) / 4)
    assert b.numerator / b.denominator == pytest.approx((1 + 0 + 1 / 3 + 1) / 4)


def test_every_metric() -> None:
    """A bootstrap draws programs, not questions; no records give no number, not zero; IC is the headline."""
    for metric in METRICS:
        assert {part.cluster for part in metric.contributions(RECORDS)} == {"a", "b"}
        assert math.isnan(metric.score([]))
    assert [metric.id for metric in METRICS if metric.headline] == ["ic"]
    assert IC.maximum == IC.scale == 100.0
