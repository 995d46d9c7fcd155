"""One job on one worker: what the child says becomes results, and its end becomes an `Execution`."""

import os
import signal
from collections.abc import Callable
from typing import Any

from triathlon_runner.sandbox._api import (
    Call,
    Ended,
    Execution,
    Job,
    Prepared,
    Raised,
    Returned,
    SandboxError,
    Sent,
)
from triathlon_runner.sandbox._decode import MalformedError
from triathlon_runner.sandbox._exchange import Exchange
from triathlon_runner.sandbox._inside import frames, messages
from triathlon_runner.sandbox._inside.confine import SCRATCH_BYTES
from triathlon_runner.sandbox._wire import wire_of
from triathlon_runner.sandbox._worker import ChildEnd, Worker

OnResult = Callable[[int, Returned | Raised], bool]
"""Sees each result as it comes; False stops the child."""
OnSent = Callable[[int, Sent | Raised], bool]
"""The same for a job whose results are not kept."""
OnQuestion = Callable[[str, tuple[Any, ...]], None]
"""Sees a call that the child wants made elsewhere; the answer is given with `Run.answer`."""

_FRAME_SLACK = 1 << 16
_KILLED_FROM_OUTSIDE = (
    "the process of a program was killed (SIGKILL) by something outside the sandbox, most likely by the"
    " kernel because the machine ran out of memory; free some and run again"
)
_SCRATCH_FULL = f"wrote more than {SCRATCH_BYTES >> 20} MiB of files, or too many folders"


class Run:
    """Made, executed once, thrown away. Whatever the child sends is a result about the child."""

    def __init__(
        self,
        job: Job,
        worker: Worker,
        *,
        on_result: OnResult | None = None,
        on_sent: OnSent | None = None,
        on_question: OnQuestion | None = None,
        interactive: bool = False,
    ) -> None:
        """`interactive`: calls and answers come while it runs, until `finish`."""
        self._job = job
        self._worker = worker
        self._on_result = on_result
        self._on_sent = on_sent
        self._on_question = on_question
        self._interactive = interactive
        self.finished = not interactive
        self._wire = wire_of(job.language)
        self._results: list[Returned | Raised] = []
        self._asked = len(job.calls)
        self._answered = 0
        self._loaded = False
        self._over = False
        self._ended: Ended | None = None
        self._detail = ""
        self._error: Exception | None = None
        self._exchange: Exchange | None = None
        self._waiting = self._opening()

    async def execute(self) -> Execution:
        """Runs the child to its end.

        Raises:
            SandboxError: our machinery failed.
            Exception: whatever a callback raised; the child is dead by then.
        """
        limits = self._job.limits
        exchange = Exchange(
            self._worker.take_ends(),
            self._on_frame,
            self._on_broken,
            frame_limit=limits.result_bytes + _FRAME_SLACK,
            output_limit=limits.output_bytes,
        )
        try:
            self._exchange = exchange
            self._feed(b"", last=self.finished)
            exchange.listen(at_once=self._interactive)
            end = await self._worker.run(limits, exchange)
            self._over = True
            exchange.drain()
        finally:
            exchange.close()
        if self._error is not None:
            raise self._error
        ended, detail = self._conclusion(end)
        return Execution(
            ended=ended,
            results=tuple(self._results),
            detail=detail,
            stdout=exchange.printed(0),
            stderr=exchange.printed(1),
            cpu_seconds=end.cpu_seconds,
        )

    def _opening(self) -> bytes:
        limits, calls = self._job.limits, self._job.calls
        parts = [frames.MEMORY.pack(limits.memory_bytes), self._wire.program(self._job)]
        if isinstance(calls, Prepared):
            return b"".join([*parts, calls.frames])
        # One that asks questions would take the next call for an answer.
        at_once = calls if self._on_question is None else calls[:1]
        return b"".join([*parts, *map(self._wire.call, at_once)])

    def _feed(self, data: bytes, *, last: bool) -> None:
        """Sends to the child, or keeps for it until it is there."""
        self._waiting += data
        if self._exchange is not None:
            data, self._waiting = self._waiting, b""
            self._exchange.feed(data, last=last)

    def call(self, call: Call) -> None:
        """One more call.

        Raises:
            SandboxError: its arguments can't cross; it is not made.
        """
        data = self._wire.call(call)
        self._asked += 1
        self._feed(data, last=False)

    def answer(self, result: Returned | Raised) -> bool:
        """Answers the question that the child waits for."""
        self._feed(self._wire.answer(result), last=False)
        return True

    def finish(self) -> None:
        """No more calls or answers come; the child ends when it has done what it has."""
        self.finished = True
        self._feed(b"", last=True)

    def stop(self, ended: Ended, detail: str = "") -> bool:
        """Kills the child for this reason, unless there is one already."""
        if self._ended is None:
            self._ended, self._detail = ended, detail
            if not self._over:
                self._worker.kill_child()
        return False

    def _on_frame(self, kind: bytes, payload: bytes) -> bool:
        try:
            return self._handle(kind, payload)
        except MalformedError as error:
            return self.stop(Ended.DIED, f"sent a malformed value: {error}")
        except Exception as error:  # the caller's own, or ours: an event loop would only log it
            self._error = error
            return self.stop(Ended.STOPPED)

    def _handle(self, kind: bytes, payload: bytes) -> bool:
        if not self._loaded and kind in (frames.LOADED, frames.NOT_LOADED):
            return self._on_load(kind, payload)
        if kind == frames.ASK and self._on_question is not None:
            return self._on_ask(payload)
        if not self._loaded or kind not in (frames.VALUE, frames.RAISED) or self._answered == self._asked:
            return self.stop(Ended.DIED, f"sent an unexpected frame {kind!r}")
        more = self._take(payload, failed=kind == frames.RAISED)
        self._answered += 1
        if self._on_question is not None:
            self._go_on()
        return more or self.stop(Ended.STOPPED)

    def _go_on(self) -> None:
        """Gives a child that asks questions its next call, or lets it end."""
        calls = self._job.calls
        if self._answered < self._asked and not isinstance(calls, Prepared):
            self._feed(self._wire.call(calls[self._answered]), last=False)
        else:
            self.finish()

    def _take(self, payload: bytes, *, failed: bool) -> bool:
        """Hands on one result; False where no more are wanted."""
        if self._on_sent is not None:
            return self._on_sent(self._answered, self._wire.raised(payload) if failed else Sent(payload))
        result: Returned | Raised = (
            self._wire.raised(payload) if failed else Returned(self._wire.value(payload), len(payload))
        )
        self._results.append(result)
        return self._on_result is None or self._on_result(self._answered, result)

    def _on_load(self, kind: bytes, payload: bytes) -> bool:
        self._loaded = True
        if kind == frames.LOADED:
            if self._on_question is not None and not self._job.calls:
                self.finish()
            return True
        self._results.append(self._wire.raised(payload))
        return self.stop(Ended.NOT_LOADED)

    def _on_ask(self, payload: bytes) -> bool:
        question = self._wire.value(payload)
        if not (isinstance(question, list) and len(question) == 2 and isinstance(question[0], str)):
            raise MalformedError("a question that is no call")
        function, arguments = question
        if not isinstance(arguments, list):
            raise MalformedError("a question that is no call")
        assert self._on_question is not None
        self._on_question(function, tuple(arguments))
        return True

    def _on_broken(self, detail: str) -> None:
        self.stop(Ended.DIED, detail)

    def _conclusion(self, end: ChildEnd) -> tuple[Ended, str]:
        """How it ended, and why.

        Raises:
            SandboxError: somebody outside the sandbox killed the child.
        """
        if self._ended is not None:
            return self._ended, self._detail
        code = os.waitstatus_to_exitcode(end.status)
        limits = self._job.limits
        if end.note == messages.OUT_OF_TIME:
            return Ended.TIMED_OUT, f"used more than {limits.cpu_seconds:.1f} s of CPU time"
        if end.note == messages.ASLEEP:
            return Ended.TIMED_OUT, f"did nothing for {limits.wall_seconds:g} s"
        if end.note == messages.SCRATCH:
            return Ended.DIED, _SCRATCH_FULL
        if code == 0 and self._loaded and self._answered == self._asked:
            return Ended.FINISHED, ""
        if code == -signal.SIGKILL:  # not by the server, nor by itself: the filter makes that another signal
            raise SandboxError(_KILLED_FROM_OUTSIDE)
        return Ended.DIED, f"killed by signal {-code}" if code < 0 else f"exited with status {code}"
