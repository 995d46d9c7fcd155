"""What the parts of one run share, and how the run and each model's part of it ended."""

import asyncio
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from triathlon_runner.grading import Grader
from triathlon_runner.schedule._manifest import Conditions
from triathlon_runner.schedule._open import ModelOpener
from triathlon_runner.schedule._plan import Pace
from triathlon_runner.schedule._progress import Progress
from triathlon_runner.schedule._stop import Control
from triathlon_runner.store import ResultsFolder


@dataclass(slots=True)
class Summary:
    """How a run ended."""

    finished: int = 0
    open: int = 0
    other_protocol: dict[str, str] = field(default_factory=dict)
    """`model suite` whose lines were made under other conditions, and which: they are left as they are."""
    errors: list[str] = field(default_factory=list)
    """Models that could not be run to their end, each with what to do."""
    failures: Counter[str] = field(default_factory=Counter)
    """Why units stay open."""
    broken: int = 0
    """Units that stay open because of an error in this program; the log has the tracebacks."""
    notes: list[str] = field(default_factory=list)
    """Notes for a reader of the results, such as that the judge could not be asked any more."""
    stopped: str = ""
    """Why the run stopped early; empty where it did not."""

    @property
    def exit_code(self) -> int:
        return 2 if self.errors else 1 if self.open else 0


@dataclass(slots=True)
class ModelEnd:
    """How the last try of one model ended."""

    open: int = 0
    failures: Counter[str] = field(default_factory=Counter)
    errors: list[str] = field(default_factory=list)
    server_is_unreachable: bool = False
    """Its server does not answer; another attempt later may succeed."""


@dataclass(slots=True)
class UnitsInFlight:
    """The asyncio tasks that run a unit: a stop waits for them and cancels them at its time limit."""

    tasks: set[asyncio.Task[None]] = field(default_factory=set)
    is_cut: bool = False

    @contextmanager
    def unit(self) -> Iterator[None]:
        """Registers the current task while it runs a unit; cancelling ends the unit, not the task."""
        task = asyncio.current_task()
        assert task is not None
        self.tasks.add(task)
        try:
            yield
        except asyncio.CancelledError:
            if not self.is_cut:
                raise
            task.uncancel()
        finally:
            self.tasks.discard(task)

    def cut(self) -> None:
        """Cancels all units in flight."""
        self.is_cut = True
        for task in self.tasks:
            task.cancel()


@dataclass(slots=True)
class RunContext:
    """Where results go, who grades, who opens models, and how far the run is."""

    folder: ResultsFolder
    grader: Grader
    opener: ModelOpener
    progress: Progress
    conditions: Conditions
    control: Control
    ask_again: bool = False
    """Whether results of other conditions are archived and their units asked anew."""
    summary: Summary = field(default_factory=Summary)
    units: UnitsInFlight = field(default_factory=UnitsInFlight)
    opening: set[asyncio.Task[None]] = field(default_factory=set)
    """Tasks that wait for their model's server."""
    pace: Pace | None = None
    """Of the plan that is run."""
