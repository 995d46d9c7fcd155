"""Running a plan: models beside or after each other, units in flight, lines appended as they finish."""

import asyncio
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field

from triathlon_runner.endpoints import Model, ModelUnavailableError
from triathlon_runner.errors import InfrastructureError, UserError, leaves
from triathlon_runner.grading import Grader
from triathlon_runner.records import UnitRecord
from triathlon_runner.schedule._manifest import Conditions, manifest_of
from triathlon_runner.schedule._plan import Plan, Work
from triathlon_runner.schedule._progress import Progress
from triathlon_runner.schedule._reach import Reached, Reacher
from triathlon_runner.serving import ServerLostError
from triathlon_runner.store import ResultsFile, ResultsFolder, Unit

UNITS_PER_SLOT = 2
"""Units in flight for each request that may be: one asks while another's program is executed."""


@dataclass(slots=True)
class Stop:
    """Set by the first Ctrl-C: nothing new is started, what is in flight is finished."""

    asked: bool = False


@dataclass(slots=True)
class Summary:
    """How a run ended."""

    finished: int = 0
    open: int = 0
    other_protocol: list[str] = field(default_factory=list)
    """`model suite` whose lines were made under another protocol: kept, not mixed, not asked again."""
    errors: list[str] = field(default_factory=list)
    """Models that could not be run to their end, each with what to do."""

    @property
    def exit_code(self) -> int:
        return 2 if self.errors else 1 if self.open else 0


@dataclass(slots=True)
class _Opened:
    """One work with its results file and what is left of it."""

    work: Work
    file: ResultsFile[UnitRecord]
    left: deque[Unit]
    failures: Counter[str] = field(default_factory=Counter)


class Runner:
    """Runs plans against one results folder."""

    def __init__(
        self,
        folder: ResultsFolder,
        grader: Grader,
        reacher: Reacher,
        progress: Progress,
        conditions: Conditions,
    ) -> None:
        self._folder = folder
        self._grader = grader
        self._reacher = reacher
        self._progress = progress
        self._conditions = conditions
        self.stop = Stop()
        self.summary = Summary()

    async def run(self, plan: Plan) -> Summary:
        """Runs all of it: models behind an API beside each other, those that we serve one after another.

        Raises:
            UserError: the results folder cannot be read or written; what was written stays whole.
        """
        served = [works for works in plan.work.values() if works and works[0].row.serve]
        remote = [works for works in plan.work.values() if works and works[0].row.api]
        async with asyncio.TaskGroup() as group:
            for works in remote:
                group.create_task(self._model(works))
            for works in served:
                await self._model(works)
        return self.summary

    async def _model(self, works: Sequence[Work]) -> None:
        row = works[0].row
        with ExitStack() as stack:
            stack.enter_context(self._folder.locked(row.id))
            opened = [one for work in works if (one := self._open(work, stack)) is not None]
            if not any(one.left for one in opened) or self.stop.asked:
                self._close(opened, None)
                return
            reached: Reached | None = None
            try:
                async with self._reacher.reach(row) as reached:
                    await self._units(opened, reached)
            except* (ModelUnavailableError, ServerLostError, UserError) as errors:
                self._give_up(row.id, errors)
            finally:
                self._close(opened, reached)

    def _open(self, work: Work, stack: ExitStack) -> _Opened | None:
        """Opens the results file; None where its lines were made under another protocol."""
        path = self._folder.lines(work.row.id, work.suite_id)
        file = stack.enter_context(ResultsFile(path, work.built.entry.record))
        if any(record.protocol != work.protocol for record in file.records.values()):
            self.summary.other_protocol.append(f"{work.row.id} {work.suite_id}")
            return None
        left = work.open_units(file.records)
        planned = len(work.built.units)
        self._progress.plan(work.row.id, work.suite_id, planned=planned, done=planned - len(left))
        return _Opened(work, file, deque(left))

    async def _units(self, opened: Sequence[_Opened], reached: Reached) -> None:
        turns = _alternate(opened)
        for one in opened:
            if one.left:
                self._progress.start(one.work.row.id, one.work.suite_id)
        async with asyncio.TaskGroup() as group:
            for _ in range(min(reached.slots * UNITS_PER_SLOT, sum(len(one.left) for one in opened))):
                group.create_task(self._worker(turns, reached.model))

    def _give_up(self, model: str, errors: BaseExceptionGroup[Exception]) -> None:
        """This model cannot go on; the others can. Each reason is said once."""
        for message in dict.fromkeys(f"{model}: {error}" for error in leaves(errors)):
            self.summary.errors.append(message)
            self._progress.say(message)

    async def _worker(self, turns: Iterator[tuple[_Opened, Unit]], model: Model) -> None:
        for one, (task_id, sample) in turns:
            if self.stop.asked:
                return
            work = one.work
            try:
                record = await work.built.suite.run(task_id, sample, model, self._grader, work.protocol)
            except ModelUnavailableError as error:
                one.failures[str(error)] += 1
                raise
            except InfrastructureError as error:
                one.failures[str(error)] += 1
                self._progress.failed(work.row.id, work.suite_id, str(error))
            else:
                one.file.append(record)
                self.summary.finished += 1
                self._progress.finished(record)

    def _close(self, opened: Sequence[_Opened], reached: Reached | None) -> None:
        for one in opened:
            work = one.work
            one.file.sort(work.built.order)
            open_units = len(work.open_units(one.file.records))
            self.summary.open += open_units
            before = self._folder.read_manifest(work.row.id, work.suite_id)
            manifest = manifest_of(
                work,
                one.file.records,
                conditions=self._conditions,
                before=before,
                reached=reached,
                failures=one.failures,
            )
            if manifest is not None:
                self._folder.write_manifest(manifest)


def _alternate(opened: Sequence[_Opened]) -> Iterator[tuple[_Opened, Unit]]:
    """One unit of each suite in turn, so that no suite waits for another."""
    waiting = deque(one for one in opened if one.left)
    while waiting:
        one = waiting.popleft()
        unit = one.left.popleft()
        if one.left:
            waiting.append(one)
        yield one, unit
