"""One job in one child: what the child sends becomes results, and its end becomes an `Execution`."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Awaitable, Callable
from types import TracebackType

from triathlon_runner.languages import Language
from triathlon_runner.sandbox._api import (
    Call,
    Ended,
    Execution,
    Hashed,
    Job,
    MalformedError,
    Prepared,
    Raised,
    Returned,
    SandboxError,
    Sent,
    malformed,
)
from triathlon_runner.sandbox._exchange import Exchange
from triathlon_runner.sandbox._inside import messages
from triathlon_runner.sandbox._inside.confine import SCRATCH_BYTES
from triathlon_runner.sandbox._wire import JsonWire, PythonWire
from triathlon_runner.sandbox._worker import ChildEnd, Worker

Relay = Callable[[Call], Awaitable[Returned | Raised | None]]
"""Makes a call for the child in another process; None where that process has ended."""

_KILLED_FROM_OUTSIDE = (
    "the process of a program was killed (SIGKILL) by something outside the sandbox, most likely by the"
    " kernel because the machine ran out of memory; free some and run again"
)
_LARGE_SHARE = 0.5
"""A program that had this share of its limit when the kernel killed it has itself exhausted the memory."""
_SCRATCH_FULL = f"wrote more than {SCRATCH_BYTES >> 20} MiB of files, or too many folders"


class Run:
    """One job's results as an async iterator; leaving its block ends the child."""

    def __init__(
        self, job: Job, worker: Worker, *, relay: Relay | None = None, interactive: bool = False
    ) -> None:
        """`relay` makes the calls of the job's `relayed` functions.

        `interactive`: whether calls are made with `call` while it runs, until `finish`.
        """
        self._job = job
        self._worker = worker
        self._relay = relay
        self._wire = PythonWire() if job.language is Language.PYTHON else JsonWire()
        self.finished = not interactive and relay is None
        """Whether the child gets no more calls or answers."""
        self._frames: asyncio.Queue[tuple[bytes, bytes | Hashed] | None] = asyncio.Queue()
        """What the child sent; after its end None."""
        self._asked = len(job.calls)
        self._arrived = self._answered = 0
        self._loaded = self._relaying = self._over = self._exhausted = False
        self._stopped_for: tuple[Ended, str] | None = None
        self._results: list[Returned | Raised] = []
        """What `read` and `call` decoded, or the exception that loading the program raised."""
        self.execution: Execution
        """How the job ended; set when the block ends."""

    async def __aenter__(self) -> "Run":
        self._exchange = Exchange(
            self._worker.take_ends(),
            self._on_frame,
            lambda detail: self.stop(Ended.DIED, detail),
            self._job.limits,
        )
        try:
            self._exchange.feed(self._opening(), last=self.finished)
            self._exchange.listen(at_once=not self.finished)
        except BaseException:
            self._exchange.close()
            raise
        self._end = asyncio.create_task(self._child_end())
        self._end.add_done_callback(lambda _: self._frames.put_nowait(None))
        return self

    async def __aexit__(
        self, _kind: type[BaseException] | None, error: BaseException | None, _trace: TracebackType | None
    ) -> bool:
        """Ends the child and waits for its end; raises SandboxError where our machinery failed."""
        try:
            if error is not None and not isinstance(error, Exception):  # cancelled: the worker is closed
                return False
            if isinstance(error, MalformedError):
                self._leave(Ended.DIED, malformed(error))
            elif not self._exhausted:
                self._leave(Ended.STOPPED)
            end = await self._end
        finally:
            self._exchange.close()
            if not self._end.done():
                self._end.cancel()
                await asyncio.wait([self._end])
        if error is None or isinstance(error, MalformedError):
            ended, detail = self._conclusion(end)
            printed = self._exchange.printed(0), self._exchange.printed(1)
            self.execution = Execution(ended, tuple(self._results), detail, *printed, end.cpu_seconds)
        return isinstance(error, MalformedError)

    def _leave(self, ended: Ended, detail: str = "") -> None:
        """Ends the child for this reason, whatever it did after the last result that was read."""
        self.stop(ended)
        self._stopped_for = ended, detail

    async def _child_end(self) -> ChildEnd:
        end = await self._worker.run(self._job.limits, self._exchange)
        self._over = True
        self._exchange.drain()
        return end

    def _opening(self) -> bytes:
        opening = messages.MEMORY.pack(self._job.limits.memory_bytes) + self._wire.program(self._job)
        calls = self._job.calls
        if isinstance(calls, Prepared):
            return opening + calls.frames
        # A child whose calls are relayed would take its next call for the answer to one of them.
        at_once = calls if self._relay is None else calls[:1]
        return b"".join([opening, *map(self._wire.call, at_once)])

    # Results

    def __aiter__(self) -> AsyncIterator[tuple[int, Sent | Raised]]:
        return self

    async def __anext__(self) -> tuple[int, Sent | Raised]:
        while not self._exhausted:
            frame = await self._frames.get()
            if frame is None:
                self._exhausted = True
                break
            kind, payload = frame
            if kind == messages.ASK and isinstance(payload, bytes):
                await self._make_relayed_call(payload)
                continue
            index = self._answered
            self._answered += 1
            if self._relay is not None:
                self._send_next_call()
            if kind == messages.RAISED and isinstance(payload, bytes):
                return index, self._wire.raised(payload)
            return index, Sent(payload, self._wire.value)
        raise StopAsyncIteration

    async def read(self) -> None:
        """Decodes all results to the end, for the execution; a malformed one ends the child and the block."""
        async for _, result in self:
            self._results.append(_decoded(result))

    async def call(self, call: Call) -> Returned | Raised | None:
        """Makes one more call and waits for its result; None where the child ends instead."""
        try:
            data = self._wire.call(call)
        except SandboxError as error:  # the caller passed a value that cannot be sent
            return Raised("TypeError", str(error))
        self._asked += 1
        self._exchange.feed(data, last=False)
        try:
            async for _, result in self:
                self._results.append(_decoded(result))
                return self._results[-1]
        except MalformedError as error:
            self._leave(Ended.DIED, malformed(error))
        return None

    def finish(self) -> None:
        """Tells the child that no more calls or answers come; it answers those that it has and ends."""
        self.finished = True
        self._exchange.feed(b"", last=True)

    def stop(self, ended: Ended, detail: str = "") -> None:
        """Kills the child for this reason, unless it was stopped for another one before."""
        if self._stopped_for is None:
            self._stopped_for = ended, detail
            if not self._over:
                self._worker.kill_child()

    def when_ended(self, act: Callable[[], None]) -> None:
        """Calls `act` as soon as the child has ended."""
        self._end.add_done_callback(lambda _: act())

    async def _make_relayed_call(self, payload: bytes) -> None:
        assert self._relay is not None
        try:
            match self._wire.value(payload):
                case [str(function), list(arguments)]:
                    call = Call(function, tuple(arguments))
                case _:
                    raise MalformedError("expected a call, got another message")
        except MalformedError as error:
            return self.stop(Ended.DIED, malformed(error))
        result = await self._relay(call)
        self._relaying = False
        if result is not None:
            self._exchange.feed(self._wire.answer(result), last=False)
        return None

    def _send_next_call(self) -> None:
        """Sends a child whose calls are relayed its next call, or lets it end."""
        calls = self._job.calls
        if self._answered < self._asked and not isinstance(calls, Prepared):
            self._exchange.feed(self._wire.call(calls[self._answered]), last=False)
        else:
            self.finish()

    # What arrives

    def _on_frame(self, kind: bytes, payload: bytes | Hashed) -> bool:
        """Queues a frame for the iteration; False where the child may send no more."""
        if isinstance(payload, Hashed) and kind != messages.VALUE:
            self.stop(Ended.DIED, f"sent a frame {kind!r} of {payload.size} bytes")
            return False
        is_first = not self._loaded and kind in (messages.LOADED, messages.NOT_LOADED)
        if is_first and isinstance(payload, bytes):
            self._loaded = True
            if kind == messages.NOT_LOADED:
                self._results.append(self._wire.raised(payload))
                self.stop(Ended.NOT_LOADED)
            elif self._relay is not None and not self._job.calls:
                self.finish()
            return kind == messages.LOADED
        if kind == messages.ASK and self._relay is not None and not self._relaying:
            self._relaying = True
        elif self._loaded and kind in (messages.VALUE, messages.RAISED) and self._arrived < self._asked:
            self._arrived += 1
        else:
            self.stop(Ended.DIED, f"sent an unexpected frame {kind!r}")
            return False
        self._frames.put_nowait((kind, payload))
        return True

    # The end

    def _conclusion(self, end: ChildEnd) -> tuple[Ended, str]:
        """How it ended, and why; raises SandboxError where something outside the sandbox killed the child."""
        if self._stopped_for is not None:
            return self._stopped_for
        code = os.waitstatus_to_exitcode(end.status)
        limits = self._job.limits
        noted = {
            messages.OUT_OF_TIME: (Ended.TIMED_OUT, f"used more than {limits.cpu_seconds:.1f} s of CPU time"),
            messages.ASLEEP: (Ended.TIMED_OUT, f"did nothing for {limits.wall_seconds:g} s"),
            messages.SCRATCH: (Ended.DIED, _SCRATCH_FULL),
        }
        if end.note in noted:
            return noted[end.note]
        if code == 0 and self._loaded and self._arrived == self._asked:
            return Ended.FINISHED, ""
        if code == -signal.SIGKILL:  # not by the server, nor by itself: the filter makes that another signal
            if end.peak_bytes < _LARGE_SHARE * limits.memory_bytes:
                raise SandboxError(_KILLED_FROM_OUTSIDE)
            most = f"{end.peak_bytes >> 20} MiB"
            return Ended.DIED, f"out of memory: killed by the kernel when it had {most}"
        return Ended.DIED, f"killed by signal {-code}" if code < 0 else f"exited with status {code}"


def _decoded(result: Sent | Raised) -> Returned | Raised:
    return result if isinstance(result, Raised) else Returned(result.value())
