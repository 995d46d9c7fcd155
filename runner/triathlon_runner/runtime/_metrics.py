"""The metrics of the runtime discipline, all from the records (REval, sections III-B and III-C).

The cluster of every metric is the program: answers about one program are correlated.
"""

from collections.abc import Callable, Iterator, Sequence
from operator import attrgetter
from typing import Final, Literal

from triathlon_runner.metrics import Contribution, Metric
from triathlon_runner.records import RuntimeRecord, UnitRecord
from triathlon_runner.runtime._chain import chains
from triathlon_runner.runtime._grade import read_coverage


def _units(records: Sequence[UnitRecord]) -> Iterator[RuntimeRecord]:
    return (record for record in records if isinstance(record, RuntimeRecord))


def _units_with_statements(records: Sequence[UnitRecord]) -> Iterator[RuntimeRecord]:
    return (unit for unit in _units(records) if unit.statements)


def _share_right(
    step: Literal["coverage", "state", "path"],
) -> Callable[[Sequence[UnitRecord]], list[Contribution]]:
    answer = attrgetter(step)

    def contributions(records: Sequence[UnitRecord]) -> list[Contribution]:
        return [
            Contribution(
                unit.program_id,
                sum(answer(statement).correct for statement in unit.statements),
                len(unit.statements),
            )
            for unit in _units_with_statements(records)
        ]

    return contributions


def _output_right(records: Sequence[UnitRecord]) -> list[Contribution]:
    """One question a (program, input): N' of the paper."""
    return [Contribution(unit.program_id, unit.output.correct, 1) for unit in _units(records)]


def _f1_of_yes(records: Sequence[UnitRecord]) -> list[Contribution]:
    """F1 = 2 TP / (2 TP + FP + FN) of the answer YES; an unusable answer to an executed line is a miss."""

    def parts() -> Iterator[Contribution]:
        for unit in _units_with_statements(records):
            hits = mistakes = 0
            for statement in unit.statements:
                answer = statement.coverage.answer
                answered_yes = answer is not None and read_coverage(answer) is True
                true = "YES" in statement.coverage.expected
                hits += answered_yes and true
                mistakes += answered_yes != true
            yield Contribution(unit.program_id, 2 * hits, 2 * hits + mistakes)

    return list(parts())


def _average(records: Sequence[UnitRecord]) -> list[Contribution]:
    """The mean of the four accuracies: output questions, being fewer, weigh as much in all as the others."""
    units = list(_units(records))
    statements = sum(len(unit.statements) for unit in units)
    weight = statements / len(units) if units else 0.0

    def parts() -> Iterator[Contribution]:
        for unit in units:
            right = sum(
                answer.correct
                for statement in unit.statements
                for answer in (statement.coverage, statement.state, statement.path)
            )
            share = (right + weight * unit.output.correct) / 4.0
            yield Contribution(unit.program_id, share, len(unit.statements))

    return list(parts())


def _consistency(records: Sequence[UnitRecord]) -> list[Contribution]:
    return [
        Contribution(unit.program_id, sum(chain.score for chain in chains(unit)), len(unit.statements))
        for unit in _units_with_statements(records)
    ]


IC: Final = Metric(
    id="ic",
    title="Incremental consistency",
    source="REval, section III-C",
    contributions=_consistency,
    scale=100.0,
    maximum=100.0,
    role="headline",
)
AVERAGE: Final = Metric(
    id="average_accuracy",
    title="Average accuracy",
    source="REval, table III: the mean of the four accuracies",
    contributions=_average,
)
METRICS: Final = (
    IC,
    AVERAGE,
    Metric("coverage_accuracy", "Coverage", "REval, section III-B1 (CCP)", _share_right("coverage")),
    Metric("coverage_f1", "Coverage F1", "REval, section III-B1 (CCP)", _f1_of_yes),
    Metric("state_accuracy", "State", "REval, section III-B2 (PSP)", _share_right("state")),
    Metric("path_accuracy", "Path", "REval, section III-B3 (EPP)", _share_right("path")),
    Metric("output_accuracy", "Output", "REval, section III-B4 (OP)", _output_right),
)
