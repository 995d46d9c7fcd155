"""One model's part of a run: its server opened, its units in flight, its files closed."""

import asyncio
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import ExitStack

from triathlon_runner.endpoints import Model, ServerUnreachableError
from triathlon_runner.errors import leaves
from triathlon_runner.schedule._context import ModelEnd, RunContext
from triathlon_runner.schedule._models import ControlledModel, OpenModel
from triathlon_runner.schedule._plan import Pace, Work
from triathlon_runner.schedule._stop import Account
from triathlon_runner.schedule._suite_run import ENDS_THE_MODEL, SuiteRun, open_suite
from triathlon_runner.store import (
    ContradictingLineError,
    DamagedLineError,
    ResultsFolder,
    Unit,
    UnreadableManifestError,
    usable_units,
)

UNITS_PER_SLOT = 3
"""Units in flight for each slot: some ask while the programs of others are executed."""


class ModelRun:
    """One attempt to run the open units of one model."""

    def __init__(self, context: RunContext, works: Sequence[Work], broken: set[tuple[str, Unit]]) -> None:
        """Prepares a try.

        Args:
            context: The run.
            works: What is wanted of the model, suite by suite.
            broken: Units, with their suites, that an error in this program stopped: they are not tried again.
        """
        self.end = ModelEnd()
        self._context = context
        self._works = works
        self._row = works[0].row
        self._broken = broken
        self._opened: OpenModel | None = None

    async def run(self) -> None:
        """Runs the open units; `end` says how it ended.

        Raises:
            UserError: the model's folder is in use or cannot be written.
        """
        with ExitStack() as stack:
            stack.enter_context(self._context.folder.locked(self._row.id))
            suites = [suite for work in self._works if (suite := self._open_suite(work, stack)) is not None]
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
            what_to_do = _advice(error, self._context.folder, self._row.id, work.suite_id)
            self._add_error(f"{self._row.id} {work.suite_id}: {error}{what_to_do}")
            lines = self._context.folder.lines(self._row.id, work.suite_id)
            self.end.open += len(work.open_units(usable_units(lines, work.built.entry.record)))
            return None

    async def _open_and_ask(self, suites: Sequence[SuiteRun]) -> None:
        """Opens the model and asks it; returns early where a stop comes while its server starts."""
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
        except asyncio.CancelledError:
            if task not in context.opening or not context.control.stop.asked:
                raise
            task.uncancel()  # it only waited for its server; nothing was asked
        finally:
            context.opening.discard(task)

    async def _ask(self, suites: Sequence[SuiteRun], opened: OpenModel) -> None:
        pace = self._context.pace
        turns = _alternate(suites) if pace is None else _in_order(suites, pace)
        for suite in suites:
            if suite.left:
                self._context.progress.start(suite.model, suite.suite)
        model = ControlledModel(opened, self._context.control)
        async with asyncio.TaskGroup() as group:
            for _ in range(min(opened.slots * UNITS_PER_SLOT, sum(len(suite.left) for suite in suites))):
                group.create_task(self._worker(turns, model))

    async def _worker(self, turns: Iterator[tuple[SuiteRun, Unit]], model: Model) -> None:
        while self._context.control.may_send():
            turn = next(turns, None)
            if turn is None:
                return
            suite, unit = turn
            pace = self._context.pace
            if pace is not None:
                await pace.ready(suite.model, suite.suite, unit)
                if not self._context.control.may_send():
                    return
            with self._context.units.unit():
                record = await suite.run(unit, model)
                if pace is not None:
                    pace.finished(suite.model, suite.suite, unit, record)

    def _give_up(self, errors: BaseExceptionGroup[Exception]) -> None:
        """Notes why this model cannot continue; each reason is shown once."""
        causes = list(leaves(errors))
        self.end.server_is_unreachable = all(isinstance(cause, ServerUnreachableError) for cause in causes)
        for message in dict.fromkeys(f"{self._row.id}: {cause}" for cause in causes):
            self._add_error(message)

    def _add_error(self, message: str) -> None:
        self.end.errors.append(message)
        self._context.progress.say(message)

    def _close(self, suites: Sequence[SuiteRun]) -> None:
        for suite in suites:
            self.end.open += suite.close(self._opened)
            self.end.failures.update(suite.failures)
        if error := self._error_of_all_open_units():
            self._add_error(f"{self._row.id}: {error}")

    def _error_of_all_open_units(self) -> str:
        """The HTTP error without an explanation that every question met; empty where there is none.

        It is for the user to mend, however few questions there were: to run again does not help.
        """
        stats = self._opened.stats if self._opened is not None else None
        failures = self.end.failures
        if stats is None or stats.stopped or stats.answered or stats.from_cache:
            return ""
        if not 0 < stats.failed == stats.unexplained or failures.total() != self.end.open:
            return ""
        which = f"all {stats.failed} questions" if stats.failed > 1 else "the only question"
        return f"{which} met the same error: {failures.most_common(1)[0][0]}"


def _alternate(suites: Sequence[SuiteRun]) -> Iterator[tuple[SuiteRun, Unit]]:
    """One unit of each suite in turn, so that no suite waits for another."""
    waiting = deque(suite for suite in suites if suite.left)
    while waiting:
        suite = waiting.popleft()
        unit = suite.left.popleft()
        if suite.left:
            waiting.append(suite)
        yield suite, unit


def _advice(error: Exception, folder: ResultsFolder, model: str, suite: str) -> str:
    """What the run did about damage, and what to do where the message does not say that itself."""
    if isinstance(error, UnreadableManifestError):
        return "; nothing was asked or changed there"
    if not isinstance(error, ContradictingLineError):
        return ""
    verify = f"`triathlon verify --models {model} --suites {suite}{folder.option}`"
    return f"; {verify} shows what the rest of the line says"


def _in_order(suites: Sequence[SuiteRun], pace: Pace) -> Iterator[tuple[SuiteRun, Unit]]:
    """The units of all suites, by the positions that the pace gives them."""
    turns = [(suite, unit) for suite in suites for unit in suite.left]
    return iter(sorted(turns, key=lambda turn: pace.position(turn[0].suite, turn[1])))
