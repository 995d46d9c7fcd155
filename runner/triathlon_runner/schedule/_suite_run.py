"""One model on one suite in a run: its units, its results file and its manifest."""

import logging
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from triathlon_runner.errors import InfrastructureError, UserError, leaves
from triathlon_runner.llm import ModelUnavailableError
from triathlon_runner.records import FailingCase, Reply, Strict, UnitRecord, Verdict
from triathlon_runner.schedule._identity import difference, with_weights
from triathlon_runner.schedule._manifest import differs, is_finished, write_manifest
from triathlon_runner.schedule._models import ControlledModel, OpenModel
from triathlon_runner.schedule._plan import Work
from triathlon_runner.schedule._stop import RunStoppedError
from triathlon_runner.serving import ServerLostError
from triathlon_runner.store import ResultsFile, Unit, archive
from triathlon_runner.terminal import counted, shortened

if TYPE_CHECKING:
    from triathlon_runner.schedule._run import Runner

ENDS_THE_MODEL = (ModelUnavailableError, ServerLostError, UserError)
"""Errors after which a model cannot be asked anything more."""
_REASON_CHARACTERS = 200
_LOG = logging.getLogger(__name__)


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
            if not put_aside(self.runner, self.work, self.file, f"another model: {changed}"):
                self.left = ()
                return False
            self.left = self.work.open_units(())
        self._write_manifest(opened, begins=bool(self.left))
        return True

    async def run(self, unit: Unit, opened: OpenModel) -> None:
        """Runs one unit and appends its line; where this program or the server failed, the unit stays open.

        Raises:
            ModelUnavailableError: the model cannot go on; likewise ServerLostError.
            UserError: a file cannot be written.
        """
        runner, work, model = self.runner, self.work, ControlledModel(opened, self.runner.control)
        self.tried.add(unit[0])
        record = None
        try:
            suite = work.built.suite
            record = await suite.run(*unit, model, runner.grader, work.protocol, work.judge)
            record = _scrubbed(record, opened.scrub_evidence)
            self.file.append(record)
        except Exception as error:
            record = None
            self._leave_open(unit, error)
        else:
            runner.summary.finished += 1
            runner.summary.asked += model.server_answered
            runner.progress.finished(record, from_earlier_run=not model.server_answered)
        if runner.pace is not None:
            runner.pace.finished(self.model, self.suite, unit, record)

    def _leave_open(self, unit: Unit, error: Exception) -> None:
        """Notes why a unit stays open: the infrastructure or this program failed, not the model."""
        causes = list(leaves(error))
        final = next((cause for cause in causes if isinstance(cause, ENDS_THE_MODEL)), None)
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
            _LOG.error("%s %s %s, sample %d", self.model, self.suite, *unit, exc_info=error)
        self.failures[reason] += 1
        self.runner.progress.failed(self.model, self.suite, reason)

    def close(self, opened: OpenModel | None) -> int:
        """Sorts the file and writes the manifest; returns how many units stay open."""
        if f"{self.model} {self.suite}" in self.runner.summary.other_protocol:
            return 0
        if self.runner.pace is not None:  # it may have stopped before all planned tasks
            self.work = self.work.limited_to(self.tried | {task_id for task_id, _ in self.file.units})
        self.file.sort(self.work.built.order)
        if self.file.units:
            self._write_manifest(opened)
        else:
            self.file.remove()
            self.runner.folder.manifest(self.model, self.suite).unlink(missing_ok=True)
            self.runner.folder.remove_empty_folders(self.model, self.suite)
        return len(self.work.open_units(self.file.units))

    def _write_manifest(self, opened: OpenModel | None, *, begins: bool = False) -> None:
        write_manifest(
            self.runner.folder,
            self.work,
            self.file,
            profile=self.runner.profile,
            sandbox_level=self.runner.grader.sandbox.level,
            opened=opened,
            failures=self.failures,
            begins=begins,
        )


def open_suite(
    runner: "Runner", work: Work, broken: set[tuple[str, Unit]], stack: ExitStack
) -> SuiteRun | None:
    """Opens the results file, which `stack` closes; None where it is finished or of other conditions.

    Raises:
        UnreadableManifestError: nothing can be known of the lines; likewise DamagedLineError.
    """
    model, suite, planned = work.row.id, work.suite_id, work.built.count
    before = runner.folder.read_manifest(model, suite)
    is_unchanged = not runner.folder.changed_since_manifest(model, suite)
    if is_unchanged and is_finished(work, before, runner.folder.size(model, suite)):
        runner.progress.plan(model, suite, planned=planned, done=planned)
        return None
    path = runner.folder.lines(model, suite)
    file = stack.enter_context(ResultsFile(path, work.built.entry.record, runner.progress.say))
    if (why := differs(work, file, before)) and not put_aside(runner, work, file, why):
        return None
    if before is None and file.units:
        lines = counted(len(file.units), "line")
        runner.progress.say(
            f"{model} {suite}: no manifest beside {str(path)!r}: the conditions that its {lines} were made"
            " under are unknown. They count, and this run writes a new manifest; put them aside with"
            f" {runner.folder.archive_command(model, suite)} if they may be another model's"
        )
    left = work.open_units(file.units)
    runner.progress.plan(model, suite, planned=planned, done=planned - len(left))
    return SuiteRun(runner, work, file, [unit for unit in left if (suite, unit) not in broken], broken)


def put_aside(runner: "Runner", work: Work, file: ResultsFile[UnitRecord], why: str) -> bool:
    """Archives lines of other conditions if the user wants that; else notes that they stay as they are."""
    model, suite = work.row.id, work.suite_id
    if not runner.ask_again:
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
