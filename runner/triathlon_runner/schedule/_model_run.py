"""One model's part of a run: its server opened, its units in flight, its files closed."""

import asyncio
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from operator import itemgetter
from typing import TYPE_CHECKING

from triathlon_runner.errors import UserError, leaves
from triathlon_runner.llm import ServerUnreachableError
from triathlon_runner.schedule._models import OpenModel
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

if TYPE_CHECKING:
    from triathlon_runner.schedule._run import Runner

UNITS_PER_SLOT = 3
"""Units in flight for each slot: some ask while the programs of others are executed."""
SLOW_SECONDS = 1.0
"""CPU seconds of a reference from which on its unit is asked before others."""


class ModelRun:
    """One attempt to run the open units of one model."""

    def __init__(self, runner: "Runner", works: Sequence[Work], broken: set[tuple[str, Unit]]) -> None:
        """Takes what is wanted of the model, suite by suite; `broken` as `SuiteRun` has it."""
        self.works = works
        self.open = 0
        self.failures: Counter[str] = Counter()
        self.errors: list[str] = []
        self.server_is_unreachable = False
        """Its server does not answer; another attempt later may succeed."""
        self._runner = runner
        self._row = works[0].row
        self._broken = broken
        self._opened: OpenModel | None = None

    async def run(self) -> None:
        """Runs the open units; the attributes then say how it ended.

        Whatever ends this model is noted here: the others go on.
        """
        runner = self._runner
        with ExitStack() as stack:
            try:
                stack.enter_context(runner.folder.locked(self._row.id))
            except UserError as error:
                self._add_error(f"{self._row.id}: {error}")
                self.open = sum(len(work.open_units(())) for work in self.works)
                return
            suites = [suite for work in self.works if (suite := self._open_suite(work, stack)) is not None]
            try:
                if any(suite.left for suite in suites) and not runner.control.stopped:
                    await self._open_and_ask(suites)
            except* ENDS_THE_MODEL as errors:
                self._give_up(errors)
            finally:
                self._close(suites)
                if runner.pace is not None:
                    runner.pace.ended(self._row.id)

    def _open_suite(self, work: Work, stack: ExitStack) -> SuiteRun | None:
        folder, model, suite = self._runner.folder, self._row.id, work.suite_id
        try:
            return open_suite(self._runner, work, self._broken, stack)
        except (UnreadableManifestError, DamagedLineError) as error:  # concerns this file only
            advice = ""
            if isinstance(error, UnreadableManifestError):
                advice = "; nothing was asked or changed there"
            elif isinstance(error, ContradictingLineError):
                verify = f"`triathlon verify --models {model} --suites {suite}{folder.option}`"
                advice = f"; {verify} shows what the rest of the line says"
            self._add_error(f"{model} {suite}: {error}{advice}")
            done = usable_units(folder.lines(model, suite), work.built.entry.record)
            self.open += len(work.open_units(done))
            return None

    async def _open_and_ask(self, suites: Sequence[SuiteRun]) -> None:
        """Opens the model and asks it; a stop cancels this task while it waits for the server."""
        runner, task = self._runner, asyncio.current_task()
        assert task is not None
        runner.opening.add(task)
        try:
            async with runner.opener.open(self._row) as opened:
                runner.opening.discard(task)
                self._opened = opened
                if opened.stats is not None:
                    account = Account(self._row.id, opened.stats, self._row.price)
                    runner.control.accounts.append(account)
                    runner.progress.attach(account)
                await self._ask([suite for suite in suites if suite.begin(opened)], opened)
        finally:
            runner.opening.discard(task)

    async def _ask(self, suites: Sequence[SuiteRun], opened: OpenModel) -> None:
        for suite in suites:
            if suite.left:
                self._runner.progress.start(suite.model, suite.suite)
        units = self._in_order(suites)
        waiting = iter(units)
        async with asyncio.TaskGroup() as group:
            for _ in range(min(opened.slots * UNITS_PER_SLOT, len(units))):
                group.create_task(self._worker(waiting, opened))

    def _in_order(self, suites: Sequence[SuiteRun]) -> list[tuple[SuiteRun, Unit]]:
        """All open units by the positions that the pace gives them; else one unit of each suite in turn.

        Without a pace, units whose programs compute for long go first: last, they would keep the server idle.
        """
        pace, turns = self._runner.pace, []
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
            problem.task_id: self._runner.reference_seconds(problem)
            for problem in problems
            if problem.task_id in tasks
        }
        return {task: count for task, count in seconds.items() if count >= SLOW_SECONDS}

    async def _worker(self, waiting: Iterator[tuple[SuiteRun, Unit]], opened: OpenModel) -> None:
        """Runs units until there is none left or the run stops."""
        runner = self._runner
        for suite, unit in waiting:
            if runner.pace is not None:
                await runner.pace.ready(suite.model, suite.suite, unit)
            if not runner.control.may_send():
                return
            runner.units += 1
            try:
                await suite.run(unit, opened)
            finally:
                runner.units -= 1

    def _give_up(self, errors: BaseExceptionGroup[Exception]) -> None:
        """Notes why this model cannot continue; each reason is shown once."""
        causes = list(leaves(errors))
        self.server_is_unreachable = all(isinstance(cause, ServerUnreachableError) for cause in causes)
        for message in dict.fromkeys(f"{self._row.id}: {cause}" for cause in causes):
            self._add_error(message)

    def _add_error(self, message: str) -> None:
        self.errors.append(message)
        self._runner.progress.say(message)

    def _close(self, suites: Sequence[SuiteRun]) -> None:
        for suite in suites:
            self.open += suite.close(self._opened)
            self.failures.update(suite.failures)
        if error := self._error_of_all_open_units():
            self._add_error(f"{self._row.id}: {error}")

    def _error_of_all_open_units(self) -> str:
        """The HTTP error without an explanation that every question met; empty where there is none.

        It is for the user to fix, however few questions there were: to run again does not help.
        """
        stats = self._opened.stats if self._opened is not None else None
        if stats is None or stats.stopped or stats.answered or stats.from_cache:
            return ""
        if not 0 < stats.failed == stats.unexplained or self.failures.total() != self.open:
            return ""
        which = f"all {stats.failed} questions" if stats.failed > 1 else "the only question"
        return f"{which} met the same error: {self.failures.most_common(1)[0][0]}"
