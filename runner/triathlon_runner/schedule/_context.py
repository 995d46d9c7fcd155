"""What the parts of one run share, and how the run ended."""

import asyncio
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from triathlon_runner.datasets import FunctionProblem
from triathlon_runner.grading import Grader
from triathlon_runner.schedule._manifest import Conditions
from triathlon_runner.schedule._open import ModelOpener
from triathlon_runner.schedule._panel import ConsoleProgress
from triathlon_runner.schedule._plan import Pace
from triathlon_runner.schedule._stop import Control
from triathlon_runner.store import ResultsFolder


@dataclass(slots=True)
class Summary:
    """How a run ended."""

    finished: int = 0
    asked: int = 0
    """Of the units finished, those that a server was asked for; the cache had all replies of the others."""
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


def _unknown(_: FunctionProblem) -> float:
    return 0.0


@dataclass
class RunContext:
    """Where results go, who grades, who opens models, and how far the run is."""

    folder: ResultsFolder
    grader: Grader
    opener: ModelOpener
    """Its requests should pass the same `control`."""
    progress: ConsoleProgress
    conditions: Conditions
    control: Control = field(default_factory=Control)
    ask_again: bool = field(default=False, kw_only=True)
    """Whether results of other conditions are archived and their units asked anew."""
    reference_seconds: Callable[[FunctionProblem], float] = field(default=_unknown, kw_only=True)
    """How long a problem's reference computes; 0 where that is not known yet. Slow ones are asked first."""
    summary: Summary = field(init=False, default_factory=Summary)
    pace: Pace | None = field(init=False, default=None)
    """Of the plan that is run."""
    opening: set[asyncio.Task[None]] = field(init=False, default_factory=set)
    """Tasks that wait for their model's server."""
    units: int = field(init=False, default=0)
    """Units that were begun and have not ended."""
