"""What a crowded machine may not change: waiting is no sleep, and too little memory leaves no unit open."""

import asyncio
import math
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from triathlon_runner.sandbox import (
    Call,
    Ended,
    Job,
    Limits,
    Raised,
    Returned,
    SandboxError,
    open_sandbox,
)
from triathlon_runner.sandbox import _local as local
from triathlon_runner.sandbox._inside import messages, usage
from triathlon_runner.sandbox._machine import RunQueue

NAP = Job(
    "import time\ndef f():\n    time.sleep(1.5)\n    return 1\n",
    (Call("f", ()),),
    limits=Limits(wall_seconds=0.5),
)


@contextmanager
def process(code: str, *, idle: bool = False) -> Iterator[int]:
    """The pid of a Python process on the first of our processors; `idle` ones run when no other wants to."""
    affinity = f"import os; os.sched_setaffinity(0, {{{min(os.sched_getaffinity(0))}}})\n"
    policy = "os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))\n" if idle else ""
    command = [sys.executable, "-S", "-c", f"{affinity}{policy}print(1, flush=True)\n{code}"]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as running:
        try:
            assert running.stdout is not None and running.stdout.readline()
            yield running.pid
        finally:
            running.kill()


SPIN, SLEEP = "while True: pass", "import time\ntime.sleep(1000)"


def test_only_a_thread_that_is_not_let_run_waits() -> None:
    """Beside a busy one on the same processor; a wait is added when it is over. One that sleeps does not."""
    with process(SPIN), process(SPIN, idle=True) as kept, process(SLEEP) as asleep:
        while not Path(f"/proc/{asleep}/stat").read_text().rpartition(") ")[2].startswith("S"):
            time.sleep(0.01)
        measured = [(os.pidfd_open(pid), RunQueue()) for pid in (kept, asleep)]
        waited = [0.0, 0.0]
        for handle, queue in measured:
            queue.seconds_waited(handle)
        for _ in range(2):
            time.sleep(1)
            for n, (handle, queue) in enumerate(measured):
                waited[n] += queue.seconds_waited(handle)
        assert waited[0] >= 0.5 and waited[1] == 0
        for handle, _ in measured:
            os.close(handle)


@pytest.mark.parametrize(
    ("waits", "note"),
    [
        ((0.0, 0.0, 0.0), messages.ASLEEP),
        ((0.0, 0.5) * 3, messages.NOTHING),  # each wait is over only behind the confirmation in its midst
        ((0.0, math.inf) * 3, messages.NOTHING),
        ((9.0, 0.0, 0.0), messages.ASLEEP),  # no wait pays for sleep to come
    ],
)
def test_a_wait_is_taken_off_when_it_is_over(
    monkeypatch: pytest.MonkeyPatch, waits: tuple[float, ...], note: int
) -> None:
    """A child computes a moment, then waits for a processor at two confirmations or more."""
    now = 0.0
    monkeypatch.setattr(usage, "_cpu_used", lambda _pid: 0.0)
    monkeypatch.setattr(time, "monotonic", lambda: now)
    clock = usage.CpuClock(0, cpu_seconds=10.0, sleep_seconds=0.5)
    for waited in waits:
        now += usage.CPU_CHECK_SECONDS
        clock.check()
        assert clock.must_ask_runner()
        clock.confirm(waited)
    now += usage.CPU_CHECK_SECONDS
    assert clock.check() == note


def test_a_process_that_has_ended_does_not_wait() -> None:
    """Nor does it raise: its end is reported by the server."""
    with process("pass") as pid:
        handle = os.pidfd_open(pid)
        os.waitid(os.P_PIDFD, handle, os.WEXITED | os.WNOWAIT)
        queue = RunQueue()
        queue.seconds_waited(handle)
        assert queue.seconds_waited(handle) == 0
    assert queue.seconds_waited(handle) == 0
    os.close(handle)


@pytest.mark.parametrize(("waited", "expected"), [(math.inf, Ended.FINISHED), (0.0, Ended.TIMED_OUT)])
async def test_waiting_for_a_processor_is_no_sleep(
    monkeypatch: pytest.MonkeyPatch, waited: float, expected: Ended
) -> None:
    """A child without CPU time is asleep only where it could not have run."""
    monkeypatch.setattr(RunQueue, "seconds_waited", lambda _self, _process: waited)
    async with open_sandbox(jobs=1) as sandbox:
        assert (await sandbox.run(NAP)).ended is expected


@contextmanager
def busy_runner(seconds: float) -> Iterator[None]:
    """Lets every turn of the event loop take at least this long."""
    loop, handle = asyncio.get_running_loop(), None

    def spin() -> None:
        nonlocal handle
        end = time.thread_time() + seconds
        while time.thread_time() < end:
            pass
        handle = loop.call_soon(spin)

    spin()
    try:
        yield
    finally:
        assert handle is not None
        handle.cancel()


LONG_RESULT = Job(
    "def f():\n    return b'1' * (8 << 20)\n",
    (Call("f", ()),),
    limits=Limits(wall_seconds=2, result_bytes=16 << 20),
)
LONG_SLEEP = replace(NAP, program=NAP.program.replace("1.5", "600"))


@pytest.mark.parametrize(("job", "expected"), [(LONG_RESULT, Ended.FINISHED), (LONG_SLEEP, Ended.TIMED_OUT)])
async def test_waiting_for_a_busy_runner_is_no_sleep(job: Job, expected: Ended) -> None:
    """A long result is written as fast as it is read; a child that sends nothing sleeps all the same."""
    async with open_sandbox(jobs=1) as sandbox:
        await sandbox.run(Job("", ()))  # the server has started
        with busy_runner(0.03):
            assert (await sandbox.run(job)).ended is expected


async def test_a_server_that_cannot_start_is_our_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where no process can be started the job raises SandboxError, which leaves its unit open."""

    def refuse(*_arguments: object, **_options: object) -> None:
        raise BlockingIOError(11, "Resource temporarily unavailable")

    async with open_sandbox(jobs=1) as sandbox:
        with monkeypatch.context() as broken:
            broken.setattr("subprocess.Popen", refuse)
            with pytest.raises(SandboxError, match=r"could not be started: .*unavailable"):
                await sandbox.run(Job("", (), libraries=frozenset({"numpy"})))
        assert (await sandbox.run(Job("def f():\n    return 1\n", (Call("f", ()),)))).results == (
            Returned(1),
        )


# Memory

SPANS = Job(
    "import time\ndef f():\n    begin = time.monotonic()\n    time.sleep(0.5)\n"
    "    return begin, time.monotonic()\n",
    (Call("f", ()),),
)
LIMIT = SPANS.limits.memory_bytes


@pytest.mark.parametrize(
    ("free", "together"), [(2 * LIMIT, 2), (LIMIT + (1 << 30), 2), (LIMIT, 1), (LIMIT // 2, 1)]
)
async def test_memory_is_reserved(monkeypatch: pytest.MonkeyPatch, free: int, together: int) -> None:
    """Jobs run at the same time only while each may take all of its limit."""
    monkeypatch.setattr(local, "available_bytes", lambda: 3 * LIMIT)
    async with open_sandbox(jobs=2) as sandbox:
        await asyncio.gather(sandbox.run(SPANS), sandbox.run(SPANS))  # both servers are there now
        monkeypatch.setattr(local, "available_bytes", lambda: free)
        await asyncio.sleep(0.2)
        executions = await asyncio.gather(sandbox.run(SPANS), sandbox.run(SPANS))
    first, second = sorted(result.value for (result,) in (e.results for e in executions))  # type: ignore[union-attr]
    assert (second[0] < first[1]) == (together == 2)


@pytest.mark.parametrize(("free_mib", "raises"), [(1300, "MemoryError"), (600, None)])
async def test_limits_fit_what_is_free(
    monkeypatch: pytest.MonkeyPatch, free_mib: int, raises: str | None
) -> None:
    """Who takes more than is free gets a MemoryError; with too little for anyone, no program is executed."""
    hog = Job("def f():\n    bytearray(2 << 30)\n", (Call("f", ()),))
    async with open_sandbox(jobs=1) as sandbox:
        monkeypatch.setattr(local, "available_bytes", lambda: free_mib << 20)
        await asyncio.sleep(0.2)  # until then what was measured before counts
        if raises is None:
            with pytest.raises(
                SandboxError, match=r"344 MiB of memory are free, and a program needs 512 MiB"
            ):
                await sandbox.run(hog)
        else:
            (result,) = (await sandbox.run(hog)).results
            assert isinstance(result, Raised) and result.type == raises


@contextmanager
def memory_group(size: int) -> Iterator[Path]:
    """A control group of either version that may use this much memory; skips where none can be made."""
    for root, limit in (("/sys/fs/cgroup/memory", "memory.limit_in_bytes"), ("/sys/fs/cgroup", "memory.max")):
        group = Path(root, f"triathlon-test-{os.getpid()}")
        try:
            group.mkdir()
            (group / limit).write_text(str(size))
        except OSError:
            continue
        try:
            yield group
        finally:
            group.rmdir()
        return
    pytest.skip("no control group of memory can be made here")


IN_A_GROUP = """
import asyncio, os, sys
from pathlib import Path
Path(sys.argv[1], "cgroup.procs").write_text(str(os.getpid()))
from triathlon_runner.sandbox import Call, Job, Limits, open_sandbox, _local
if sys.argv[2] == "unseen":
    _local.available_bytes = lambda: 1 << 40
HOG = "def f():\\n    b = bytearray(2 << 30)\\n    b[::4096] = b'1' * len(b[::4096])\\n    return 1\\n"
async def main():
    async with open_sandbox(jobs=2) as sandbox:
        job = Job(HOG, (Call("f", ()),), limits=Limits(cpu_seconds=60, memory_bytes=5 << 29))
        for _ in range(2):
            done = await sandbox.run(job)
            print(done.detail or done.results[0].type)
asyncio.run(main())
"""


@pytest.mark.parametrize(
    ("seen", "expected"), [("seen", "MemoryError"), ("unseen", "out of memory: killed by the kernel")]
)
def test_a_memory_hog_has_failed(seen: str, expected: str) -> None:
    """In a group of 1.5 GiB it meets its limit; where the kernel is first, it ends the child alone."""
    with memory_group(3 << 29) as group:
        done = subprocess.run(
            [sys.executable, "-c", IN_A_GROUP, str(group), seen],
            capture_output=True, text=True, timeout=120, check=False,
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert len(lines) == 2 and all(line.startswith(expected) for line in lines), lines


THREADS_OF_A_USER = """
import asyncio, sys
from triathlon_runner.sandbox import Call, Job, open_sandbox
MANY = '''
import _thread
def f():
    lock, made = _thread.allocate_lock(), 0
    lock.acquire()
    try:
        while made < 5000:
            _thread.start_new_thread(lock.acquire, ())
            made += 1
    except RuntimeError:
        pass
    return made
'''
async def main():
    async with open_sandbox(sys.argv[1], 1) as sandbox:
        print((await sandbox.run(Job(MANY, (Call("f", ()),)))).results[0].value)
asyncio.run(main())
"""
AS_ORDINARY_USER = (
    "setpriv", "--reuid=23456", "--regid=23456", "--clear-groups",
    "--inh-caps=-all,+dac_read_search", "--ambient-caps=+dac_read_search",
)  # fmt: skip
"""But that it can read the interpreter, wherever that is."""


@pytest.mark.skipif(
    os.geteuid() != 0 or shutil.which("setpriv") is None,
    reason="only root, with setpriv, can become another user; others are an ordinary user in all tests",
)
@pytest.mark.parametrize(("level", "most"), [("namespaces", 64), ("lite", 3000)])
def test_an_ordinary_user_has_limited_threads(level: str, most: int) -> None:
    """A namespace counts its own; at `lite` the kernel counts all of the user's: the limit is above those."""
    done = subprocess.run(
        [*AS_ORDINARY_USER, sys.executable, "-c", THREADS_OF_A_USER, level],
        capture_output=True, text=True, timeout=120, check=False, cwd="/",
    )  # fmt: skip
    if "does not work here" in done.stderr:
        pytest.skip(f"this machine refuses it: {done.stderr.splitlines()[-1]}")
    assert done.returncode == 0 and 30 < int(done.stdout) <= most, done.stdout + done.stderr
