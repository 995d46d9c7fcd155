"""Runs a plan: several models at a time, their units in flight, until all is done or the run is stopped.

A model's server is opened, and each of its suites has a results file and a manifest.
"""

import asyncio
import contextlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any

from triathlon_runner.errors import InfrastructureError, UserError, leaves
from triathlon_runner.grading import Grader
from triathlon_runner.llm import ModelUnavailableError
from triathlon_runner.records import FailingCase, Reply, Strict, UnitRecord, Verdict
from triathlon_runner.schedule._manifest import difference, differs, is_finished, with_weights, write_manifest
from triathlon_runner.schedule._models import ANSWERED, ModelOpener, OpenModel
from triathlon_runner.schedule._plan import RunPlan, Work
from triathlon_runner.schedule._progress import ConsoleProgress
from triathlon_runner.schedule._stop import CHECK_SECONDS, CTRL_C, Account, Control, RunStoppedError
from triathlon_runner.serving import ServerLostError
from triathlon_runner.store import (
    DamagedLineError,
    ResultsFile,
    ResultsFolder,
    Unit,
    UnreadableManifestError,
    archive,
    usable_units,
)
from triathlon_runner.suites import UnitRun
from triathlon_runner.terminal import counted, shortened

UNITS_PER_SLOT = 3
"""Units in flight for each slot: some ask while the programs of others are executed."""
_ENDS_THE_MODEL = (ModelUnavailableError, ServerLostError, UserError)
"""Errors after which a model cannot be asked anything more."""
_REASON_CHARACTERS = 200


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
    units: int = field(init=False, default=0)
    """Units that were begun and have not ended."""

    async def run(self, plan: RunPlan) -> Summary:
        """Runs all of it: models behind an API at the same time, those that we serve as there is room.

        Raises:
            UserError: the results folder cannot be read or written; what was written stays whole.
        """
        self.plan = plan
        models = [_ModelRun(self, works) for works in plan.work.values() if works]
        tasks: list[asyncio.Task[None]] = []
        watch = asyncio.create_task(self._watch(tasks))
        try:
            # A model whose task is cancelled writes what it has, and the others go on.
            async with asyncio.TaskGroup() as group:
                tasks += [group.create_task(model.run()) for model in models]
        finally:
            watch.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await watch
            self.summary.stopped = self.control.stopped
            for model in models:
                self.summary.open += model.open
                self.summary.failures.update(model.failures)
                self.summary.errors += model.errors
        return self.summary

    async def _watch(self, tasks: Sequence[asyncio.Task[None]]) -> None:
        """Stops the run at its deadline, and sees to it that a run which is to stop ends soon."""
        stopping = asyncio.Event()
        self.control.on_stop.append(stopping.set)
        while self.control.may_send():
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(stopping.wait(), CHECK_SECONDS)
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
        for task in tasks:
            task.cancel()

    def _in_flight(self) -> str:
        grading = max(0, self.units - self.control.waiting)
        return f"{counted(self.control.in_flight, 'request')}, {counted(grading, 'unit')} being graded"

    def put_aside(self, work: Work, file: ResultsFile[UnitRecord], why: str) -> bool:
        """Archives lines of other conditions if the user wants that; else notes that they stay."""
        model, suite = work.row.id, work.suite_id
        if not self.plan.wanted.ask_again:
            self.summary.other_protocol[f"{model} {suite}"] = why
            return False
        target = archive(self.folder, model, suite)
        file.restart()
        self.progress.say(f"{model} {suite}: results of {why} are archived: {target.lines}")
        return True


class _ModelRun:
    """The open units of one model; the attributes say how its run ended."""

    def __init__(self, runner: Runner, works: Sequence[Work]) -> None:
        """Takes what is wanted of the model, suite by suite."""
        self.id = works[0].row.id
        self.works = works
        self.open = 0
        self.failures: Counter[str] = Counter()
        self.errors: list[str] = []
        self._runner = runner
        self._opened: OpenModel | None = None

    async def run(self) -> None:
        """Runs the open units. Whatever ends this model is noted here: the others go on."""
        runner, pace = self._runner, self._runner.plan.pace
        with contextlib.ExitStack() as stack:
            try:
                stack.enter_context(runner.folder.locked(self.id))
            except UserError as error:
                self._add_error(f"{self.id}: {error}")
                self.open = sum(work.built.count for work in self.works)
                return
            suites = [suite for work in self.works if (suite := self._open_suite(work, stack)) is not None]
            try:
                if any(suite.left for suite in suites) and not runner.control.stopped:
                    await self._open_and_ask(suites)
            except* _ENDS_THE_MODEL as errors:
                for message in dict.fromkeys(f"{self.id}: {cause}" for cause in leaves(errors)):
                    self._add_error(message)
            finally:
                for suite in suites:
                    self.open += suite.close(self._opened)
                    self.failures.update(suite.failures)
                if error_of_all := self._error_of_all_open_units():
                    self._add_error(f"{self.id}: {error_of_all}")
                if pace is not None:
                    pace.ended(self.id)

    def _open_suite(self, work: Work, stack: contextlib.ExitStack) -> "_SuiteRun | None":
        """Opens a results file, which `stack` closes; None where nothing is to do or can be done."""
        runner, model, suite, planned = self._runner, self.id, work.suite_id, work.built.count
        path, record = runner.folder.lines(model, suite), work.built.entry.record
        if fault := runner.folder.fault_of_place(model, suite):
            self._add_error(f"{model} {suite}: {fault}")
            self.open += planned
            return None
        try:
            before = runner.folder.read_manifest(model, suite)
            is_unchanged = not runner.folder.changed_since_manifest(model, suite)
            if is_unchanged and is_finished(work, before, runner.folder.size(model, suite)):
                runner.progress.plan(model, suite, planned=planned, done=planned)
                return None
            file = stack.enter_context(ResultsFile(path, record, runner.progress.say))
        except (UnreadableManifestError, DamagedLineError) as error:  # concerns this file only
            self._add_error(f"{model} {suite}: {error}")
            self.open += len(work.open_units(usable_units(path, record)))
            return None
        if (why := differs(work, file, before)) and not runner.put_aside(work, file, why):
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
        return _SuiteRun(runner, work, file, left)

    async def _open_and_ask(self, suites: Sequence["_SuiteRun"]) -> None:
        """Opens the model and asks it; a stop cancels this task while it waits for the server."""
        control, task, row = self._runner.control, asyncio.current_task(), self.works[0].row
        assert task is not None
        waits: list[Callable[[], object]] = [task.cancel]
        control.on_stop += waits
        try:
            async with self._runner.opener.open(row) as opened:
                control.on_stop.remove(waits.pop())
                self._opened = opened
                account = Account(self.id, opened.stats, row.price)
                control.accounts.append(account)
                self._runner.progress.attach(account)
                await self._ask([suite for suite in suites if suite.begin(opened)], opened)
        finally:
            for cancel in waits:
                control.on_stop.remove(cancel)

    async def _ask(self, suites: Sequence["_SuiteRun"], opened: OpenModel) -> None:
        """Asks all open units by the positions that the pace gives them; else one of each suite in turn."""
        pace, turns = self._runner.plan.pace, []
        for suite in suites:
            for number, unit in enumerate(suite.left):
                position = number if pace is None else pace.position(suite.id, unit)
                turns.append((position, suite, unit))
        turns.sort(key=itemgetter(0))
        waiting = iter([(suite, unit) for _, suite, unit in turns])
        async with asyncio.TaskGroup() as group:
            for _ in range(min(opened.slots * UNITS_PER_SLOT, len(turns))):
                group.create_task(self._run_units(waiting, opened))

    async def _run_units(self, waiting: Iterator[tuple["_SuiteRun", Unit]], opened: OpenModel) -> None:
        """Runs units until there is none left or the run stops."""
        runner = self._runner
        for suite, unit in waiting:
            if runner.plan.pace is not None:
                await runner.plan.pace.ready(self.id, suite.id, unit)
            if not runner.control.may_send():
                return
            runner.units += 1
            try:
                await suite.run(unit, opened)
            finally:
                runner.units -= 1

    def _add_error(self, message: str) -> None:
        self.errors.append(message)
        self._runner.progress.say(message)

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


class _SuiteRun:
    """One work with its results file and the units that are left."""

    def __init__(
        self, runner: Runner, work: Work, file: ResultsFile[UnitRecord], left: Sequence[Unit]
    ) -> None:
        self.id, self.left = work.suite_id, left
        self.failures: Counter[str] = Counter()
        """Why units stay open."""
        self._runner, self._work, self._file, self._model = runner, work, file, work.row.id
        self._tried: set[str] = set()
        """Tasks of which a unit was started in this run."""

    def begin(self, opened: OpenModel) -> bool:
        """Writes the manifest before anything is asked: after a kill it is known what the lines are.

        Returns:
            Whether units may be asked: not where the lines were made with other weights than are served now.
        """
        before = self._runner.folder.read_manifest(self._model, self.id)
        now = with_weights(self._work.identity, opened.weights)
        if before and self._file.units and (changed := difference(before.identity, now)):
            if not self._runner.put_aside(self._work, self._file, f"another model: {changed}"):
                self.left = ()
                return False
            self.left = self._work.open_units(())
        self._write_manifest(opened if self.left else None, begins=bool(self.left))
        return True

    async def run(self, unit: Unit, opened: OpenModel) -> None:
        """Runs one unit and appends its line; where this program or the server failed, the unit stays open.

        Raises:
            ModelUnavailableError: the model cannot go on; likewise ServerLostError.
            UserError: a file cannot be written.
        """
        runner, work = self._runner, self._work
        self._tried.add(unit[0])
        record, answered = None, set[str]()
        ANSWERED.set(answered)
        try:
            suite = work.built.suite
            record = await suite.run(UnitRun(*unit, opened, runner.grader, work.protocol, work.judge))
            record = _scrubbed(record, opened.scrub_evidence)
            self._file.append(record)
        except Exception as error:
            record = None
            self._leave_open(unit, error)
        else:
            runner.summary.finished += 1
            runner.summary.asked += self._model in answered
            runner.progress.finished(record, from_earlier_run=self._model not in answered)
        if runner.plan.pace is not None:
            runner.plan.pace.finished(self._model, self.id, unit, record)

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
        if unknown is not None:  # one short, printable line: it may quote what a model wrote
            reason = shortened(ascii(f"{type(unknown).__name__}: {unknown}")[1:-1], _REASON_CHARACTERS)
            self._runner.summary.broken += 1
            self._runner.progress.broke(f"{self._model} {self.id} {unit[0]}, sample {unit[1]}", error)
        self.failures[reason] += 1
        self._runner.progress.failed(self._model, self.id, reason)

    def close(self, opened: OpenModel | None) -> int:
        """Sorts the file and writes the manifest; returns how many units stay open."""
        runner, file = self._runner, self._file
        if f"{self._model} {self.id}" in runner.summary.other_protocol:
            return 0
        if runner.plan.pace is not None:  # it may have stopped before all planned tasks
            self._work = self._work.limited_to(self._tried | {task_id for task_id, _ in file.units})
        file.sort(self._work.built.order)
        if file.units:
            self._write_manifest(opened if self._tried else None, begins=False)
        else:
            file.remove()
            runner.folder.manifest(self._model, self.id).unlink(missing_ok=True)
            runner.folder.remove_empty_folders(self._model, self.id)
        return len(self._work.open_units(file.units))

    def _write_manifest(self, opened: OpenModel | None, *, begins: bool) -> None:
        write_manifest(
            self._runner.folder,
            self._work,
            self._file,
            opened,
            failures=self.failures,
            sandbox_level=self._runner.grader.sandbox.level,
            profile=self._runner.plan.wanted.profile,
            begins=begins,
        )


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
