"""The four answers about one (program, input, line, variable) as a chain (REval, section III-C).

Each question needs what the one before it needs, so a right answer behind a wrong one is inconsistent.
"""

from typing import NamedTuple

from triathlon_runner.records import RuntimeRecord, StatementRecord
from triathlon_runner.runtime._asking import KINDS


class Chain(NamedTuple):
    """R_i of the paper."""

    line: int
    variable: str
    right: tuple[bool, bool, bool, bool]
    """Whether coverage, state, path and output are right."""

    @property
    def consistent(self) -> bool:
        """Whether no right answer stands behind a wrong one."""
        return list(self.right) == sorted(self.right, reverse=True)

    @property
    def score(self) -> float:
        """ICS_i: 1 for 1111, 1/2 for 1110, 1/4 for 1100, 1/8 for 1000, else 0."""
        steps = sum(self.right)
        return 0.5 ** (len(KINDS) - steps) if self.consistent and steps else 0.0


def chain(unit: RuntimeRecord, statement: StatementRecord) -> Chain:
    """The chain of one statement; the verdict on the output counts for every statement of its unit."""
    right = (
        statement.coverage.correct,
        statement.state.correct,
        statement.path.correct,
        unit.output.correct,
    )
    return Chain(statement.line, statement.variable, right)


def chains(unit: RuntimeRecord) -> tuple[Chain, ...]:
    """All chains of one (program, input)."""
    return tuple(chain(unit, statement) for statement in unit.statements)
