"""The metrics of the runtime discipline, all from the records (REval, sections III-B and III-C).

The cluster of every metric is the program: answers about one program are correlated.
"""

from collections.abc import Callable, Iterable, Sequence
from operator import attrgetter
from typing import Final, Literal

from triathlon_runner.metrics import Contribution, Metric, pass_at_k_metric
from triathlon_runner.records import RuntimeRecord, UnitRecord
from triathlon_runner.runtime._grade import read_coverage
from triathlon_runner.runtime._questions import NIL

Chain = tuple[bool, bool, bool, bool]
"""R_i of the paper: about one (program, input, line, variable), whether coverage, state, path and output are
right. Each needs what the one before it needs: a right answer behind a wrong one is inconsistent.
"""
_CONSISTENT: Final[dict[tuple[bool, ...], float]] = {
    tuple(step <= last for step in range(4)): 0.5 ** (3 - last) for last in range(4)
}
"""ICS_i of the consistent chains: right up to some step."""


def consistency(chain: Chain) -> float:
    """ICS_i: 1 for 1111, 1/2 for 1110, 1/4 for 1100, 1/8 for 1000, else 0."""
    return _CONSISTENT.get(chain, 0.0)


def chains(unit: RuntimeRecord) -> list[Chain]:
    """All chains of one (program, input); the verdict on the output counts for every statement."""
    output = unit.output.correct
    return [(one.coverage.correct, one.state.correct, one.path.correct, output) for one in unit.statements]


def _units(records: Sequence[UnitRecord]) -> list[RuntimeRecord]:
    return [record for record in records if isinstance(record, RuntimeRecord)]


_Contributions = Callable[[Sequence[UnitRecord]], list[Contribution]]


def _of_units(count: Callable[[RuntimeRecord], tuple[float, float] | None]) -> _Contributions:
    """Numerator and denominator that each unit adds; units without a count (None) are left out."""

    def contributions(records: Sequence[UnitRecord]) -> list[Contribution]:
        counted = ((unit.program_id, count(unit)) for unit in _units(records))
        return [Contribution(program, *counts) for program, counts in counted if counts is not None]

    return contributions


def _mean(values: Callable[[RuntimeRecord], Iterable[float]]) -> _Contributions:
    """The mean of a unit's values, one for each statement; units without statements are left out."""
    return _of_units(lambda unit: (sum(values(unit)), len(unit.statements)) if unit.statements else None)


def _f1_of_yes(unit: RuntimeRecord) -> tuple[float, float] | None:
    """F1 = 2 TP / (2 TP + FP + FN) of the answer YES; an unusable answer to an executed line is a miss."""
    if not unit.statements:
        return None
    hits = mistakes = 0
    for statement in unit.statements:
        answer = statement.coverage.answer
        answered_yes = answer is not None and read_coverage(answer) is True
        true = "YES" in statement.coverage.expected
        hits += answered_yes and true
        mistakes += answered_yes != true
    return 2 * hits, 2 * hits + mistakes


_ARE_RIGHT: Final = attrgetter("coverage.correct", "state.correct", "path.correct")


def _average(records: Sequence[UnitRecord]) -> list[Contribution]:
    """The mean of the four accuracies: output questions, being fewer, weigh as much in all as the others.

    Statements that a unit has beyond the mean, or lacks, count as the outputs are right on average. In all
    they are none; without them the number of statements would move a program's part in the output's accuracy,
    and intervals, which are made of the programs' parts, would be too wide.
    """
    units = _units(records)
    weight = sum(len(unit.statements) for unit in units) / len(units) if units else 0.0
    outputs = sum(unit.output.correct for unit in units) / len(units) if units else 0.0
    contributions = []
    for unit in units:
        right = sum(map(sum, map(_ARE_RIGHT, unit.statements)))
        of_output = weight * unit.output.correct + outputs * (len(unit.statements) - weight)
        contributions.append(Contribution(unit.program_id, (right + of_output) / 4.0, len(unit.statements)))
    return contributions


_Kind = Literal["coverage", "state", "path"]


def _accuracy(kind: _Kind, source: str) -> Metric:
    """The share of right answers to one of the questions about lines."""
    is_right = attrgetter(f"{kind}.correct")
    right = _mean(lambda unit: map(is_right, unit.statements))
    return Metric(f"{kind}_accuracy", kind.capitalize(), source, right)


def _constant(metric_id: str, title: str, kind: _Kind, answer: str, *, scale: float = 1.0) -> Metric:
    """What a constant answer to every question scores: a model below it has shown nothing.

    `metric_id` is the metric that it is compared with. For IC the scale is 12.5, as an answer YES makes a
    chain 1000 where it is right, and 0000 elsewhere.
    """
    expected = attrgetter(f"{kind}.expected")
    right = _mean(lambda unit: [answer in answers for answers in map(expected, unit.statements)])
    maximum, source = 100.0 if scale != 1.0 else 1.0, "counted from the truths"
    return Metric(f"constant_{metric_id}", title, source, right, scale, maximum, role="beside")


IC: Final = Metric(
    "ic",
    "Incremental consistency",
    "REval, section III-C",
    _mean(lambda unit: map(consistency, chains(unit))),
    scale=100.0,
    maximum=100.0,
    role="headline",
)
METRICS: Final = (
    IC,
    Metric(
        "average_accuracy",
        "Average accuracy",
        "REval, table III: the mean of the four accuracies",
        _average,
        additive=False,
    ),
    _accuracy("coverage", "REval, section III-B1 (CCP)"),
    Metric("coverage_f1", "Coverage F1", "REval, section III-B1 (CCP)", _of_units(_f1_of_yes)),
    _accuracy("state", "REval, section III-B2 (PSP)"),
    _accuracy("path", "REval, section III-B3 (EPP)"),
    # One question a (program, input): N' of the paper.
    Metric(
        "output_accuracy",
        "Output",
        "REval, section III-B4 (OP)",
        _of_units(lambda unit: (unit.output.correct, 1)),
    ),
    Metric(
        "output_accuracy_authors",
        "Output, the authors' rule",
        "REval's evaluation: fewer assertions than the question fail, what is left is executed",
        _of_units(lambda unit: None if unit.output_by_authors is None else (unit.output_by_authors, 1)),
        role="beside",
    ),
    _constant("coverage_accuracy", "Coverage, always YES", "coverage", "YES"),
    _constant("state_accuracy", "State, always Nil", "state", NIL),
    _constant("path_accuracy", "Path, always -1", "path", "-1"),
    _constant("ic", "Incremental consistency, always YES and nothing else", "coverage", "YES", scale=12.5),
)
_CRUXEVAL: Final = "CRUXEval (Gu et al. 2024), section 3: over 10 samples a task at temperature 0.2"
PREDICTION_METRICS: Final = (pass_at_k_metric(1, _CRUXEVAL), pass_at_k_metric(5, _CRUXEVAL))
"""pass@5 is undefined where a task has fewer than 5 samples."""
