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
from types import SimpleNamespace

import pytest

from support.case_files import sections
from triathlon_runner.sandbox import (
    Call,
    Ended,
    Job,
    Limits,
    Raised,
    Returned,
    SandboxError,
    _local,
    _run,
    open_sandbox,
)

CALL = (Call("f", ()),)
SLEEPS = "import time\ndef f():\n    time.sleep({})\n    return 1\n"
NAP = Job(SLEEPS.format(1.5), CALL, limits=Limits(wall_seconds=0.5))
LONG_RESULT = Job(
    "def f():\n    return b'1' * (8 << 20)\n", CALL, limits=Limits(wall_seconds=2, result_bytes=16 << 20)
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


def watch_of(process: int) -> _run.SleepWatch:
    """A watch that ends nothing."""
    return _run.SleepWatch(process, math.inf, lambda: False, lambda: False, lambda: None)


SPIN, SLEEP = "while True: pass", "import time\ntime.sleep(1000)"


async def test_only_a_thread_that_is_not_let_run_waits() -> None:
    """Beside a busy one on the same processor; one that sleeps does not wait, nor does one that has ended."""
    with process(SPIN), process(SPIN, idle=True) as kept, process(SLEEP) as asleep:
        await asyncio.sleep(0.2)
        watches = [watch_of(os.pidfd_open(pid)) for pid in (kept, asleep)]
        slept = []
        for _ in range(3):
            await asyncio.sleep(0.7)
            slept = [watch.seconds_slept() for watch in watches]
        assert slept[0] < 0.1 and slept[1] >= 0.75
    assert watches[1].seconds_slept() <= slept[1] + 0.25
    for watch in watches:
        watch.close()


@pytest.mark.parametrize(
    ("waits", "sleeps"),
    [
        ((0.0, 0.0, 0.0), True),
        ((0.0, 0.5) * 3, False),  # each wait is over only behind the check in its midst
        ((0.0, math.inf) * 3, False),
        ((9.0, 0.0, 0.0), True),  # no wait pays for sleep to come
    ],
)
async def test_a_wait_is_taken_off_when_it_is_over(
    monkeypatch: pytest.MonkeyPatch, waits: tuple[float, ...], sleeps: bool
) -> None:
    """A child computes a moment, then waits for a processor at two checks or more."""
    now, waited = 0.0, 0.0
    monkeypatch.setattr(_run.system, "cpu_seconds", lambda _pid: 0.0)
    monkeypatch.setattr(_run, "time", SimpleNamespace(monotonic=lambda: now))
    monkeypatch.setattr(_run.SleepWatch, "_seconds_waited", lambda _self, _pid: waited)
    watch = watch_of(os.pidfd_open(os.getpid()))
    for waited in waits:  # noqa: B007
        now += _run.SLEEP_CHECK_SECONDS
        slept = watch.seconds_slept()
    assert (slept >= 0.5) is sleeps
    watch.close()


@pytest.mark.parametrize(
    ("job", "waited", "turn", "expected"),
    [
        (NAP, math.inf, 0, Ended.FINISHED),
        (NAP, 0.0, 0, Ended.TIMED_OUT),
        (LONG_RESULT, None, 0.03, Ended.FINISHED),
        (replace(NAP, program=SLEEPS.format(600)), None, 0.03, Ended.TIMED_OUT),
    ],
)
async def test_waiting_is_no_sleep(
    monkeypatch: pytest.MonkeyPatch, job: Job, waited: float | None, turn: float, expected: Ended
) -> None:
    """For a processor, or for a busy runner that reads a long result; who sends nothing sleeps, though."""

    async def keep_busy() -> None:
        """Lets every turn of the event loop take so many seconds at least."""
        while True:
            end = time.thread_time() + turn
            while time.thread_time() < end:
                pass
            await asyncio.sleep(0)

    if waited is not None:
        monkeypatch.setattr(_run.SleepWatch, "_seconds_waited", lambda _self, _pid: waited)
    async with open_sandbox(jobs=1) as sandbox:
        await sandbox.run(Job("", ()))  # the server has started
        busy = asyncio.create_task(keep_busy())
        assert (await sandbox.run(job)).ended is expected
        busy.cancel()


async def test_a_server_that_cannot_start_is_our_failure(monkeypatch: pytest.MonkeyPatch) -> None:

    def refuse(*_arguments: object, **_options: object) -> None:
        raise BlockingIOError(11, "Resource temporarily unavailable")

    async with open_sandbox(jobs=1) as sandbox:
        with monkeypatch.context() as broken:
            broken.setattr("subprocess.Popen", refuse)
            with pytest.raises(SandboxError, match=r"could not be started: .*unavailable"):
                await sandbox.run(Job("", (), libraries=frozenset({"numpy"})))
        assert (await sandbox.run(Job(SLEEPS.format(0), CALL))).results == (Returned(1),)


# Memory

SPANS = Job(
    "import time\ndef f():\n    begin = time.monotonic()\n    time.sleep(0.5)\n"
    "    return begin, time.monotonic()\n",
    CALL,
)
LIMIT = SPANS.limits.memory_bytes


@pytest.mark.parametrize(
    ("free", "together"), [(2 * LIMIT, 2), (LIMIT + (1 << 30), 2), (LIMIT, 1), (LIMIT // 2, 1)]
)
async def test_memory_is_reserved(monkeypatch: pytest.MonkeyPatch, free: int, together: int) -> None:
    monkeypatch.setattr(_local, "available_bytes", lambda: 3 * LIMIT)
    async with open_sandbox(jobs=2) as sandbox:
        await asyncio.gather(sandbox.run(SPANS), sandbox.run(SPANS))  # both servers are there now
        monkeypatch.setattr(_local, "available_bytes", lambda: free)
        await asyncio.sleep(0.2)
        executions = await asyncio.gather(sandbox.run(SPANS), sandbox.run(SPANS))
    first, second = sorted(result.value for (result,) in (e.results for e in executions))  # type: ignore[union-attr]
    assert (second[0] < first[1]) == (together == 2)


async def test_limits_fit_what_is_free(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who takes more than is free gets a MemoryError; with too little for anyone, no program is executed."""
    hog = Job("def f():\n    bytearray(2 << 30)\n", CALL)
    async with open_sandbox(jobs=1) as sandbox:
        monkeypatch.setattr(_local, "available_bytes", lambda: 1300 << 20)
        await asyncio.sleep(0.2)  # until then what was measured before counts
        (result,) = (await sandbox.run(hog)).results
        assert isinstance(result, Raised) and result.type == "MemoryError"
        monkeypatch.setattr(_local, "available_bytes", lambda: 600 << 20)
        await asyncio.sleep(0.2)
        with pytest.raises(SandboxError, match="344 MiB of memory are free, and a program needs 512 MiB"):
            await sandbox.run(hog)


FIRST_VERSION = {"limit_in_bytes": "1000", "usage_in_bytes": "900", "stat": "total_inactive_file 0\n"}


@pytest.mark.parametrize(
    ("groups", "place", "files", "left"),
    [
        ("0::/\n", ".", {"max": "max"}, 8 << 30),
        ("0::/own\n", "own", {"max": "1000", "current": "700", "stat": "anon 5\ninactive_file 200\n"}, 500),
        ("4:cpu,memory:/\n0::/\n", "memory", FIRST_VERSION, 100),
    ],
)
def test_memory_that_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, groups: str, place: str, files: dict[str, str], left: int
) -> None:
    """The least of what the machine and the control groups (of both versions) have; cache counts as left."""
    (tmp_path / "meminfo").write_text("MemTotal: 9 kB\nMemAvailable: 8388608 kB\n")
    (tmp_path / "cgroup").write_text(groups)
    (tmp_path / "groups" / place).mkdir(parents=True)
    for name, text in files.items():
        (tmp_path / "groups" / place / f"memory.{name}").write_text(text)
    for name, file in (("_MEMORY", "meminfo"), ("_OWN_GROUPS", "cgroup"), ("_GROUPS", "groups")):
        monkeypatch.setattr(_local, name, tmp_path / file)
    assert _local.available_bytes() == left


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


SCRIPTS = sections(Path(__file__).with_name("scripts.txt"))


def executed(*command: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, cwd="/")


@pytest.mark.parametrize(
    ("seen", "expected"), [("seen", "MemoryError"), ("unseen", "out of memory: killed by the kernel")]
)
def test_a_memory_hog_has_failed(seen: str, expected: str) -> None:
    """In a group of 1.5 GiB it meets its limit; where the kernel is first, it ends the child alone."""
    with memory_group(3 << 29) as group:
        done = executed(sys.executable, "-c", SCRIPTS["in a group"], str(group), seen)
    lines = done.stdout.splitlines()
    assert len(lines) == 2 and all(line.startswith(expected) for line in lines), done


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
    done = executed(*AS_ORDINARY_USER, sys.executable, "-c", SCRIPTS["threads of a user"], level)
    if "does not work here" in done.stderr:
        pytest.skip(f"this machine refuses it: {done.stderr.splitlines()[-1]}")
    assert done.returncode == 0 and 30 < int(done.stdout) <= most, done
