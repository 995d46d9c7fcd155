"""Runs a plan: several models at a time, until all is done or the run is stopped."""

import asyncio
import contextlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from triathlon_runner.datasets import FunctionProblem
from triathlon_runner.grading import Grader
from triathlon_runner.schedule._model_run import ModelRun
from triathlon_runner.schedule._models import ModelOpener
from triathlon_runner.schedule._plan import Pace, RunPlan, Work
from triathlon_runner.schedule._progress import ConsoleProgress
from triathlon_runner.schedule._stop import CTRL_C, Control
from triathlon_runner.store import ResultsFolder, Unit
from triathlon_runner.terminal import counted

STOP_SECONDS = 30.0
"""How long a stop waits for requests in flight and for programs."""
_CHECK_SECONDS = 0.25
"""Between two checks of the bounds while nothing is sent, and of what a stop still waits for."""
_SAY_SECONDS = 5.0


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
    profile: str
    """Its name, for the manifests."""
    control: Control = field(default_factory=Control)
    ask_again: bool = field(default=False, kw_only=True)
    """Whether results of other conditions are archived and their units asked anew."""
    stop_seconds: float = field(default=STOP_SECONDS, kw_only=True)
    """How long a stop waits for requests in flight and programs being graded."""
    reference_seconds: Callable[[FunctionProblem], float] = field(default=lambda _: 0.0, kw_only=True)
    """How long a problem's reference computes; 0 where that is not known yet. Slow ones are asked first."""

    summary: Summary = field(init=False, default_factory=Summary)
    pace: Pace | None = field(init=False, default=None)
    """Of the plan that is run."""
    opening: set[asyncio.Task[None]] = field(init=False, default_factory=set)
    """Tasks that wait for their model's server."""
    units: int = field(init=False, default=0)
    """Units that were begun and have not ended."""

    def __post_init__(self) -> None:
        """Connects the stop with what waits."""
        self._stopping = asyncio.Event()
        self._broken: dict[str, set[tuple[str, Unit]]] = defaultdict(set)
        """By model: units, with their suites, that are not tried again in this run."""
        self._last_tries: dict[str, ModelRun] = {}
        self._tasks: list[asyncio.Task[None]] = []
        self.control.on_stop += [self._stopping.set, self._wait_no_longer]

    async def run(self, plan: RunPlan) -> Summary:
        """Runs all of it: models behind an API at the same time, those that we serve as there is room.

        A model whose server stopped answering is tried once more after all others.

        Raises:
            UserError: the results folder cannot be read or written; what was written stays whole.
        """
        self.pace = plan.pace
        watch = asyncio.create_task(self._watch())
        try:
            await self._run_models(plan.work.values())
            tries = list(self._last_tries.values())
            unreachable = [model_run.works for model_run in tries if model_run.server_is_unreachable]
            if unreachable and len(plan.work) > 1 and not self.control.stopped:
                for works in unreachable:
                    self.progress.say(f"{works[0].row.id}: its server did not answer; trying once more")
                await self._run_models(unreachable)
        finally:
            watch.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await watch
            self._sum_up()
        return self.summary

    async def _run_models(self, plan: Iterable[Sequence[Work]]) -> None:
        """Runs each; a model whose task is cancelled writes what it has, and the others go on."""
        async with asyncio.TaskGroup() as group:
            for works in filter(None, plan):
                model = works[0].row.id
                self._last_tries[model] = ModelRun(self, works, self._broken[model])
                self._tasks.append(group.create_task(self._last_tries[model].run()))

    def _sum_up(self) -> None:
        self.summary.stopped = self.control.stopped
        for model_run in self._last_tries.values():
            self.summary.open += model_run.open
            self.summary.failures.update(model_run.failures)
            self.summary.errors += model_run.errors
        self.summary.broken = sum(map(len, self._broken.values()))

    async def _watch(self) -> None:
        """Stops the run at its deadline, and sees to it that a run which is to stop ends soon."""
        while self.control.may_send():
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._stopping.wait(), _CHECK_SECONDS)
        ctrl_c = "a second Ctrl-C" if self.control.stopped == CTRL_C else "Ctrl-C"
        self.progress.say(
            f"{self.control.stopped}: finishing what is in flight ({self._in_flight()}), for at most"
            f" {self.stop_seconds:g} s; what is finished is kept; {ctrl_c} stops at once"
        )
        clock = asyncio.get_running_loop().time
        ends, say_again = clock() + self.stop_seconds, clock() + _SAY_SECONDS
        while clock() < ends:
            if not self.control.in_flight:
                self.control.release()
            await asyncio.sleep(min(_CHECK_SECONDS, max(0.0, ends - clock())))
            if self.units and clock() >= say_again:
                say_again += _SAY_SECONDS
                self.progress.say(f"stopping: waiting for {self._in_flight()}")
        if self.units:
            self.progress.say(f"{self.stop_seconds:g} s are over; given up: {self._in_flight()}")
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
