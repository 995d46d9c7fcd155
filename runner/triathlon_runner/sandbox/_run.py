"""One job in one child: what the child sends becomes results as it is read, and its end an `Execution`."""

import asyncio
import math
import os
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from triathlon_runner.languages import Language
from triathlon_runner.sandbox._api import (
    Call,
    Ended,
    Execution,
    Job,
    MalformedError,
    Prepared,
    Raised,
    Returned,
    SandboxError,
    Sent,
    TakeResult,
    malformed,
)
from triathlon_runner.sandbox._inside import messages, system
from triathlon_runner.sandbox._inside.confine import SCRATCH_BYTES
from triathlon_runner.sandbox._pipes import FRAME_SLACK, Pipes
from triathlon_runner.sandbox._wire import JSON_WIRE, PYTHON_WIRE
from triathlon_runner.sandbox._worker import ChildEnd, Worker

SLEEP_CHECK_SECONDS = 0.25
SLEEPING_SHARE = 0.03
"""A child that uses less than this share of a core counts as asleep, in proportion: with half the share half
of the time, without any CPU time all of it. One that computes a little now and then, to seem awake, ends
after 33 times its limit."""
_NANOSECONDS = 1e9
_LARGE_SHARE = 0.5
"""A program that had this share of its limit when the kernel killed it has itself exhausted the memory."""
_KILLED_FROM_OUTSIDE = (
    "the process of a program was killed (SIGKILL) by something outside the sandbox, most likely by the"
    " kernel because the machine ran out of memory; free some and run again"
)


class Run:
    """One job and its child. Results are taken in callbacks, while `execute` waits for the child's end."""

    def __init__(
        self,
        job: Job,
        worker: Worker,
        take: TakeResult,
        *,
        ask: Callable[[Call], None] | None = None,
        stays_open: bool = False,
    ) -> None:
        """Takes the child that the worker has ready; `take` gets its results.

        `ask` gets the calls of the `relayed` functions of a job without calls, one after another; `answer`
        answers them.
        `stays_open`: calls are made with `call` while the child runs, until `finish`.
        """
        self._job, self._worker = job, worker
        self._take, self._ask = take, ask
        self._wire = PYTHON_WIRE if job.language is Language.PYTHON else JSON_WIRE
        self._expected, self._arrived = len(job.calls), 0
        self.is_finished = not stays_open and ask is None
        """Whether the child gets no more calls or answers."""
        self._is_loaded = self._is_asking = False
        self._load_fault: tuple[Raised, ...] = ()
        self._stopped: tuple[Ended, str] | None = None
        self._error: Exception | None = None
        """What the taker of the results raised."""
        self._sleep: SleepWatch | None = None
        self._pipes = Pipes(worker.take_ends(), job.limits, self._on_frame)

    async def execute(self) -> Execution:
        """Executes the job; raises SandboxError where our machinery failed, and what `take` raises."""
        try:
            opening = [messages.MEMORY.pack(self._job.limits.memory_bytes), self._wire.program(self._job)]
            calls = self._job.calls
            if isinstance(calls, Prepared):
                opening.append(calls.frames)
            else:
                opening += map(self._wire.call, calls)
            self._pipes.feed(b"".join(opening), last=self.is_finished)
            self._pipes.listen(at_once=not self.is_finished)
            end = await self._worker.run(self._job.limits.cpu_seconds, self._watch_sleep)
            self._pipes.drain()
        finally:
            if self._sleep is not None:
                self._sleep.close()
            self._pipes.close()
        if self._error is not None:
            raise self._error
        ended, detail = self._conclusion(end)
        return Execution(ended, self._load_fault, detail, *self._pipes.printed(), end.cpu_seconds)

    def call(self, call: Call) -> None:
        """Makes one more call, whose result `take` gets; raises SandboxError where it cannot be sent."""
        frame = self._wire.call(call)
        self._expected += 1
        self._pipes.feed(frame, last=False)

    def answer(self, result: Returned | Raised) -> None:
        """Answers the child's question."""
        self._is_asking = False
        self._pipes.feed(self._wire.answer(result), last=False)

    def finish(self) -> None:
        """Tells the child that no more calls or answers come; it answers those that it has and ends."""
        self.is_finished = True
        self._pipes.feed(b"", last=True)

    def stop(self, ended: Ended, detail: str = "") -> None:
        """Kills the child for this reason, unless it was stopped for another one before."""
        if self._stopped is None:
            self._stopped = ended, detail
            self._worker.kill_child()

    # What arrives

    def _on_frame(self, kind: bytes, payload: bytes, size: int) -> bool:
        """Takes one frame; False where the child may send no more."""
        try:
            self._receive(kind, payload, size)
        except MalformedError as error:
            self.stop(Ended.DIED, malformed(error))
        except Exception as error:
            self._error = error
            self.stop(Ended.STOPPED)
        return self._stopped is None

    def _receive(self, kind: bytes, payload: bytes, size: int) -> None:
        most = self._job.limits.result_bytes + FRAME_SLACK
        is_result = self._is_loaded and self._arrived < self._expected
        if size > most:
            self.stop(Ended.DIED, f"sent a frame of {size} bytes where {most} are allowed")
        elif kind == messages.VALUE and is_result:
            self._hand_on(Sent(payload, size, self._wire.loads))
        elif size > len(payload):
            self.stop(Ended.DIED, f"sent a frame {kind!r} of {size} bytes")
        elif kind == messages.RAISED and is_result:
            self._hand_on(self._wire.raised(payload))
        elif kind == messages.LOADED and not self._is_loaded:
            self._is_loaded = True
            if self._ask is not None:
                self.finish()
        elif kind == messages.NOT_LOADED and not self._is_loaded:
            self._load_fault = (self._wire.raised(payload),)
            self.stop(Ended.NOT_LOADED)
        elif kind == messages.ASK and self._ask is not None and not self._is_asking:
            self._is_asking = True
            self._ask(self._wire.question(payload))
        else:
            self.stop(Ended.DIED, f"sent an unexpected frame {kind!r}")

    def _hand_on(self, result: Sent | Raised) -> None:
        """Gives one result to the taker."""
        self._arrived += 1
        if not self._take(self._arrived - 1, result):
            self.stop(Ended.STOPPED)

    def _watch_sleep(self, process: int) -> None:
        """Begins to watch a child that has run for a moment."""
        limit = self._job.limits.wall_seconds

        def stop() -> None:
            self.stop(Ended.TIMED_OUT, f"did nothing for {limit:g} s")

        self._sleep = SleepWatch(process, limit, self._waits_for_runner, self._pipes.has_been_behind, stop)

    def _waits_for_runner(self) -> bool:
        """Whether the child can do nothing before it is called once more, or its question is answered."""
        has_no_call = self._is_loaded and self._arrived == self._expected and not self.is_finished
        return self._is_asking or has_no_call

    def _conclusion(self, end: ChildEnd) -> tuple[Ended, str]:
        """How it ended, and why; raises SandboxError where our machinery, or something outside, is why."""
        if self._stopped is not None:
            return self._stopped
        if not end.confined:
            said = self._pipes.printed()[1] or f"status {end.status}"
            raise SandboxError(f"the sandbox server could not confine a child: {said}")
        code = os.waitstatus_to_exitcode(end.status)
        limits = self._job.limits
        if end.note == messages.OUT_OF_TIME:
            return Ended.TIMED_OUT, f"used more than {limits.cpu_seconds:.1f} s of CPU time"
        if end.note == messages.SCRATCH:
            return Ended.DIED, f"wrote more than {SCRATCH_BYTES >> 20} MiB of files, or too many folders"
        if code == 0 and self._is_loaded and self._arrived == self._expected:
            return Ended.FINISHED, ""
        if code == -signal.SIGKILL:  # not by the server, nor by itself: the filter makes that another signal
            if end.peak_bytes < _LARGE_SHARE * limits.memory_bytes:
                raise SandboxError(_KILLED_FROM_OUTSIDE)
            most = f"{end.peak_bytes >> 20} MiB"
            return Ended.DIED, f"out of memory: killed by the kernel when it had {most}"
        return Ended.DIED, f"killed by signal {-code}" if code < 0 else f"exited with status {code}"


class SleepWatch:
    """Measures how long one child sleeps, a few times a second, until that is too long.

    A child that waits for a processor on a busy machine uses no CPU time either, nor does one that waits for
    a call, an answer, or until the runner reads its results: such time is no sleep.
    """

    def __init__(
        self,
        process: int,
        limit: float,
        waits_for_runner: Callable[[], bool],
        has_been_behind: Callable[[], bool],
        on_limit: Callable[[], None],
    ) -> None:
        """Takes ownership of a descriptor of the child's process (pidfd); the limit is in seconds.

        `waits_for_runner`: whether the child waits for a call or an answer now. `has_been_behind`: whether it
        may have waited until its results were read, since the last call: then it did while this thread was
        occupied. A thread that sleeps has read all.
        """
        self._process, self._limit, self._waits_for_runner = process, limit, waits_for_runner
        self._has_been_behind, self._on_limit = has_been_behind, on_limit
        self._slept = self._counted = 0.0
        self._threads: dict[str, tuple[int, int]] = {}
        pid = self._pid()
        self._seconds_waited(pid)
        self._last = time.monotonic(), system.cpu_seconds(pid), _seconds_occupied()
        self._loop = asyncio.get_running_loop()
        self._timer = self._loop.call_later(SLEEP_CHECK_SECONDS, self._check)

    def close(self) -> None:
        self._timer.cancel()
        os.close(self._process)

    def _check(self) -> None:
        self._timer = self._loop.call_later(SLEEP_CHECK_SECONDS, self._check)
        with suppress(OSError):  # such as no descriptor that is free: measured at the next check
            if self.seconds_slept() >= self._limit:
                self._on_limit()

    def seconds_slept(self) -> float:
        """Adds what was slept since the last check, and returns all of it.

        A check that comes late, because the runner did something else and read nothing, counts as one in
        time. The kernel adds a wait for a processor when it is over: one that began before the last check,
        behind a moment of computing, was counted as sleep there, and is taken back here.
        """
        pid = self._pid()
        time_before, cpu_before, occupied_before = self._last
        self._last = now, cpu, occupied = time.monotonic(), system.cpu_seconds(pid), _seconds_occupied()
        waited = self._seconds_waited(pid)
        if self._has_been_behind():
            waited += occupied - occupied_before
        used = max(0.0, cpu - cpu_before)  # nothing any more of a child that has ended meanwhile
        most = 0.0 if self._waits_for_runner() else SLEEP_CHECK_SECONDS
        idle = min(now - time_before, most) - used / SLEEPING_SHARE
        slept = max(0.0, idle) - waited
        self._slept += max(slept, -self._counted)
        self._counted = max(0.0, slept)
        return self._slept

    def _pid(self) -> int:
        """The child's number; -1 where it has ended."""
        described = Path(f"/proc/self/fdinfo/{self._process}").read_text(encoding="ascii")
        return next(int(line.split()[1]) for line in described.splitlines() if line.startswith("Pid:"))

    def _seconds_waited(self, pid: int) -> float:
        """Seconds that its threads waited for a processor since the last call, by the kernel's counts.

        Infinite where one has waited all the time: a thread that is ready to run and has done nothing since
        the last call is still waiting.
        """
        waited, before, self._threads = 0.0, self._threads, {}
        with suppress(OSError):
            for folder in Path(f"/proc/{pid}/task").iterdir():
                with suppress(OSError, ValueError):  # this thread has just ended
                    ran, delayed, _ = map(int, (folder / "schedstat").read_text(encoding="ascii").split())
                    state = (folder / "stat").read_text(encoding="ascii", errors="replace")
                    if state.rpartition(") ")[2].startswith("R") and before.get(folder.name) == (
                        ran,
                        delayed,
                    ):
                        waited = math.inf
                    waited += max(0, delayed - before.get(folder.name, (0, 0))[1]) / _NANOSECONDS
                    self._threads[folder.name] = ran, delayed
        return waited


def _seconds_occupied() -> float:
    """Seconds that the calling thread has run or waited for a processor: all but those in which it slept."""
    try:
        ran, delayed, _ = map(int, Path("/proc/thread-self/schedstat").read_text(encoding="ascii").split())
    except OSError:  # a kernel that does not count them
        return 0.0
    return (ran + delayed) / _NANOSECONDS
