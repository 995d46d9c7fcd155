"""The order and the speed in which a run takes its units, where these are not the schedule's own."""

from typing import Protocol

from triathlon_runner.records import UnitRecord
from triathlon_runner.store import Unit


class Pace(Protocol):
    """Decides which units come first, and how far one model may run ahead of another."""

    def position(self, suite: str, unit: Unit) -> int:
        """Returns the unit's place in the order of all suites; the same for every model."""
        ...

    async def ready(self, model: str, suite: str, unit: Unit) -> None:
        """Returns once the unit may be asked, or once the run is to stop."""
        ...

    def finished(self, model: str, suite: str, unit: Unit, record: UnitRecord | None) -> None:
        """Called when a unit was tried; `record` is None if it stays open."""
        ...

    def ended(self, model: str) -> None:
        """Called when a model will be asked nothing more."""
        ...
