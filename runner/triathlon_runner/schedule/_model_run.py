"""One model's part of a run: its server opened, its units in flight; a results file and manifest a suite."""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from triathlon_runner.errors import InfrastructureError, UserError, leaves
from triathlon_runner.llm import ModelUnavailableError, ServerUnreachableError
from triathlon_runner.records import FailingCase, Reply, Strict, UnitRecord, Verdict
from triathlon_runner.schedule._identity import difference, with_weights
from triathlon_runner.schedule._manifest import differs, is_finished, write_manifest
from triathlon_runner.schedule._models import ANSWERED, OpenModel
from triathlon_runner.schedule._plan import Work
from triathlon_runner.schedule._stop import Account, RunStoppedError
from triathlon_runner.serving import ServerLostError
from triathlon_runner.store import (
    DamagedLineError,
    ResultsFile,
    Unit,
    UnreadableManifestError,
    archive,
    usable_units,
)
from triathlon_runner.suites import UnitRun
from triathlon_runner.terminal import counted, shortened

if TYPE_CHECKING:
    from triathlon_runner.schedule._run import Runner

UNITS_PER_SLOT = 3
"""Units in flight for each slot: some ask while the programs of others are executed."""
_ENDS_THE_MODEL = (ModelUnavailableError, ServerLostError, UserError)
"""Errors after which a model cannot be asked anything more."""
_REASON_CHARACTERS = 200


@dataclass(slots=True)
class SuiteRun:
    """One work with its results file and the units that are left."""

    runner: "Runner"
    work: Work
    file: ResultsFile[UnitRecord]
    left: Sequence[Unit]
    broken: set[tuple[str, Unit]]
    """Gets each unit, with its suite, that an error in this program stopped: it is not tried again."""
    failures: Counter[str] = field(default_factory=Counter)
    tried: set[str] = field(default_factory=set)
    """Tasks of which a unit was started in this run."""

    @property
    def model(self) -> str:
        return self.work.row.id

    @property
    def suite(self) -> str:
        return self.work.suite_id

    def begin(self, opened: OpenModel) -> bool:
        """Writes the manifest before anything is asked: after a kill it is known what the lines are.

        Returns:
            Whether units may be asked: not where the lines were made with other weights than are served now.
        """
        before = self.runner.folder.read_manifest(self.model, self.suite)
        now = with_weights(self.work.identity, opened.weights)
        if before and self.file.units and (changed := difference(before.identity, now)):
            if not _put_aside(self.runner, self.work, self.file, f"another model: {changed}"):
                self.left = ()
                return False
            self.left = self.work.open_units(())
        write_manifest(self, opened if self.left else None, begins=bool(self.left))
        return True

    async def run(self, unit: Unit, opened: OpenModel) -> None:
        """Runs one unit and appends its line; where this program or the server failed, the unit stays open.

        Raises:
            ModelUnavailableError: the model cannot go on; likewise ServerLostError.
            UserError: a file cannot be written.
        """
        runner, work = self.runner, self.work
        self.tried.add(unit[0])
        record, answered = None, set[str]()
        ANSWERED.set(answered)
        try:
            suite = work.built.suite
            record = await suite.run(UnitRun(*unit, opened, runner.grader, work.protocol, work.judge))
            record = _scrubbed(record, opened.scrub_evidence)
            self.file.append(record)
        except Exception as error:
            record = None
            self._leave_open(unit, error)
        else:
            runner.summary.finished += 1
            runner.summary.asked += self.model in answered
            runner.progress.finished(record, from_earlier_run=self.model not in answered)
        if runner.plan.pace is not None:
            runner.plan.pace.finished(self.model, self.suite, unit, record)

    def _leave_open(self, unit: Unit, error: Exception) -> None:
        """Notes why a unit stays open: the infrastructure or this program failed, not the model."""
        causes = list(leaves(error))
        final = next((cause for cause in causes if isinstance(cause, _ENDS_THE_MODEL)), None)
        if final is not None:
            if not isinstance(final, UserError):
                self.failures[getattr(final, "of_question", "") or str(final)] += 1
            raise final
        unknown = next((cause for cause in causes if not isinstance(cause, InfrastructureError)), None)
        if unknown is None and any(isinstance(cause, RunStoppedError) for cause in causes):
            return
        reason = str(causes[0])
        if unknown is not None:
            reason = _in_a_line(unknown)
            self.broken.add((self.suite, unit))
            self.runner.progress.broke(f"{self.model} {self.suite} {unit[0]}, sample {unit[1]}", error)
        self.failures[reason] += 1
        self.runner.progress.failed(self.model, self.suite, reason)

    def close(self, opened: OpenModel | None) -> int:
        """Sorts the file and writes the manifest; returns how many units stay open."""
        if f"{self.model} {self.suite}" in self.runner.summary.other_protocol:
            return 0
        if self.runner.plan.pace is not None:  # it may have stopped before all planned tasks
            self.work = self.work.limited_to(self.tried | {task_id for task_id, _ in self.file.units})
        self.file.sort(self.work.built.order)
        if self.file.units:
            write_manifest(self, opened if self.tried else None)
        else:
            self.file.remove()
            self.runner.folder.manifest(self.model, self.suite).unlink(missing_ok=True)
            self.runner.folder.remove_empty_folders(self.model, self.suite)
        return len(self.work.open_units(self.file.units))


def _put_aside(runner: "Runner", work: Work, file: ResultsFile[UnitRecord], why: str) -> bool:
    """Archives lines of other conditions if the user wants that; else notes that they stay as they are."""
    model, suite = work.row.id, work.suite_id
    if not runner.plan.wanted.ask_again:
        runner.summary.other_protocol[f"{model} {suite}"] = why
        return False
    target = archive(runner.folder, model, suite)
    file.restart()
    runner.progress.say(f"{model} {suite}: results of {why} are archived: {target.lines}")
    return True


def _scrubbed(record: Any, scrub: Callable[[str], str]) -> Any:
    """Returns a record without keys in its evidence; what the model wrote stays as it is."""
    if isinstance(record, FailingCase) or (isinstance(record, Verdict) and record.detail):
        texts = {name: scrub(text) for name, text in record if isinstance(text, str) and scrub(text) != text}
        record = record.model_copy(update=texts) if texts else record
    if isinstance(record, tuple):
        return tuple(_scrubbed(each, scrub) for each in record)
    if not isinstance(record, Strict) or isinstance(record, Reply):
        return record
    inner = {name: _scrubbed(value, scrub) for name, value in record if isinstance(value, Strict | tuple)}
    return record.model_copy(update=inner) if inner else record


def _in_a_line(error: BaseException) -> str:
    """An unexpected exception as one short, printable line: it may quote what a model wrote."""
    return shortened(ascii(f"{type(error).__name__}: {error}")[1:-1], _REASON_CHARACTERS)


class ModelRun:
    """The open units of one model."""

    def __init__(self, runner: "Runner", works: Sequence[Work]) -> None:
        """Takes what is wanted of the model, suite by suite."""
        self.id = works[0].row.id
        self.broken: set[tuple[str, Unit]] = set()
        """Units, with their suites, that an error in this program stopped: they are not tried again."""
        self._runner, self._works, self._row = runner, works, works[0].row
        self._reset()

    def _reset(self) -> None:
        """Forgets how an earlier attempt ended."""
        self.open = 0
        self.failures: Counter[str] = Counter()
        self.errors: list[str] = []
        self.server_is_unreachable = False
        """Its server does not answer; another attempt later may succeed."""
        self._opened: OpenModel | None = None

    async def run(self) -> None:
        """Runs the open units; the attributes then say how this attempt ended.

        Whatever ends this model is noted here: the others go on.
        """
        self._reset()
        runner = self._runner
        with ExitStack() as stack:
            try:
                stack.enter_context(runner.folder.locked(self.id))
            except UserError as error:
                self._add_error(f"{self.id}: {error}")
                self.open = sum(len(work.open_units(())) for work in self._works)
                return
            suites = [suite for work in self._works if (suite := self._open_suite(work, stack)) is not None]
            try:
                if any(suite.left for suite in suites) and not runner.control.stopped:
                    await self._open_and_ask(suites)
            except* _ENDS_THE_MODEL as errors:
                self._give_up(errors)
            finally:
                self._close(suites)
                if runner.plan.pace is not None:
                    runner.plan.pace.ended(self.id)

    def _open_suite(self, work: Work, stack: ExitStack) -> SuiteRun | None:
        """Opens a results file, which `stack` closes; None where nothing is to do or can be done."""
        try:
            return self._opened_suite(work, stack)
        except (UnreadableManifestError, DamagedLineError) as error:  # concerns this file only
            self._add_error(f"{self.id} {work.suite_id}: {error}")
            path = self._runner.folder.lines(self.id, work.suite_id)
            self.open += len(work.open_units(usable_units(path, work.built.entry.record)))
            return None

    def _opened_suite(self, work: Work, stack: ExitStack) -> SuiteRun | None:
        """Opens the results file; None where it is finished or of other conditions.

        Raises:
            UnreadableManifestError: nothing can be known of the lines; likewise DamagedLineError.
        """
        runner, model, suite, planned = self._runner, self.id, work.suite_id, work.built.count
        path, before = runner.folder.lines(model, suite), runner.folder.read_manifest(model, suite)
        is_unchanged = not runner.folder.changed_since_manifest(model, suite)
        if is_unchanged and is_finished(work, before, runner.folder.size(model, suite)):
            runner.progress.plan(model, suite, planned=planned, done=planned)
            return None
        file = stack.enter_context(ResultsFile(path, work.built.entry.record, runner.progress.say))
        if (why := differs(work, file, before)) and not _put_aside(runner, work, file, why):
            return None
        if before is None and file.units:
            lines = counted(len(file.units), "line")
            runner.progress.say(
                f"{model} {suite}: no manifest beside {str(path)!r}: the conditions that its {lines} were"
                " made under are unknown. They count, and this run writes a new manifest; put them aside with"
                f" {runner.folder.archive_command(model, suite)} if they may be another model's"
            )
        left = work.open_units(file.units)
        runner.progress.plan(model, suite, planned=planned, done=planned - len(left))
        not_broken = [unit for unit in left if (suite, unit) not in self.broken]
        return SuiteRun(runner, work, file, not_broken, self.broken)

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
                    account = Account(self.id, opened.stats, self._row.price)
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
        """All open units by the positions that the pace gives them; else one unit of each suite in turn."""
        pace, turns = self._runner.plan.pace, []
        for suite in suites:
            for number, unit in enumerate(suite.left):
                position = number if pace is None else pace.position(suite.suite, unit)
                turns.append((position, suite, unit))
        turns.sort(key=itemgetter(0))
        return [(suite, unit) for _, suite, unit in turns]

    async def _worker(self, waiting: Iterator[tuple[SuiteRun, Unit]], opened: OpenModel) -> None:
        """Runs units until there is none left or the run stops."""
        runner = self._runner
        for suite, unit in waiting:
            if runner.plan.pace is not None:
                await runner.plan.pace.ready(suite.model, suite.suite, unit)
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
        for message in dict.fromkeys(f"{self.id}: {cause}" for cause in causes):
            self._add_error(message)

    def _add_error(self, message: str) -> None:
        self.errors.append(message)
        self._runner.progress.say(message)

    def _close(self, suites: Sequence[SuiteRun]) -> None:
        for suite in suites:
            self.open += suite.close(self._opened)
            self.failures.update(suite.failures)
        if error := self._error_of_all_open_units():
            self._add_error(f"{self.id}: {error}")

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
