"""Running a plan: models beside or after each other, units in flight, lines appended as they finish."""

import asyncio
import time
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field

from triathlon_runner.endpoints import Model, ModelUnavailableError
from triathlon_runner.errors import InfrastructureError, UserError, leaves
from triathlon_runner.grading import Grader
from triathlon_runner.records import UnitRecord
from triathlon_runner.schedule._identity import WEIGHTS, difference
from triathlon_runner.schedule._manifest import Conditions, differs, manifest_of, stands_finished
from triathlon_runner.schedule._plan import Plan, Work
from triathlon_runner.schedule._progress import Progress
from triathlon_runner.schedule._reach import Reached, Reacher
from triathlon_runner.schedule._stop import Account, Bounds, Stop
from triathlon_runner.serving import ServerLostError
from triathlon_runner.store import ResultsFile, ResultsFolder, Unit, UnreadableManifestError, archive

UNITS_PER_SLOT = 3
"""Units in flight for each request that may be: some ask while the programs of others are executed."""


@dataclass(slots=True)
class Summary:
    """How a run ended."""

    finished: int = 0
    open: int = 0
    other_protocol: dict[str, str] = field(default_factory=dict)
    """`model suite` whose lines were made under other conditions, and which: kept, not mixed, not asked
    again."""
    errors: list[str] = field(default_factory=list)
    """Models that could not be run to their end, each with what to do."""
    failures: Counter[str] = field(default_factory=Counter)
    """Why units stay open."""
    stopped: str = ""
    """Why nothing new was started any more; empty where everything was."""

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
        bounds: Bounds | None = None,
        *,
        ask_again: bool = False,
    ) -> None:
        """`ask_again` archives results that were made under other conditions, and asks their units anew."""
        self._folder = folder
        self._grader = grader
        self._reacher = reacher
        self._progress = progress
        self._conditions = conditions
        self._bounds = bounds or Bounds()
        self._ask_again = ask_again
        self._reaching: set[asyncio.Task[None]] = set()
        self.stop = Stop(on_stop=[self._wait_no_longer])
        self.summary = Summary()

    async def run(self, plan: Plan) -> Summary:
        """Runs all of it: models behind an API beside each other, those that we serve as there is room.

        Raises:
            UserError: the results folder cannot be read or written; what was written stays whole.
        """
        async with asyncio.TaskGroup() as group:
            for works in plan.work.values():
                if works:
                    group.create_task(self._model(works))
        self.summary.stopped = self.stop.reason
        return self.summary

    async def _model(self, works: Sequence[Work]) -> None:
        row = works[0].row
        with ExitStack() as stack:
            stack.enter_context(self._folder.locked(row.id))
            opened = [one for work in works if (one := self._open(work, stack)) is not None]
            if not any(one.left for one in opened) or self.stop.asked:
                self._close(opened, None)
                return
            await self._ask_all(opened)

    async def _ask_all(self, opened: Sequence[_Opened]) -> None:
        begin = time.monotonic()
        reached: list[Reached] = []
        try:
            await self._reach_and_ask(opened, reached)
        except* (ModelUnavailableError, ServerLostError, UserError) as errors:
            self._give_up(opened[0].work.row.id, errors)
        finally:
            self._close(opened, reached[0] if reached else None, time.monotonic() - begin)

    async def _reach_and_ask(self, opened: Sequence[_Opened], found: list[Reached]) -> None:
        """Puts the model that answers into `found`; returns early where a stop comes meanwhile."""
        row, task = opened[0].work.row, asyncio.current_task()
        assert task is not None
        self._reaching.add(task)
        try:
            async with self._reacher.reach(row) as reached:
                self._reaching.discard(task)
                found.append(reached)
                if reached.stats is not None:
                    account = Account(row.id, reached.stats, row.price)
                    self._bounds.accounts.append(account)
                    self._progress.attach(account)
                await self._units(self._same_weights(opened, reached), reached)
        except asyncio.CancelledError:
            if task not in self._reaching or not self.stop.asked:
                raise
            task.uncancel()  # it only waited for its server; nothing was asked
        finally:
            self._reaching.discard(task)

    def _wait_no_longer(self) -> None:
        """Nothing new is started, so no server need be."""
        for task in self._reaching:
            task.cancel()

    def _open(self, work: Work, stack: ExitStack) -> _Opened | None:
        """Opens the results file; None where it is finished, was made under other conditions, or nothing can
        be known of its lines.
        """
        model, suite, planned = work.row.id, work.suite_id, work.built.count
        try:
            before = self._folder.read_manifest(model, suite)
        except UnreadableManifestError as error:  # of this file alone: the others go on
            self._stop_at(f"{model} {suite}: {error}")
            return None
        if stands_finished(work, before, self._folder.size(model, suite)):
            self._progress.plan(model, suite, planned=planned, done=planned)
            return None
        path = self._folder.lines(model, suite)
        file = stack.enter_context(ResultsFile(path, work.built.entry.record))
        if (why := differs(work, file, before)) and not self._archive(work, file, why):
            return None
        left = work.open_units(file.units)
        self._progress.plan(model, suite, planned=planned, done=planned - len(left))
        return _Opened(work, file, deque(left))

    def _same_weights(self, opened: Sequence[_Opened], reached: Reached) -> list[_Opened]:
        """Those whose lines were made with the weights that are served now, with a manifest that says so.

        The manifest is written before anything is asked: after a kill it is known what the lines are.
        """
        kept = []
        for one in opened:
            before = self._folder.read_manifest(one.work.row.id, one.work.suite_id)
            now = {**one.work.identity, **({WEIGHTS: reached.weights} if reached.weights else {})}
            changed = difference(before.identity, now) if before is not None and one.file.units else ""
            if changed:
                if not self._archive(one.work, one.file, f"another model: {changed}"):
                    one.left.clear()
                    continue
                one.left = deque(one.work.open_units(()))
            self._write_manifest(one, reached, begins=bool(one.left))
            kept.append(one)
        return kept

    def _archive(self, work: Work, file: ResultsFile[UnitRecord], why: str) -> bool:
        """Puts lines of other conditions aside where the user wants that; else says that they are kept."""
        model, suite = work.row.id, work.suite_id
        if not self._ask_again:
            self.summary.other_protocol[f"{model} {suite}"] = why
            return False
        target = archive(self._folder, model, suite)
        file.restart()
        self._progress.say(f"{model} {suite}: results of {why} are archived: {target.lines}")
        return True

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
            self._stop_at(message)

    def _stop_at(self, message: str) -> None:
        self.summary.errors.append(message)
        self._progress.say(message)

    async def _worker(self, turns: Iterator[tuple[_Opened, Unit]], model: Model) -> None:
        while not self._must_stop():
            turn = next(turns, None)
            if turn is None:
                return
            one, (task_id, sample) = turn
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

    def _must_stop(self) -> bool:
        if not self.stop.asked and (why := self._bounds.reached()):
            self.stop.ask(why)
            self._progress.say(f"{why}: finishing what is in flight; the next run goes on from here")
        return self.stop.asked

    def _close(self, opened: Sequence[_Opened], reached: Reached | None, seconds: float = 0.0) -> None:
        for one in opened:
            name = f"{one.work.row.id} {one.work.suite_id}"
            if name in self.summary.other_protocol:
                continue
            one.file.sort(one.work.built.order)
            self.summary.open += len(one.work.open_units(one.file.units))
            self.summary.failures.update(one.failures)
            self._write_manifest(one, reached, seconds)

    def _write_manifest(
        self, one: _Opened, reached: Reached | None, seconds: float = 0.0, *, begins: bool = False
    ) -> None:
        stats = reached.stats if reached else None
        manifest = manifest_of(
            one.work,
            one.file,
            conditions=self._conditions,
            before=self._folder.read_manifest(one.work.row.id, one.work.suite_id),
            reached=reached,
            failures=one.failures,
            speed=round(stats.output_tokens / seconds, 2) if stats and seconds else None,
            begins=begins,
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
