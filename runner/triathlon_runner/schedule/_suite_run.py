"""One model on one suite in a run: its units, its results file and its manifest."""

import logging
from collections import Counter, deque
from contextlib import ExitStack
from dataclasses import dataclass, field

from triathlon_runner.endpoints import Model, ModelUnavailableError
from triathlon_runner.errors import InfrastructureError, UserError, leaves
from triathlon_runner.records import UnitRecord
from triathlon_runner.schedule._context import RunContext
from triathlon_runner.schedule._identity import WEIGHTS, difference
from triathlon_runner.schedule._manifest import differs, is_finished, manifest_of
from triathlon_runner.schedule._models import OpenModel, UnitModel
from triathlon_runner.schedule._plan import Work
from triathlon_runner.schedule._stop import RunStoppedError
from triathlon_runner.serving import ServerLostError
from triathlon_runner.store import ResultsFile, ResultsFolder, Unit, archive
from triathlon_runner.terminal import counted

ENDS_THE_MODEL = (ModelUnavailableError, ServerLostError, UserError)
"""Errors after which a model cannot be asked anything more."""
_REASON_CHARACTERS = 200
_LOG = logging.getLogger(__name__)


@dataclass(slots=True)
class SuiteRun:
    """One work with its results file and the units that are left."""

    context: RunContext
    work: Work
    file: ResultsFile[UnitRecord]
    left: deque[Unit]
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
        before = self.context.folder.read_manifest(self.model, self.suite)
        now = {**self.work.identity, **({WEIGHTS: opened.weights} if opened.weights else {})}
        changed = difference(before.identity, now) if before is not None and self.file.units else ""
        if changed:
            if not put_aside(self.context, self.work, self.file, f"another model: {changed}"):
                self.left.clear()
                return False
            self.left = deque(self.work.open_units(()))
        self.write_manifest(opened, begins=bool(self.left))
        return True

    async def run(self, unit: Unit, model: Model) -> UnitRecord | None:
        """Runs one unit and appends its line; where this program or the server failed, the unit stays open.

        Args:
            unit: Its task and sample.
            model: Is asked.

        Returns:
            What was appended; None where the unit stays open.

        Raises:
            ModelUnavailableError: the model cannot go on; likewise ServerLostError.
            UserError: a file cannot be written.
        """
        context, work, asked = self.context, self.work, UnitModel(model)
        self.tried.add(unit[0])
        try:
            suite = work.built.suite
            record = await suite.run(*unit, asked, context.grader, work.settings_hash, work.judge)
            self.file.append(record)
        except Exception as error:
            self._leave_open(unit, error)
            return None
        context.summary.finished += 1
        context.progress.finished(record, from_earlier_run=not asked.server_answered)
        return record

    def _leave_open(self, unit: Unit, error: Exception) -> None:
        """Notes why a unit stays open: the infrastructure or this program failed, not the model."""
        causes = list(leaves(error))
        final = next((cause for cause in causes if isinstance(cause, ENDS_THE_MODEL)), None)
        if final is not None:
            if not isinstance(final, UserError):
                self.failures[str(final)] += 1
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
        self.context.progress.failed(self.model, self.suite, reason)

    def close(self, opened: OpenModel | None) -> int:
        """Sorts the file and writes the manifest; returns how many units stay open."""
        if f"{self.model} {self.suite}" in self.context.summary.other_protocol:
            return 0
        if self.context.pace is not None:  # it may have stopped before all planned tasks
            self.work = self.work.limited_to(self.tried | {task_id for task_id, _ in self.file.units})
        self.file.sort(self.work.built.order)
        if self.file.units:
            speed = opened.stats.tokens_per_second if opened and opened.stats else None
            self.write_manifest(opened, round(speed, 2) if speed else None)
        else:
            self._remove()
        return len(self.work.open_units(self.file.units))

    def _remove(self) -> None:
        """Removes the files of a suite without a single line, and folders that are empty without them."""
        self.file.remove()
        self.context.folder.manifest(self.model, self.suite).unlink(missing_ok=True)
        self.context.folder.remove_empty_folders(self.model, self.suite)

    def write_manifest(
        self, opened: OpenModel | None, speed: float | None = None, *, begins: bool = False
    ) -> None:
        """Writes the manifest before the first line, if there is none yet."""
        manifest = manifest_of(
            self.work,
            self.file,
            conditions=self.context.conditions,
            before=self.context.folder.read_manifest(self.model, self.suite),
            opened=opened,
            failures=self.failures,
            speed=speed,
            begins=begins,
        )
        if manifest is not None:
            self.context.folder.write_manifest(manifest)


def open_suite(
    context: RunContext, work: Work, broken: set[tuple[str, Unit]], stack: ExitStack
) -> SuiteRun | None:
    """Opens the results file; None where it is finished or was made under other conditions.

    Args:
        context: The run.
        work: What is wanted.
        broken: Units, with their suites, that are not tried again in this run.
        stack: Closes the file.

    Raises:
        UnreadableManifestError: nothing can be known of the lines; likewise DamagedLineError.
    """
    model, suite, planned = work.row.id, work.suite_id, work.built.count
    before = context.folder.read_manifest(model, suite)
    is_unchanged = not context.folder.changed_since_manifest(model, suite)
    if is_unchanged and is_finished(work, before, context.folder.size(model, suite)):
        context.progress.plan(model, suite, planned=planned, done=planned)
        return None
    lines, record = context.folder.lines(model, suite), work.built.entry.record
    file = stack.enter_context(ResultsFile(lines, record, context.progress.say))
    if (why := differs(work, file, before)) and not put_aside(context, work, file, why):
        return None
    if before is None and file.units:
        context.progress.say(_about_missing_manifest(context.folder, model, suite, len(file.units)))
    left = work.open_units(file.units)
    context.progress.plan(model, suite, planned=planned, done=planned - len(left))
    return SuiteRun(context, work, file, deque(unit for unit in left if (suite, unit) not in broken), broken)


def put_aside(context: RunContext, work: Work, file: ResultsFile[UnitRecord], why: str) -> bool:
    """Archives lines of other conditions if the user wants that; else notes that they stay as they are."""
    model, suite = work.row.id, work.suite_id
    if not context.ask_again:
        context.summary.other_protocol[f"{model} {suite}"] = why
        return False
    target = archive(context.folder, model, suite)
    file.restart()
    context.progress.say(f"{model} {suite}: results of {why} are archived: {target.lines}")
    return True


def _about_missing_manifest(folder: ResultsFolder, model: str, suite: str, lines: int) -> str:
    """A warning that lines have no manifest, so that their conditions are unknown."""
    path = str(folder.lines(model, suite))
    return (
        f"{model} {suite}: no manifest beside {path!r}: the conditions that its {counted(lines, 'line')} were"
        " made under are unknown. They count, and this run writes a new manifest; put them aside with"
        f" {folder.archive_command(model, suite)} if they may be another model's"
    )


def _in_a_line(error: BaseException) -> str:
    """An unexpected exception as one short, printable line: it may quote what a model wrote."""
    text = ascii(f"{type(error).__name__}: {error}")[1:-1]
    return text if len(text) <= _REASON_CHARACTERS else f"{text[:_REASON_CHARACTERS]}…"
