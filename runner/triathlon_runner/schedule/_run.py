"""Runs a plan: several models at a time, their units in flight, until all is done or the run is stopped.

A model's server is opened, and each of its suites has a results file and a manifest.
"""

import asyncio
import contextlib
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any

from triathlon_runner.errors import InfrastructureError, UserError, leaves
from triathlon_runner.grading import Grader
from triathlon_runner.llm import ModelUnavailableError
from triathlon_runner.models_yaml import ModelRow
from triathlon_runner.records import FailingCase, Reply, Strict, Verdict
from triathlon_runner.schedule import _manifest
from triathlon_runner.schedule._models import ANSWERED, ModelOpener, OpenModel
from triathlon_runner.schedule._plan import RunPlan, Work
from triathlon_runner.schedule._progress import ConsoleProgress
from triathlon_runner.schedule._stop import CTRL_C, Account, Control, RunStoppedError
from triathlon_runner.serving import ServerLostError
from triathlon_runner.store import DamagedLineError, ResultsFile, ResultsFolder, Unit
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
    plan: RunPlan
    control: Control = field(default_factory=Control)
    summary: Summary = field(init=False, default_factory=Summary)
    _units: int = field(init=False, default=0)
    """Units that were begun and have not ended."""
    _asks: bool = field(init=False, default=False)
    """Whether a model is to be asked something: else no bound stops the run."""

    async def run(self) -> Summary:
        """Runs the plan: models behind an API at the same time, those that we serve as there is room."""
        tasks: list[asyncio.Task[None]] = []
        watch = asyncio.create_task(self._watch(tasks))
        try:
            # A model whose task is cancelled writes what it has, and the others go on.
            async with asyncio.TaskGroup() as group:
                of_models = filter(None, self.plan.work.values())
                tasks += [group.create_task(self._run_model(works)) for works in of_models]
        finally:
            watch.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await watch
            self.summary.stopped = self.control.stopped
        return self.summary

    async def _watch(self, tasks: Sequence[asyncio.Task[None]]) -> None:
        """Stops the run at its deadline, and sees to it that a run which is to stop ends soon."""
        await self.control.until_stopped(lambda: self._asks)
        ctrl_c = "a second Ctrl-C" if self.control.stopped == CTRL_C else "Ctrl-C"
        stop_seconds = self.control.stop_seconds
        self.progress.say(
            f"{self.control.stopped}: finishing what is in flight ({self._in_flight()}), for at most"
            f" {stop_seconds:g} s; what is finished is kept; {ctrl_c} stops at once"
        )
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(stop_seconds):
                await self.control.end_waits()
        if self._units:
            self.progress.say(f"{stop_seconds:g} s are over; given up: {self._in_flight()}")
        for task in tasks:
            task.cancel()

    def _in_flight(self) -> str:
        return f"{counted(self.control.in_flight, 'request')}, {counted(self._units, 'unit')} begun"

    async def _run_model(self, works: Sequence[Work]) -> None:
        """Runs the open units of one model. Whatever ends it is noted in the summary: the others go on."""
        model = works[0].row.id
        with contextlib.ExitStack() as stack:
            try:
                stack.enter_context(self.folder.locked(model))
            except UserError as error:
                for work in works:
                    self._count_open(work)
                self._note_error(model, f"{model}: {error}")
                return
            files = [file for work in works if (file := self._open_file(work, stack)) is not None]
            opened: OpenModel | None = None
            has_open_units = any(file.left for file in files)
            self._asks |= has_open_units
            try:
                if has_open_units and self.control.may_send():
                    async with self.open_model(works[0].row, model) as opened:
                        await self._ask([file for file in files if self._may_add(file, opened)], opened)
            except* _ENDS_THE_MODEL as errors:
                for message in dict.fromkeys(f"{model}: {cause}" for cause in leaves(errors)):
                    self._note_error(model, message)
            finally:
                for file in files:
                    self._close(file, opened)
                self._end_pace(model)

    def _note_error(self, model: str, error: str) -> None:
        """Notes that a model cannot be run to its end, or a results file not be used."""
        self.summary.errors.append(error)
        self.progress.say(error)
        self._end_pace(model)

    def _keep_apart(self, work: Work, why: str) -> None:
        """Notes that the lines of a file were made under other conditions: none is added."""
        self.summary.other_protocol[f"{work.row.id} {work.suite_id}"] = why
        self._end_pace(work.row.id)

    def _end_pace(self, model: str) -> None:
        """Has no other model wait for units of this one that nobody will ask."""
        if self.plan.pace is not None:
            self.plan.pace.ended(model)

    def _count_open(self, work: Work) -> None:
        """Counts the units without a usable line of a file that this run cannot write."""
        path = self.folder.lines(work.row.id, work.suite_id)
        file = ResultsFile(path, work.built.entry.record)
        with contextlib.suppress(DamagedLineError, OSError):  # the other lines count
            if path.is_file():
                file.scan()
        self.summary.open += len(work.open_units(file.units))

    def _open_file(self, work: Work, stack: contextlib.ExitStack) -> _manifest.OpenFile | None:
        """Opens a results file, which `stack` closes; None where nothing is to do or can be done."""
        model, suite, planned, record = work.row.id, work.suite_id, work.built.count, work.built.entry.record
        path = self.folder.lines(model, suite)
        if fault := self.folder.fault_of_place(model, suite):
            self.summary.open += planned
            self._note_error(model, f"{model} {suite}: {fault}")
            return None
        try:
            before = self.folder.read_manifest(model, suite)
            lines = stack.enter_context(ResultsFile(path, record, self.progress.say))
            left = work.open_units(lines.units)
            if left:
                lines.check_writable()
        except UserError as error:  # concerns this file only
            self._count_open(work)
            self._note_error(model, f"{model} {suite}: {error}")
            return None
        if why := _manifest.differs(work, lines, before):
            self._keep_apart(work, why)
            return None
        if before is None and lines.units:
            self.progress.say(f"{model} {suite}: {self.folder.about_missing_manifest(model, suite)}")
        self.progress.plan(model, planned=planned, done=planned - len(left))
        return _manifest.OpenFile(work, lines, left)

    @contextlib.asynccontextmanager
    async def open_model(self, row: ModelRow, account_name: str) -> AsyncIterator[OpenModel]:
        """Opens a model that is about to be asked; a stop cancels the task that waits for its server."""
        task = asyncio.current_task()
        assert task is not None
        async with contextlib.AsyncExitStack() as stack:
            self.control.on_stop.append(task.cancel)
            try:
                opened = await stack.enter_async_context(self.opener.open(row))
            finally:
                self.control.on_stop.remove(task.cancel)
            account = Account(account_name, opened.stats, row.price)
            self.control.accounts.append(account)
            self.progress.attach(account)
            yield opened

    def _may_add(self, file: _manifest.OpenFile, opened: OpenModel) -> bool:
        """Whether lines may be added: not to those that were made with other weights than are served now."""
        work = file.work
        before = self.folder.read_manifest(work.row.id, work.suite_id)
        now = _manifest.with_weights(work.identity, opened.weights)
        if before and file.lines.units and (changed := _manifest.difference(before.identity, now)):
            self._keep_apart(work, f"another model: {changed}")
            return False
        return True

    async def _ask(self, files: Sequence[_manifest.OpenFile], opened: OpenModel) -> None:
        """Asks all open units by the positions that the pace gives them; else one of each suite in turn."""
        pace, turns = self.plan.pace, []
        for file in files:
            for number, unit in enumerate(file.left):
                position = number if pace is None else pace.position(file.work.suite_id, unit)
                turns.append((position, file, unit))
        turns.sort(key=itemgetter(0))
        waiting = iter([(file, unit) for _, file, unit in turns])
        async with asyncio.TaskGroup() as group:
            for _ in range(min(opened.slots * UNITS_PER_SLOT, len(turns))):
                group.create_task(self._run_units(waiting, opened))

    async def _run_units(self, waiting: Iterator[tuple[_manifest.OpenFile, Unit]], opened: OpenModel) -> None:
        """Runs units until there is none left or the run stops."""
        for file, unit in waiting:
            if self.plan.pace is not None:
                await self.plan.pace.ready(file.work.row.id, file.work.suite_id, unit)
            if not self.control.may_send():
                return
            self._units += 1
            try:
                await self._run_unit(file, unit, opened)
            finally:
                self._units -= 1

    async def _run_unit(self, file: _manifest.OpenFile, unit: Unit, opened: OpenModel) -> None:
        """Runs one unit and appends its line; where this program or the server failed, the unit stays open.

        Raises:
            ModelUnavailableError: the model cannot go on; likewise ServerLostError.
            UserError: a file cannot be written.
        """
        work, model = file.work, file.work.row.id
        file.tried.add(unit[0])
        record, answered = None, set[str]()
        ANSWERED.set(answered)
        try:
            asked = UnitRun(*unit, opened, self.grader, work.protocol, work.judge)
            record = _scrubbed(await work.built.suite.run(asked), opened.scrub_evidence)
            if not file.has_begun:  # after a kill it is known what the lines are
                self._write_manifest(file, opened, begins=True)
                file.has_begun = True
            file.lines.append(record)
        except Exception as error:
            record = None
            self._leave_open(file, unit, error)
        else:
            self.summary.finished += 1
            self.summary.asked += model in answered
            self.progress.finished(model, from_earlier_run=model not in answered)
        if self.plan.pace is not None:
            self.plan.pace.finished(model, work.suite_id, unit, record)

    def _leave_open(self, file: _manifest.OpenFile, unit: Unit, error: Exception) -> None:
        """Notes why a unit stays open: the infrastructure or this program failed, not the model."""
        model, suite = file.work.row.id, file.work.suite_id
        causes = list(leaves(error))
        final = next((cause for cause in causes if isinstance(cause, _ENDS_THE_MODEL)), None)
        if final is not None:
            if not isinstance(final, UserError):
                file.failures[getattr(final, "of_question", "") or str(final)] += 1
            raise final
        unknown = next((cause for cause in causes if not isinstance(cause, InfrastructureError)), None)
        if unknown is None and any(isinstance(cause, RunStoppedError) for cause in causes):
            return
        reason = str(causes[0])
        if unknown is not None:  # one short, printable line: it may quote what a model wrote
            reason = shortened(ascii(f"{type(unknown).__name__}: {unknown}")[1:-1], _REASON_CHARACTERS)
            self.summary.broken += 1
            self.progress.broke(f"{model} {suite} {unit[0]}, sample {unit[1]}", error)
        file.failures[reason] += 1
        self.progress.failed(model, suite, reason)

    def _close(self, file: _manifest.OpenFile, opened: OpenModel | None) -> None:
        """Sorts the file, writes the manifest and counts the units that stay open."""
        lines, work = file.lines, file.work
        model, suite = work.row.id, work.suite_id
        self.summary.failures += file.failures
        if f"{model} {suite}" in self.summary.other_protocol:
            return
        if self.plan.pace is not None:  # it may have stopped before all planned tasks
            file.work = work.limited_to(file.tried | {task_id for task_id, _ in lines.units})
        try:
            if lines.units:
                self._write_manifest(file, opened if file.tried else None, begins=False)
        except (UserError, OSError) as error:
            self._note_error(model, f"{model}: {error}")
        self.summary.open += len(file.work.open_units(lines.units))

    def _write_manifest(self, file: _manifest.OpenFile, opened: OpenModel | None, *, begins: bool) -> None:
        level, profile = self.grader.sandbox.level, self.plan.wanted.profile
        if not begins:
            file.lines.sort(file.work.built.order)
        _manifest.write_manifest(
            self.folder, file, opened, sandbox_level=level, profile=profile, begins=begins
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
