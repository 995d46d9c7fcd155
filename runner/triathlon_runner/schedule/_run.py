"""Running a plan: models beside or after each other, units in flight, lines appended as they finish."""

import asyncio
import contextlib
import logging
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field

from triathlon_runner.endpoints import EndpointStats, Model, ModelUnavailableError, ServerUnreachableError
from triathlon_runner.errors import InfrastructureError, UserError, leaves
from triathlon_runner.grading import Grader
from triathlon_runner.records import UnitRecord
from triathlon_runner.schedule._control import Control, ControlledModel, RunStoppedError
from triathlon_runner.schedule._identity import WEIGHTS, difference
from triathlon_runner.schedule._manifest import Conditions, differs, manifest_of, stands_finished
from triathlon_runner.schedule._plan import Plan, Work
from triathlon_runner.schedule._progress import Progress
from triathlon_runner.schedule._reach import Reached, Reacher
from triathlon_runner.schedule._stop import Account
from triathlon_runner.serving import ServerLostError
from triathlon_runner.store import (
    DamagedLineError,
    ResultsFile,
    ResultsFolder,
    Unit,
    UnreadableManifestError,
    archive,
)

UNITS_PER_SLOT = 3
"""Units in flight for each request that may be: some ask while the programs of others are executed."""
STOP_SECONDS = 30.0
"""How long a run that is to stop waits for what is in flight."""
_LOOK_SECONDS = 0.25
"""Between two looks at the bounds while nothing is sent, and at what a stop still waits for."""
_SAY_SECONDS = 5.0
_REASON_CHARACTERS = 200
_LOG = logging.getLogger(__name__)


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
    broken: int = 0
    """Units that stay open because of an error in this program; the log has the tracebacks."""
    notes: list[str] = field(default_factory=list)
    """What else a reader of the results should know, such as a judge that was lost on the way."""
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


@dataclass(slots=True)
class _Ended:
    """How one model's last try ended."""

    open: int = 0
    failures: Counter[str] = field(default_factory=Counter)
    errors: list[str] = field(default_factory=list)
    is_unreachable: bool = False
    """Its server does not answer: another time it may."""


class Runner:
    """Runs plans against one results folder."""

    def __init__(
        self,
        folder: ResultsFolder,
        grader: Grader,
        reacher: Reacher,
        progress: Progress,
        conditions: Conditions,
        control: Control | None = None,
        *,
        ask_again: bool = False,
        stop_seconds: float = STOP_SECONDS,
    ) -> None:
        """Makes a runner for one run.

        Args:
            folder: where results are.
            grader: judges programs.
            reacher: opens models; its requests should pass the same `control`.
            progress: is told how far the run is.
            conditions: what is the same for every suite, for the manifests.
            control: money, time and how the run is stopped.
            ask_again: archives results that were made under other conditions, and asks their units anew.
            stop_seconds: how long a stop waits for requests in flight and programs being judged.
        """
        self._folder = folder
        self._grader = grader
        self._reacher = reacher
        self._progress = progress
        self._conditions = conditions
        self._control = control or Control()
        self._ask_again = ask_again
        self._stop_seconds = stop_seconds
        self._reaching: set[asyncio.Task[None]] = set()
        self._busy: set[asyncio.Task[None]] = set()
        """Those that run a unit."""
        self._is_cut = False
        self._stopping = asyncio.Event()
        self._broken: dict[str, set[tuple[str, Unit]]] = {}
        """By model: units that are not tried again in this run, with their suites."""
        self._ended: dict[str, _Ended] = {}
        self.stop = self._control.stop
        self.stop.on_stop += [self._wait_no_longer, self._stopping.set]
        self.summary = Summary()

    async def run(self, plan: Plan) -> Summary:
        """Runs all of it: models behind an API beside each other, those that we serve as there is room.

        A model whose server did not answer any more is tried once again when all others are done.

        Raises:
            UserError: the results folder cannot be read or written; what was written stays whole.
        """
        watch = asyncio.create_task(self._watch())
        try:
            await self._all(list(plan.work.values()))
            unreachable = [
                works for works in plan.work.values() if works and self._ended[works[0].row.id].is_unreachable
            ]
            if unreachable and len(plan.work) > 1 and not self.stop.asked:
                for works in unreachable:
                    self._progress.say(f"{works[0].row.id}: its server did not answer; trying once more")
                await self._all(unreachable)
        finally:
            watch.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await watch
            self._sum_up()
        return self.summary

    async def _all(self, plan: Sequence[Sequence[Work]]) -> None:
        async with asyncio.TaskGroup() as group:
            for works in plan:
                if works:
                    group.create_task(self._model(works))

    def _sum_up(self) -> None:
        self.summary.stopped = self.stop.reason
        for ended in self._ended.values():
            self.summary.open += ended.open
            self.summary.failures.update(ended.failures)
            self.summary.errors += ended.errors
        self.summary.broken = sum(map(len, self._broken.values()))

    async def _watch(self) -> None:
        """Stops the run at its deadline, and sees to it that a run which is to stop ends soon."""
        while self._control.may_send():
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._stopping.wait(), _LOOK_SECONDS)
        self._progress.say(
            f"{self.stop.reason}: finishing what is in flight ({self._in_flight()}), for at most"
            f" {self._stop_seconds:g} s; the next run goes on from here; Ctrl-C stops at once"
        )
        clock = asyncio.get_running_loop().time
        ends = clock() + self._stop_seconds
        say_again = clock() + _SAY_SECONDS
        while clock() < ends:
            if not self._control.in_flight:
                self._control.release()
            await asyncio.sleep(min(_LOOK_SECONDS, max(0.0, ends - clock())))
            if self._busy and clock() >= say_again:
                say_again += _SAY_SECONDS
                self._progress.say(f"stopping: waiting for {self._in_flight()}")
        if self._busy:
            self._progress.say(f"{self._stop_seconds:g} s are over: given up are {self._in_flight()}")
        self._is_cut = True
        for task in self._busy:
            task.cancel()

    def _in_flight(self) -> str:
        requests = self._control.in_flight
        judged = max(0, len(self._busy) - self._control.waiting)
        return f"{requests} requests, {judged} units being judged"

    async def _model(self, works: Sequence[Work]) -> None:
        row = works[0].row
        self._ended[row.id] = _Ended()
        with ExitStack() as stack:
            stack.enter_context(self._folder.locked(row.id))
            opened = [one for work in works if (one := self._open(work, stack)) is not None]
            if not any(one.left for one in opened) or self.stop.asked:
                self._close(opened, None)
                return
            await self._ask_all(opened)

    async def _ask_all(self, opened: Sequence[_Opened]) -> None:
        reached: list[Reached] = []
        try:
            await self._reach_and_ask(opened, reached)
        except* (ModelUnavailableError, ServerLostError, UserError) as errors:
            self._give_up(opened[0].work.row.id, errors)
        finally:
            self._close(opened, reached[0] if reached else None)

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
                    self._control.bounds.accounts.append(account)
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
            self._stop_at(model, f"{model} {suite}: {error}")
            return None
        if stands_finished(work, before, self._folder.size(model, suite)):
            self._progress.plan(model, suite, planned=planned, done=planned)
            return None
        path = self._folder.lines(model, suite)
        try:
            file = stack.enter_context(ResultsFile(path, work.built.entry.record))
        except DamagedLineError as error:  # likewise
            self._stop_at(model, f"{model} {suite}: {error}")
            return None
        if (why := differs(work, file, before)) and not self._archive(work, file, why):
            return None
        left = work.open_units(file.units)
        self._progress.plan(model, suite, planned=planned, done=planned - len(left))
        broken = self._broken.get(model, set())
        return _Opened(work, file, deque(unit for unit in left if (suite, unit) not in broken))

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
        model = ControlledModel(reached.model, self._control)
        async with asyncio.TaskGroup() as group:
            for _ in range(min(reached.slots * UNITS_PER_SLOT, sum(len(one.left) for one in opened))):
                group.create_task(self._worker(turns, model))

    def _give_up(self, model: str, errors: BaseExceptionGroup[Exception]) -> None:
        """This model cannot go on; the others can. Each reason is said once."""
        found = list(leaves(errors))
        self._ended[model].is_unreachable = all(isinstance(error, ServerUnreachableError) for error in found)
        for message in dict.fromkeys(f"{model}: {error}" for error in found):
            self._stop_at(model, message)

    def _stop_at(self, model: str, message: str) -> None:
        self._ended[model].errors.append(message)
        self._progress.say(message)

    async def _worker(self, turns: Iterator[tuple[_Opened, Unit]], model: Model) -> None:
        while self._control.may_send():
            turn = next(turns, None)
            if turn is None:
                return
            with self._counted_as_busy():
                await self._unit(*turn, model)

    @contextmanager
    def _counted_as_busy(self) -> Iterator[None]:
        """Around a unit, which a stop gives up in the end: it is over then, and its task goes on."""
        task = asyncio.current_task()
        assert task is not None
        self._busy.add(task)
        try:
            yield
        except asyncio.CancelledError:
            if not self._is_cut:
                raise
            task.uncancel()
        finally:
            self._busy.discard(task)

    async def _unit(self, one: _Opened, unit: Unit, model: Model) -> None:
        work = one.work
        try:
            record = await work.built.suite.run(*unit, model, self._grader, work.protocol)
            one.file.append(record)
        except Exception as error:
            self._failed(one, unit, error)
        else:
            self.summary.finished += 1
            self._progress.finished(record)

    def _failed(self, one: _Opened, unit: Unit, error: Exception) -> None:
        """Leaves the unit open: its infrastructure failed, or this program did, which is no model's fault.

        Raises:
            ModelUnavailableError: the model cannot go on; likewise ServerLostError.
            UserError: a file cannot be written.
        """
        found = list(leaves(error))
        if final := next((leaf for leaf in found if isinstance(leaf, _FINAL)), None):
            if not isinstance(final, UserError):
                one.failures[str(final)] += 1
            raise final
        unknown = next((leaf for leaf in found if not isinstance(leaf, InfrastructureError)), None)
        if unknown is None and any(isinstance(leaf, RunStoppedError) for leaf in found):
            return
        model, suite = one.work.row.id, one.work.suite_id
        reason = str(found[0])
        if unknown is not None:
            reason = _in_a_line(unknown)
            self._broken.setdefault(model, set()).add((suite, unit))
            _LOG.error("%s %s %s, sample %d", model, suite, *unit, exc_info=error)
        one.failures[reason] += 1
        self._progress.failed(model, suite, reason)

    def _close(self, opened: Sequence[_Opened], reached: Reached | None) -> None:
        for one in opened:
            model = one.work.row.id
            if f"{model} {one.work.suite_id}" in self.summary.other_protocol:
                continue
            one.file.sort(one.work.built.order)
            ended = self._ended[model]
            ended.open += len(one.work.open_units(one.file.units))
            ended.failures.update(one.failures)
            self._write_manifest(one, reached, _speed(reached.stats if reached else None))

    def _write_manifest(
        self, one: _Opened, reached: Reached | None, speed: float | None = None, *, begins: bool = False
    ) -> None:
        manifest = manifest_of(
            one.work,
            one.file,
            conditions=self._conditions,
            before=self._folder.read_manifest(one.work.row.id, one.work.suite_id),
            reached=reached,
            failures=one.failures,
            speed=speed,
            begins=begins,
        )
        if manifest is not None:
            self._folder.write_manifest(manifest)


_FINAL = (ModelUnavailableError, ServerLostError, UserError)
"""What ends a model's part of the run."""


def _in_a_line(error: BaseException) -> str:
    """An exception of no kind that is expected, short and printable: it may quote what a model wrote."""
    text = ascii(f"{type(error).__name__}: {error}")[1:-1]
    return text if len(text) <= _REASON_CHARACTERS else f"{text[:_REASON_CHARACTERS]}…"


def _speed(stats: EndpointStats | None) -> float | None:
    """Output tokens a second while the server was answering; None where nobody counted any."""
    if stats is None or not stats.busy_seconds:
        return None
    return round(stats.output_tokens / stats.busy_seconds, 2)


def _alternate(opened: Sequence[_Opened]) -> Iterator[tuple[_Opened, Unit]]:
    """One unit of each suite in turn, so that no suite waits for another."""
    waiting = deque(one for one in opened if one.left)
    while waiting:
        one = waiting.popleft()
        unit = one.left.popleft()
        if one.left:
            waiting.append(one)
        yield one, unit
