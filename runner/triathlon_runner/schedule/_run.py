"""Runs a plan: several models at a time, until all is done or the run is stopped."""

import asyncio
import contextlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from triathlon_runner.grading import Grader
from triathlon_runner.schedule._model_run import ModelRun
from triathlon_runner.schedule._models import ModelOpener
from triathlon_runner.schedule._plan import RunPlan
from triathlon_runner.schedule._progress import ConsoleProgress
from triathlon_runner.schedule._stop import CHECK_SECONDS, CTRL_C, Control
from triathlon_runner.store import ResultsFolder
from triathlon_runner.terminal import counted


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


@dataclass
class Runner:
    """Runs a plan against one results folder."""

    folder: ResultsFolder
    grader: Grader
    opener: ModelOpener
    """Its requests should pass the same `control`."""
    progress: ConsoleProgress
    control: Control = field(default_factory=Control)

    summary: Summary = field(init=False, default_factory=Summary)
    plan: RunPlan = field(init=False, default_factory=RunPlan)
    """The plan that is run."""
    opening: set[asyncio.Task[None]] = field(init=False, default_factory=set)
    """Tasks that wait for their model's server."""
    units: int = field(init=False, default=0)
    """Units that were begun and have not ended."""

    def __post_init__(self) -> None:
        """Connects the stop with what waits."""
        self._stopping = asyncio.Event()
        self._models: list[ModelRun] = []
        self._tasks: list[asyncio.Task[None]] = []
        self.control.on_stop += [self._stopping.set, self._wait_no_longer]

    async def run(self, plan: RunPlan) -> Summary:
        """Runs all of it: models behind an API at the same time, those that we serve as there is room.

        A model whose server stopped answering is tried once more after all others.

        Raises:
            UserError: the results folder cannot be read or written; what was written stays whole.
        """
        self.plan = plan
        self._models = [ModelRun(self, works) for works in plan.work.values() if works]
        watch = asyncio.create_task(self._watch())
        try:
            await self._run_models(self._models)
            unreachable = [model for model in self._models if model.server_is_unreachable]
            if unreachable and len(plan.work) > 1 and not self.control.stopped:
                for model in unreachable:
                    self.progress.say(f"{model.id}: its server did not answer; trying once more")
                await self._run_models(unreachable)
        finally:
            watch.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await watch
            self._sum_up()
        return self.summary

    async def _run_models(self, models: Sequence[ModelRun]) -> None:
        """Runs each; a model whose task is cancelled writes what it has, and the others go on."""
        async with asyncio.TaskGroup() as group:
            self._tasks += [group.create_task(model.run()) for model in models]

    def _sum_up(self) -> None:
        self.summary.stopped = self.control.stopped
        for model in self._models:
            self.summary.open += model.open
            self.summary.failures.update(model.failures)
            self.summary.errors += model.errors
            self.summary.broken += len(model.broken)

    async def _watch(self) -> None:
        """Stops the run at its deadline, and sees to it that a run which is to stop ends soon."""
        while self.control.may_send():
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._stopping.wait(), CHECK_SECONDS)
        ctrl_c = "a second Ctrl-C" if self.control.stopped == CTRL_C else "Ctrl-C"
        stop_seconds = self.control.stop_seconds
        self.progress.say(
            f"{self.control.stopped}: finishing what is in flight ({self._in_flight()}), for at most"
            f" {stop_seconds:g} s; what is finished is kept; {ctrl_c} stops at once"
        )
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(stop_seconds):
                await self.control.end_waits()
        if self.units:
            self.progress.say(f"{stop_seconds:g} s are over; given up: {self._in_flight()}")
        for task in self._tasks:
            task.cancel()

    def _in_flight(self) -> str:
        requests = self.control.in_flight
        grading = max(0, self.units - self.control.waiting)
        return f"{counted(requests, 'request')}, {counted(grading, 'unit')} being graded"

    def _wait_no_longer(self) -> None:
        """Ends the waiting for servers: nothing new is started."""
        for task in self.opening:
            task.cancel()
