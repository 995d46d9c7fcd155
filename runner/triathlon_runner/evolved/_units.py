"""The fields of a result that scores and analyses read: of a record, or of what a site stores of one."""

from typing import Final, Protocol

from triathlon_runner.records import Outcome

PASSED: Final = Outcome.PASSED.value


class Unit(Protocol):
    """One sample of one task and how it ended."""

    @property
    def task_id(self) -> str: ...

    @property
    def sample(self) -> int: ...

    @property
    def outcome(self) -> str:
        """An `Outcome`, or its value."""
        ...


class Linked(Unit, Protocol):
    """A unit that knows what its problem was evolved from."""

    @property
    def parents(self) -> tuple[str, ...]:
        """task_ids; empty in a seed set."""
        ...


def passed(unit: Unit) -> bool:
    return unit.outcome == PASSED
