"""The sandbox of this machine: a bounded pool of template servers."""

import asyncio
import json
import marshal
import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from triathlon_runner.errors import UserError
from triathlon_runner.sandbox._api import (
    Call,
    Ended,
    Execution,
    Job,
    Language,
    Raised,
    Returned,
    Sandbox,
    SandboxError,
    Source,
)  # fmt: skip
from triathlon_runner.sandbox._decode import MalformedError, decode
from triathlon_runner.sandbox._exchange import Exchange
from triathlon_runner.sandbox._inside import frames
from triathlon_runner.sandbox._settings import LEVELS, Level, python_settings
from triathlon_runner.sandbox._worker import ChildEnd, Worker

OnResult = Callable[[int, Returned | Raised], bool]


@asynccontextmanager
async def open_sandbox(level: str = "auto", jobs: int | None = None) -> AsyncIterator[Sandbox]:
    """A sandbox on this machine, `jobs` children at once (default: as many as cores).

    `level` is `namespaces`, `lite` or `auto`, the strongest that works here.

    Raises:
        SandboxError: the level, or any, does not work here; the message says what to enable.
    """
    sandbox = await _strongest(level, jobs or len(os.sched_getaffinity(0)))
    try:
        yield sandbox
    finally:
        await sandbox.aclose()


async def _strongest(wanted: str, jobs: int) -> "LocalSandbox":
    levels = [level for level in LEVELS if wanted in ("auto", level)]
    if not levels:
        raise UserError(f"no isolation level {wanted!r}: choose auto, {', '.join(LEVELS)}")
    refusals = []
    for level in levels:
        sandbox = LocalSandbox(level, jobs)
        try:
            await sandbox.check()
        except SandboxError as error:
            await sandbox.aclose()
            refusals.append(f"{level}: {error}")
        else:
            return sandbox
    raise SandboxError(
        f"nothing is executed here, no isolation level works ({'; '.join(refusals)}). "
        "Enable unprivileged user namespaces, or Landlock (Linux 5.13 or later, `landlock` among the LSMs)."
    )


class LocalSandbox:
    """Servers are started when needed and kept while they are clean."""

    def __init__(self, level: Level, jobs: int) -> None:
        self._level: Level = level
        self._places = asyncio.Semaphore(jobs)
        self._idle: dict[frozenset[str], list[Worker]] = {}

    @property
    def level(self) -> str:
        return self._level

    async def run(self, job: Job, on_result: OnResult | None = None) -> Execution:
        if job.language is not Language.PYTHON:
            raise SandboxError(f"no harness for {job.language} yet")
        async with self._places:
            worker = await self._take(job.libraries)
            try:
                return await _Run(job, worker, on_result).execute()
            finally:
                if worker.usable:
                    self._idle.setdefault(job.libraries, []).append(worker)
                else:
                    await worker.close()

    async def _take(self, libraries: frozenset[str]) -> Worker:
        idle = self._idle.get(libraries)
        if idle:
            return idle.pop()
        return await Worker.start(lambda place: python_settings(self._level, libraries, place))

    async def check(self) -> None:
        """Runs a first program.

        Raises:
            SandboxError: the level does not work here.
        """
        execution = await self.run(Job("def f(x):\n    return x + 1\n", (Call("f", (1,)),)))
        if execution.results != (Returned(2),):
            raise SandboxError(f"a first program did not run: {execution.detail}")

    async def aclose(self) -> None:
        for workers in self._idle.values():
            for worker in workers:
                await worker.close()
        self._idle.clear()


class _Run:
    """One job on one worker: collects results until the child ends, is stopped or is killed."""

    def __init__(self, job: Job, worker: Worker, on_result: OnResult | None) -> None:
        self._job = job
        self._worker = worker
        self._on_result = on_result
        self._results: list[Returned | Raised] = []
        self._ended: Ended | None = None
        self._loaded = False
        self._detail = ""

    async def execute(self) -> Execution:
        limits = self._job.limits
        exchange = Exchange(
            self._on_frame, self._on_broken,
            frame_limit=limits.result_bytes + 65536, output_limit=limits.output_bytes,
        )  # fmt: skip
        timer = asyncio.get_running_loop().call_later(limits.wall_seconds, self._on_sleeper)
        try:
            exchange.feed(_encode(self._job), last=True)
            end = await self._worker.run(limits, exchange)
            exchange.drain()
        finally:
            timer.cancel()
            exchange.close()
        self._conclude(end)
        assert self._ended is not None
        return Execution(
            ended=self._ended, results=tuple(self._results), detail=self._detail,
            stdout=exchange.printed(0), stderr=exchange.printed(1), cpu_seconds=end.cpu_seconds,
        )  # fmt: skip

    def _on_frame(self, kind: bytes, payload: bytes) -> bool:
        if kind == frames.LOADED and not self._loaded:
            self._loaded = True
            return True
        if kind == frames.NOT_LOADED and not self._loaded:
            self._results.append(_raised(payload))
            return self._end(Ended.NOT_LOADED, "")
        if kind not in (frames.VALUE, frames.RAISED) or len(self._results) == len(self._job.calls):
            return self._end(Ended.DIED, f"sent an unexpected frame {kind!r}")
        try:
            result = Returned(decode(payload)) if kind == frames.VALUE else _raised(payload)
        except MalformedError as error:
            return self._end(Ended.DIED, f"sent a malformed value: {error}")
        self._results.append(result)
        if self._on_result is not None and not self._on_result(len(self._results) - 1, result):
            return self._end(Ended.STOPPED, "")
        return True

    def _end(self, ended: Ended, detail: str) -> bool:
        self._ended, self._detail = ended, detail
        self._worker.kill_child()
        return False

    def _on_broken(self, detail: str) -> None:
        self._end(Ended.DIED, detail)

    def _on_sleeper(self) -> None:
        self._end(Ended.TIMED_OUT, f"did not end within {self._job.limits.wall_seconds:g} s")

    def _conclude(self, end: ChildEnd) -> None:
        if self._ended is not None:
            return
        code = os.waitstatus_to_exitcode(end.status)
        if code < 0 and not end.note and end.cpu_seconds >= self._job.limits.cpu_seconds - 0.05:
            self._ended, self._detail = Ended.TIMED_OUT, f"used {end.cpu_seconds:.1f} s of CPU time"
        elif code == 0 and self._loaded and len(self._results) == len(self._job.calls):
            self._ended = Ended.FINISHED
        else:
            ending = f"killed by signal {-code}" if code < 0 else f"exited with status {code}"
            self._ended, self._detail = Ended.DIED, end.note or ending


def _raised(payload: bytes) -> Raised:
    """Reads a child's report of an exception; whatever it is, it becomes one."""
    try:
        report = json.loads(payload[:65536])
        line = report["line"]
        return Raised(
            str(report["type"])[:200], str(report["message"])[:2000], line if type(line) is int else None
        )
    except (ValueError, KeyError, TypeError, RecursionError):
        return Raised("Unreadable", "the report of the exception can't be read")


def _encode(job: Job) -> bytes:
    head = {"program": job.program, "result_bytes": job.limits.result_bytes}
    parts = [frames.frame(frames.PROGRAM, marshal.dumps(head))]
    for call in job.calls:
        content: Any = (
            (call.function, None, call.arguments.text)
            if isinstance(call.arguments, Source)
            else (call.function, call.arguments, None)
        )
        parts.append(frames.frame(frames.CALL, marshal.dumps(content)))
    return b"".join(parts)
