"""Runs a plan: several models at a time, until all is done or the run is stopped."""

import asyncio
import contextlib
from collections.abc import Sequence

from triathlon_runner.grading import Grader
from triathlon_runner.schedule._context import ModelEnd, RunContext, Summary
from triathlon_runner.schedule._manifest import Conditions
from triathlon_runner.schedule._model_run import ModelRun
from triathlon_runner.schedule._open import ModelOpener
from triathlon_runner.schedule._plan import RunPlan, Work
from triathlon_runner.schedule._progress import Progress
from triathlon_runner.schedule._stop import Control
from triathlon_runner.store import ResultsFolder, Unit
from triathlon_runner.terminal import counted

STOP_SECONDS = 30.0
"""How long a stop waits for requests in flight and for programs."""
_CHECK_SECONDS = 0.25
"""Between two checks of the bounds while nothing is sent, and of what a stop still waits for."""
_SAY_SECONDS = 5.0


class Runner:
    """Runs plans against one results folder."""

    def __init__(
        self,
        folder: ResultsFolder,
        grader: Grader,
        opener: ModelOpener,
        progress: Progress,
        conditions: Conditions,
        control: Control | None = None,
        *,
        ask_again: bool = False,
        stop_seconds: float = STOP_SECONDS,
    ) -> None:
        """Makes a runner for one run.

        Args:
            folder: where results are.
            grader: grades programs.
            opener: opens models; its requests should pass the same `control`.
            progress: gets every event of the run.
            conditions: what is the same for every suite, for the manifests.
            control: money, time and how the run is stopped.
            ask_again: archives results that were made under other conditions, and asks their units anew.
            stop_seconds: how long a stop waits for requests in flight and programs being graded.
        """
        self._control = control or Control()
        self._context = RunContext(folder, grader, opener, progress, conditions, self._control, ask_again)
        self._progress = progress
        self._stop_seconds = stop_seconds
        self._stopping = asyncio.Event()
        self._broken: dict[str, set[tuple[str, Unit]]] = {}
        """By model: units, with their suites, that are not tried again in this run."""
        self._ends: dict[str, ModelEnd] = {}
        self.stop = self._control.stop
        self.stop.on_stop += [self._wait_no_longer, self._stopping.set]

    @property
    def summary(self) -> Summary:
        """Totals of the run so far."""
        return self._context.summary

    async def run(self, plan: RunPlan) -> Summary:
        """Runs all of it: models behind an API at the same time, those that we serve as there is room.

        A model whose server stopped answering is tried once more after all others.

        Raises:
            UserError: the results folder cannot be read or written; what was written stays whole.
        """
        self._context.pace = plan.pace
        watch = asyncio.create_task(self._watch())
        try:
            await self._run_models(list(plan.work.values()))
            unreachable = [
                works
                for works in plan.work.values()
                if works and self._ends[works[0].row.id].server_is_unreachable
            ]
            if unreachable and len(plan.work) > 1 and not self.stop.asked:
                for works in unreachable:
                    self._progress.say(f"{works[0].row.id}: its server did not answer; trying once more")
                await self._run_models(unreachable)
        finally:
            watch.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await watch
            self._sum_up()
        return self.summary

    async def _run_models(self, plan: Sequence[Sequence[Work]]) -> None:
        async with asyncio.TaskGroup() as group:
            for works in plan:
                if works:
                    model = works[0].row.id
                    model_run = ModelRun(self._context, works, self._broken.setdefault(model, set()))
                    self._ends[model] = model_run.end
                    group.create_task(model_run.run())

    def _sum_up(self) -> None:
        self.summary.stopped = self.stop.reason
        for end in self._ends.values():
            self.summary.open += end.open
            self.summary.failures.update(end.failures)
            self.summary.errors += end.errors
        self.summary.broken = sum(map(len, self._broken.values()))

    async def _watch(self) -> None:
        """Stops the run at its deadline, and sees to it that a run which is to stop ends soon."""
        while self._control.may_send():
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._stopping.wait(), _CHECK_SECONDS)
        self._progress.say(
            f"{self.stop.reason}: finishing what is in flight ({self._in_flight()}), for at most"
            f" {self._stop_seconds:g} s; the next run goes on from here; Ctrl-C stops at once"
        )
        units = self._context.units
        clock = asyncio.get_running_loop().time
        ends = clock() + self._stop_seconds
        say_again = clock() + _SAY_SECONDS
        while clock() < ends:
            if not self._control.in_flight:
                self._control.release()
            await asyncio.sleep(min(_CHECK_SECONDS, max(0.0, ends - clock())))
            if units.tasks and clock() >= say_again:
                say_again += _SAY_SECONDS
                self._progress.say(f"stopping: waiting for {self._in_flight()}")
        if units.tasks:
            self._progress.say(f"{self._stop_seconds:g} s are over; given up: {self._in_flight()}")
        units.cut()

    def _in_flight(self) -> str:
        requests = self._control.in_flight
        grading = max(0, len(self._context.units.tasks) - self._control.waiting)
        return f"{counted(requests, 'request')}, {counted(grading, 'unit')} being graded"

    def _wait_no_longer(self) -> None:
        """Ends the waiting for servers: nothing new is started."""
        for task in self._context.opening:
            task.cancel()
