"""The sandbox of this machine: a bounded pool of template servers, and memory for the jobs in them."""

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from pathlib import Path

from triathlon_runner.concurrency import run_all
from triathlon_runner.languages import Language
from triathlon_runner.sandbox._api import (
    Call,
    Ended,
    Examination,
    Execution,
    Job,
    Raised,
    Returned,
    SandboxError,
    Sent,
    TakeResult,
)
from triathlon_runner.sandbox._run import Run
from triathlon_runner.sandbox._worker import IsolationLevel, Worker

_MEMORY_CHECK_SECONDS = 0.05
"""Seconds between two checks of free memory, while a job waits for it."""
_LEAST_MEMORY, _SPARE_MEMORY = 512 << 20, 256 << 20
"""Bytes: with less than the first no program is executed, because an honest one might fail for want of them.
The second is left to the kernel and the runner where a program's limit has to fit what is free."""
_YOUNG_SECONDS, _YOUNG_BYTES = 0.25, 1 << 30
"""So long a job has less memory reserved than its limit: most end before, and cannot take it all so fast."""
_MEMORY = Path("/proc/meminfo")
_OWN_GROUPS = Path("/proc/self/cgroup")
_GROUPS = Path("/sys/fs/cgroup")
_Kind = tuple[Language, frozenset[str]]
"""Which jobs can share a server: one language, one set of libraries."""


class LocalSandbox:
    """Starts servers when they are needed and uses them again while they are clean."""

    def __init__(self, level: IsolationLevel, jobs: int) -> None:
        self.level: IsolationLevel = level
        self._jobs = jobs
        self._slots = asyncio.Semaphore(jobs)
        self._reserved: list[tuple[float, int]] = []
        """When each running job began, and its memory limit."""
        self._job_ended = asyncio.Event()
        self._memory, self._memory_due = 0, 0.0
        self._idle: list[tuple[_Kind, Worker]] = []
        """The one that was used last is the last."""

    async def run(self, job: Job) -> Execution:
        results: list[Returned | Raised] = []
        execution = await self.stream(job, _keeper(results))
        return replace(execution, results=(*results, *execution.results))

    async def stream(self, job: Job, take: TakeResult) -> Execution:
        async with self._slot(job) as (fitted,), self._worker(job) as worker:
            return await Run(fitted, worker, take).execute()

    async def examine(self, examiner: Job, candidate: Job) -> Examination:
        """Both children share one slot, since one of them always waits for the other."""
        calls: list[Call] = []
        results: list[Returned | Raised] = []
        answers: list[Returned | Raised] = []
        keep_answer = _keeper(answers)

        def ask(call: Call) -> None:
            calls.append(call)
            try:
                answering.call(call)
            except SandboxError as error:  # the tests passed a value that cannot be sent
                asking.answer(Raised("TypeError", str(error)))

        def take_answer(index: int, result: Sent | Raised) -> bool:
            keep_answer(index, result)
            asking.answer(answers[-1])
            return True

        async def answer() -> Execution:
            execution = await answering.execute()
            if not asking.is_finished:
                asking.stop(Ended.STOPPED, "the candidate ended")
            return execution

        async def examined() -> Execution:
            execution = await asking.execute()
            answering.finish()
            return execution

        async with (
            self._slot(examiner, candidate) as (fitted_examiner, fitted_candidate),
            self._worker(examiner) as first,
            self._worker(candidate) as second,
        ):
            asking = Run(fitted_examiner, first, _keeper(results), ask=ask)
            answering = Run(fitted_candidate, second, take_answer, stays_open=True)
            answered, asked = await run_all([answer(), examined()])
        return Examination(
            replace(asked, results=(*results, *asked.results)),
            replace(answered, results=(*answers, *answered.results)),
            tuple(calls),
        )

    @asynccontextmanager
    async def _slot(self, *jobs: Job) -> AsyncIterator[tuple[Job, ...]]:
        """One of the slots, with memory for these jobs, as which they come back: with limits that fit.

        They wait while others run that may need the memory. Alone, they get what there is.

        Raises:
            SandboxError: too little memory is free for any program.
        """
        wanted = sum(job.limits.memory_bytes for job in jobs)
        async with self._slots:
            while self._reserved and self._unreserved() < wanted:
                self._job_ended.clear()
                with suppress(TimeoutError):  # other programs free memory, too
                    async with asyncio.timeout(_MEMORY_CHECK_SECONDS):
                        await self._job_ended.wait()
            fitted = jobs if self._reserved or self._unreserved() - _SPARE_MEMORY >= wanted else _fit(jobs)
            reservation = time.monotonic(), wanted
            self._reserved.append(reservation)
            try:
                yield fitted
            finally:
                self._reserved.remove(reservation)
                self._job_ended.set()

    def _unreserved(self) -> int:
        """Bytes of free memory that no running job may still take.

        They were measured a moment ago: measuring takes as long as starting a short job.
        """
        now = time.monotonic()
        if now >= self._memory_due:
            self._memory_due, self._memory = now + _MEMORY_CHECK_SECONDS, available_bytes()
        young = now - _YOUNG_SECONDS
        reserved = (min(size, _YOUNG_BYTES) if begun > young else size for begun, size in self._reserved)
        return self._memory - sum(reserved)

    @asynccontextmanager
    async def _worker(self, job: Job) -> AsyncIterator[Worker]:
        """Takes a clean server for this kind of job; it returns to the pool if it is still clean.

        At most a few servers are idle, more than jobs of one kind use at the same time.
        """
        kind = (job.language, job.libraries)
        places = [place for place, (idle, _) in enumerate(self._idle) if idle == kind]
        worker = self._idle.pop(places[-1])[1] if places else await Worker.start(self.level, *kind)
        try:
            await worker.ready()
            yield worker
        finally:
            if worker.usable:
                self._idle.append((kind, worker))
                if len(self._idle) > 2 * self._jobs + 2:
                    await self._idle.pop(0)[1].close()
            else:
                await worker.close()

    async def aclose(self) -> None:
        """Ends all servers."""
        while self._idle:
            await self._idle.pop()[1].close()


def _keeper(results: list[Returned | Raised]) -> TakeResult:
    """Decodes results and adds them to a list."""

    def take(_index: int, result: Sent | Raised) -> bool:
        results.append(result if isinstance(result, Raised) else Returned(result.value()))
        return True

    return take


# Memory


def _fit(jobs: tuple[Job, ...]) -> tuple[Job, ...]:
    """The jobs with memory limits that are not above their shares of what is free now.

    Raises:
        SandboxError: too little memory is free for any program.
    """
    free, needed = available_bytes() - _SPARE_MEMORY, len(jobs) * _LEAST_MEMORY
    if free < needed:
        raise SandboxError(
            f"{max(0, free) >> 20} MiB of memory are free, and a program needs {needed >> 20} MiB;"
            " free some and run again"
        )
    shares = [min(job.limits.memory_bytes, free // len(jobs)) for job in jobs]
    return tuple(
        replace(job, limits=replace(job.limits, memory_bytes=share))
        for job, share in zip(jobs, shares, strict=True)
    )


def available_bytes() -> int:
    """Memory that the machine and all control groups of this process have left."""
    lines = _MEMORY.read_text(encoding="ascii").splitlines()
    left = next(int(line.split()[1]) << 10 for line in lines if line.startswith("MemAvailable:"))
    return min((left, *_left_in_groups()))


def _left_in_groups() -> Iterator[int]:
    """One number for each control group that bounds memory, of either version.

    It is the group's limit less what it uses and could not give back.
    """
    for line in _OWN_GROUPS.read_text(encoding="ascii", errors="replace").splitlines():
        _, controllers, path = line.split(":", 2)
        root, limit, used, cache = _GROUPS, "memory.max", "memory.current", "inactive_file"
        if "memory" in controllers.split(","):
            root, limit, used = _GROUPS / "memory", "memory.limit_in_bytes", "memory.usage_in_bytes"
            cache = "total_inactive_file"
        elif controllers:
            continue
        folder = root / path.strip("/")
        for group in (folder, *folder.parents):
            with suppress(OSError):
                most = (group / limit).read_text(encoding="ascii").strip()
                if most == "max" or not group.is_relative_to(root):
                    continue
                statistics = (group / "memory.stat").read_text(encoding="ascii").splitlines()
                unused = [int(line.split()[1]) for line in statistics if line.split()[0] == cache]
                yield max(0, int(most) - int((group / used).read_text(encoding="ascii")) + sum(unused))
