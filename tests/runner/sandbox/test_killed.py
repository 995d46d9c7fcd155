"""A process that something outside kills is nobody's failure; one that kills itself is the program's."""

import os
import signal
from pathlib import Path

import pytest

from triathlon_runner.sandbox import Call, Ended, Job, Limits, Returned, Sandbox, SandboxError

pytestmark = pytest.mark.asyncio(loop_scope="module")


def descendants(pid: int) -> list[int]:
    """Its children, theirs and so on; the youngest generation last."""
    found, generation = [], [pid]
    while generation:
        tasks = [path for parent in generation for path in Path(f"/proc/{parent}/task").glob("*/children")]
        generation = [int(child) for path in tasks for child in path.read_text().split()]
        found += generation
    return found


async def test_a_kill_from_outside_is_no_result(sandbox: Sandbox) -> None:
    """As by the kernel for want of memory: the sandbox failed, not the program; the next job runs."""
    job = Job(
        "import time\ndef f(x):\n    time.sleep(x)\n    return x\n", (Call("f", (0,)), Call("f", (600,)))
    )

    with pytest.raises(SandboxError, match="out of memory"):
        async with sandbox.stream(job) as results:
            async for _ in results:
                os.kill(descendants(os.getpid())[-1], signal.SIGKILL)
    again = await sandbox.run(Job("def f():\n    return 1\n", (Call("f", ()),)))
    assert again.results == (Returned(1),)


@pytest.mark.parametrize(
    "body",
    [
        "os.kill(os.getpid(), signal.SIGKILL)",
        "signal.raise_signal(signal.SIGKILL)",
        "signal.pthread_kill(threading.get_ident(), signal.SIGKILL)",
        "os.kill(os.getpid(), signal.SIGTERM)",
        "bytearray(1 << 40)",
        "[bytearray(1 << 20) for _ in range(1000)]",
        "exhaust_cpu_limit()",
        "arm_timer()",
    ],
)
async def test_a_program_that_ends_itself_has_failed(sandbox: Sandbox, body: str) -> None:
    """By any signal, by its own memory limit, by a lower limit of CPU time or a timer: its own failure."""
    program = f"""
import ctypes, os, resource, signal, threading
def exhaust_cpu_limit():
    resource.setrlimit(resource.RLIMIT_CPU, (1, 1))
    while True:
        pass
def arm_timer():
    class Event(ctypes.Structure):
        _fields_ = [("value", ctypes.c_long), ("signo", ctypes.c_int), ("notify", ctypes.c_int),
                    ("pad", ctypes.c_long * 6)]
    timer, when = ctypes.c_long(), (ctypes.c_long * 4)(0, 0, 0, 1)
    libc = ctypes.CDLL(None)
    if libc.timer_create(1, ctypes.byref(Event(0, int(signal.SIGKILL), 0)), ctypes.byref(timer)):
        raise OSError("refused")
    libc.timer_settime(timer, 0, when, None)
    signal.pause()
def f():
    {body}
    return "alive"
"""
    execution = await sandbox.run(Job(program, (Call("f", ()),), limits=Limits(memory_bytes=1 << 29)))
    assert execution.ended in (Ended.DIED, Ended.FINISHED)
    assert not any(isinstance(result, Returned) for result in execution.results)
