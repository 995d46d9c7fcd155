"""One model's part of a run: its server opened, its units in flight, its files closed."""

import asyncio
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from operator import itemgetter

from triathlon_runner.errors import UserError, leaves
from triathlon_runner.llm import ServerUnreachableError
from triathlon_runner.schedule._context import RunContext
from triathlon_runner.schedule._model_wrappers import OpenModel
from triathlon_runner.schedule._plan import Work
from triathlon_runner.schedule._stop import Account
from triathlon_runner.schedule._suite_run import ENDS_THE_MODEL, SuiteRun, open_suite
from triathlon_runner.store import (
    ContradictingLineError,
    DamagedLineError,
    Unit,
    UnreadableManifestError,
    usable_units,
)
from triathlon_runner.suites import Programs

UNITS_PER_SLOT = 3
"""Units in flight for each slot: some ask while the programs of others are executed."""


SLOW_SECONDS = 1.0
"""CPU seconds of a reference from which on its unit is asked before others."""


class ModelRun:
    """One attempt to run the open units of one model."""

    def __init__(self, context: RunContext, works: Sequence[Work], broken: set[tuple[str, Unit]]) -> None:
        """Takes what is wanted of the model, suite by suite; `broken` as `SuiteRun` has it."""
        self.works = works
        self.open = 0
        self.failures: Counter[str] = Counter()
        self.errors: list[str] = []
        self.server_is_unreachable = False
        """Its server does not answer; another attempt later may succeed."""
        self._context = context
        self._row = works[0].row
        self._broken = broken
        self._opened: OpenModel | None = None

    async def run(self) -> None:
        """Runs the open units; the attributes then say how it ended.

        Whatever ends this model is noted here: the others go on.
        """
        with ExitStack() as stack:
            try:
                stack.enter_context(self._context.folder.locked(self._row.id))
            except UserError as error:
                self._add_error(f"{self._row.id}: {error}")
                self.open = sum(len(work.open_units(())) for work in self.works)
                return
            suites = [suite for work in self.works if (suite := self._open_suite(work, stack)) is not None]
            try:
                if any(suite.left for suite in suites) and not self._context.control.stop.asked:
                    await self._open_and_ask(suites)
            except* ENDS_THE_MODEL as errors:
                self._give_up(errors)
            finally:
                self._close(suites)
                if self._context.pace is not None:
                    self._context.pace.ended(self._row.id)

    def _open_suite(self, work: Work, stack: ExitStack) -> SuiteRun | None:
        try:
            return open_suite(self._context, work, self._broken, stack)
        except (UnreadableManifestError, DamagedLineError) as error:  # concerns this file only
            self._add_error(f"{self._row.id} {work.suite_id}: {error}{self._advice(error, work.suite_id)}")
            lines = self._context.folder.lines(self._row.id, work.suite_id)
            self.open += len(work.open_units(usable_units(lines, work.built.entry.record)))
            return None

    def _advice(self, error: Exception, suite: str) -> str:
        """What the run did about damage, and what to do where the message does not say that itself."""
        if isinstance(error, UnreadableManifestError):
            return "; nothing was asked or changed there"
        if not isinstance(error, ContradictingLineError):
            return ""
        option = self._context.folder.option
        verify = f"`triathlon verify --models {self._row.id} --suites {suite}{option}`"
        return f"; {verify} shows what the rest of the line says"

    async def _open_and_ask(self, suites: Sequence[SuiteRun]) -> None:
        """Opens the model and asks it; a stop cancels this task while it waits for the server."""
        context, task = self._context, asyncio.current_task()
        assert task is not None
        context.opening.add(task)
        try:
            async with context.opener.open(self._row) as opened:
                context.opening.discard(task)
                self._opened = opened
                if opened.stats is not None:
                    account = Account(self._row.id, opened.stats, self._row.price)
                    context.control.bounds.accounts.append(account)
                    context.progress.attach(account)
                await self._ask([suite for suite in suites if suite.begin(opened)], opened)
        finally:
            context.opening.discard(task)

    async def _ask(self, suites: Sequence[SuiteRun], opened: OpenModel) -> None:
        for suite in suites:
            if suite.left:
                self._context.progress.start(suite.model, suite.suite)
        units = self._in_order(suites)
        waiting = iter(units)
        async with asyncio.TaskGroup() as group:
            for _ in range(min(opened.slots * UNITS_PER_SLOT, len(units))):
                group.create_task(self._worker(waiting, opened))

    def _in_order(self, suites: Sequence[SuiteRun]) -> list[tuple[SuiteRun, Unit]]:
        """All open units by the positions that the pace gives them; else one unit of each suite in turn.

        Without a pace, units whose programs compute for long go first: last, they would keep the server idle.
        """
        pace, turns = self._context.pace, []
        for suite in suites:
            seconds = self._reference_seconds(suite) if pace is None else {}
            for number, unit in enumerate(suite.left):
                position = number if pace is None else pace.position(suite.suite, unit)
                turns.append(((-seconds.get(unit[0], 0.0), position), suite, unit))
        turns.sort(key=itemgetter(0))
        return [(suite, unit) for _, suite, unit in turns]

    def _reference_seconds(self, suite: SuiteRun) -> dict[str, float]:
        """By task: how long its reference computes, where that is long."""
        built, tasks = suite.work.built.suite, {task for task, _ in suite.left}
        problems = built.functions() if isinstance(built, Programs) else ()
        seconds = {
            problem.task_id: self._context.reference_seconds(problem)
            for problem in problems
            if problem.task_id in tasks
        }
        return {task: count for task, count in seconds.items() if count >= SLOW_SECONDS}

    async def _worker(self, waiting: Iterator[tuple[SuiteRun, Unit]], opened: OpenModel) -> None:
        """Runs units until there is none left or the run stops."""
        context, pace = self._context, self._context.pace
        for suite, unit in waiting:
            if pace is not None:
                await pace.ready(suite.model, suite.suite, unit)
            if not context.control.may_send():
                return
            context.units += 1
            try:
                await suite.run(unit, opened)
            finally:
                context.units -= 1

    def _give_up(self, errors: BaseExceptionGroup[Exception]) -> None:
        """Notes why this model cannot continue; each reason is shown once."""
        causes = list(leaves(errors))
        self.server_is_unreachable = all(isinstance(cause, ServerUnreachableError) for cause in causes)
        for message in dict.fromkeys(f"{self._row.id}: {cause}" for cause in causes):
            self._add_error(message)

    def _add_error(self, message: str) -> None:
        self.errors.append(message)
        self._context.progress.say(message)

    def _close(self, suites: Sequence[SuiteRun]) -> None:
        for suite in suites:
            self.open += suite.close(self._opened)
            self.failures.update(suite.failures)
        if error := self._error_of_all_open_units():
            self._add_error(f"{self._row.id}: {error}")

    def _error_of_all_open_units(self) -> str:
        """The HTTP error without an explanation that every question met; empty where there is none.

        It is for the user to mend, however few questions there were: to run again does not help.
        """
        stats = self._opened.stats if self._opened is not None else None
        if stats is None or stats.stopped or stats.answered or stats.from_cache:
            return ""
        if not 0 < stats.failed == stats.unexplained or self.failures.total() != self.open:
            return ""
        which = f"all {stats.failed} questions" if stats.failed > 1 else "the only question"
        return f"{which} met the same error: {self.failures.most_common(1)[0][0]}"
