"""Runs a plan: several models at a time, until all is done or the run is stopped."""

import asyncio
import contextlib
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from triathlon_runner.schedule._context import RunContext, Summary
from triathlon_runner.schedule._model_run import ModelRun
from triathlon_runner.schedule._plan import RunPlan, Work
from triathlon_runner.schedule._stop import CTRL_C, Stop
from triathlon_runner.store import Unit
from triathlon_runner.terminal import counted

STOP_SECONDS = 30.0
"""How long a stop waits for requests in flight and for programs."""
_CHECK_SECONDS = 0.25
"""Between two checks of the bounds while nothing is sent, and of what a stop still waits for."""
_SAY_SECONDS = 5.0


@dataclass
class Runner(RunContext):
    """Runs plans against one results folder."""

    stop_seconds: float = field(default=STOP_SECONDS, kw_only=True)
    """How long a stop waits for requests in flight and programs being graded."""

    def __post_init__(self) -> None:
        """Connects the stop with what waits."""
        self._stopping = asyncio.Event()
        self._broken: dict[str, set[tuple[str, Unit]]] = defaultdict(set)
        """By model: units, with their suites, that are not tried again in this run."""
        self._last_tries: dict[str, ModelRun] = {}
        self._tasks: list[asyncio.Task[None]] = []
        self.stop.on_stop += [self._stopping.set, self._wait_no_longer]

    @property
    def stop(self) -> Stop:
        """Set to end the run early."""
        return self.control.stop

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
            if unreachable and len(plan.work) > 1 and not self.stop.asked:
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
        self.summary.stopped = self.stop.reason
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
        ctrl_c = "a second Ctrl-C" if self.stop.reason == CTRL_C else "Ctrl-C"
        self.progress.say(
            f"{self.stop.reason}: finishing what is in flight ({self._in_flight()}), for at most"
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
