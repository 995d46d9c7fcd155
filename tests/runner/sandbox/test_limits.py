"""Every limit of a child that `triathlon doctor` names is reached by a program here, in each level."""

import os
import platform
import re
import signal
from pathlib import Path

import pytest

from triathlon_runner.sandbox import (
    Call,
    Ended,
    Job,
    Language,
    Limits,
    Raised,
    Returned,
    Sandbox,
    SandboxError,
    Sent,
    limits_of_a_child,
)

pytestmark = pytest.mark.asyncio(loop_scope="module")

LIMITS = Limits(cpu_seconds=1, wall_seconds=0.5, result_bytes=100_000, output_bytes=100)
REACHED = {
    "CPU time": ("print('before')\nsum(range(10 ** 13))", "timed_out: used more than .* CPU time"),
    "sleep": ("import time\nprint('so far')\ntime.sleep(1000)", r"timed_out: did nothing .* 'so far\\n'"),
    "memory": ("bytearray(8 << 30)", "finished: MemoryError"),
    "one result": ("return 'x' * 10 ** 7", "finished: ResultTooLarge"),
    "recorded output": (
        "import sys\nprint('o' * 10 ** 6)\nprint('e', file=sys.stderr)",
        r"finished: None 'o{100}' 'e\\n'",
    ),
    "one file": ("open('x', 'wb').write(bytes(17 << 20))", "finished: OSError"),
    "files together": (
        "for number in '12345':\n    with open(number, 'wb') as out:\n        out.write(bytes(16 << 20))",
        "finished: OSError|died: .*64 MiB of files",  # the levels differ
    ),
    "open files": (
        "import os\ntry:\n    while True:\n        last = os.dup(0)\nexcept OSError:\n    return last",
        "finished: 255",
    ),
    "threads": (
        "import threading\nend, made = threading.Event(), 0\ntry:\n    while made < 5000:\n"
        "        threading.Thread(target=end.wait, daemon=True).start()\n        made += 1\n"
        "except RuntimeError:\n    pass\nreturn 40 < made <= 64",
        "finished: True",
    ),
    "processes": ("import os\nos.fork()", "finished: PermissionError"),
    "pending signals": (
        "import signal\nreal = {signal.SIGRTMIN}\nsignal.pthread_sigmask(signal.SIG_BLOCK, real)\n"
        "for _ in range(200):\n    signal.raise_signal(signal.SIGRTMIN)",
        "finished: BlockingIOError",
    ),
}
"""By the name of a limit a program, and how it ends: its result, or the reason, and what it printed."""


@pytest.mark.parametrize("what", REACHED)
async def test_a_limit_is_reached(sandbox: Sandbox, what: str) -> None:
    """As the program's own failure, or the end of what it gets."""
    assert list(limits_of_a_child(LIMITS)) == list(REACHED)
    body, expected = REACHED[what]
    program = "def f():\n" + "".join(f"    {line}\n" for line in body.splitlines())
    done = await sandbox.run(Job(program, (Call("f", ()),), limits=LIMITS))
    results = [one.type if isinstance(one, Raised) else one.value for one in done.results]
    how = done.detail or " ".join(map(str, results))
    assert re.match(expected, f"{done.ended}: {how} {done.stdout!r} {done.stderr!r}"), done


CALLS = """
import ctypes, fcntl, os, struct, sqlite3, threading
libc = ctypes.CDLL(None, use_errno=True)
def call(number, *arguments):
    return -ctypes.get_errno() if libc.syscall(number, *arguments) < 0 else 0
def lock(command):
    return fcntl.fcntl(0, command, struct.pack("hhqqi4x", fcntl.F_WRLCK, 0, 0, 1, 0))
def database():
    with sqlite3.connect("x.db") as first, sqlite3.connect("x.db") as second:
        first.execute("create table t (a)")
        first.execute("insert into t values (3)")
        first.commit()
        return second.execute("select a from t").fetchall()
def thread():
    done = []
    thread = threading.Thread(target=done.append, args=(1,))
    thread.start()
    thread.join()
    return done
"""


@pytest.mark.skipif(platform.machine() != "x86_64", reason="the numbers are those of x86_64's calls")
@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("call(436, 200, 255, 2)", -1),  # close_range with CLOSE_RANGE_UNSHARE
        ("call(436, 200, 255, 0)", 0),
        ("call(56, 0x10F00, 0, 0, 0, 0)", -1),  # clone: a thread that the C library would not make
        ("call(56, 0x3D0B00, 0, 0, 0, 0)", -1),  # clone without CLONE_FILES
        ("call(272, 0x400)", -1),  # unshare(CLONE_FILES)
        ("call(222, 1, None, None)", -1),  # timer_create
        ("call(283, 1, 0)", -1),  # timerfd_create
        ("call(319, b'x', 0)", -1),  # memfd_create
        ("call(250, 0, 0, 0)", -1),  # keyctl
        ("call(9, 0, 4096, 3, 0x40022, -1, 0)", -1),  # mmap of huge pages
        ("call(257, -100, b'.', 0o20200002, 0o600)", -1),  # openat with O_TMPFILE
        ("call(293, ctypes.create_string_buffer(8), 0o200)", -1),  # pipe2 with O_NOTIFICATION_PIPE
        ("call(324, 1, 0)", -1),  # membarrier, for all of the machine
        ("lock(fcntl.F_SETLK) is not None", True),
        ("lock(fcntl.F_GETLK)", PermissionError),
        ("fcntl.fcntl(0, 1024, 0)", PermissionError),  # a lease
        ("fcntl.flock(0, fcntl.LOCK_EX)", None),
        ("database()", [(3,)]),
        ("thread()", [1]),
        ("os.open('/dev/null', os.O_WRONLY) > 0", True),
        ("os.write(0, b'x')", OSError),  # its own, for reading
        ("os.execv('/bin/true', ['true'])", PermissionError),
        ("os.kill(os.getppid(), 0)", PermissionError),
        ("os.listdir('/')", PermissionError),
        ("__import__('socket').socket()", PermissionError),
    ],
)
async def test_flags_of_calls(sandbox: Sandbox, expression: str, expected: object) -> None:
    """What makes descriptors, threads, timers, memory and keys is allowed with the flags programs need."""
    program = f"{CALLS}\ndef f():\n    return {expression}\n"
    (result,) = (await sandbox.run(Job(program, (Call("f", ()),)))).results
    if isinstance(expected, type):
        assert isinstance(result, Raised) and result.type == expected.__name__
    else:
        assert result == Returned(expected)


async def test_nothing_outlives_a_program(sandbox: Sandbox) -> None:
    """No flags of descriptor 0, no lock, no trace of a deleted file: the next program finds all as new."""
    first = (
        "import fcntl, os, struct\ndef f():\n    fcntl.fcntl(0, fcntl.F_SETFL, os.O_NONBLOCK)\n"
        "    fcntl.fcntl(0, 37, struct.pack('hhqqi4x', fcntl.F_RDLCK, 0, 4, 1, 0))\n"
        "    open('x', 'w').close()\n    os.remove('x')\n    return os.stat('.').st_ctime_ns\n"
    )
    second = (
        "import fcntl, os\ndef f():\n"
        "    return fcntl.fcntl(0, fcntl.F_GETFL) & os.O_NONBLOCK, os.stat('.').st_ctime_ns\n"
    )
    (before,) = (await sandbox.run(Job(first, (Call("f", ()),)))).results
    (after,) = (await sandbox.run(Job(second, (Call("f", ()),)))).results
    assert isinstance(before, Returned) and isinstance(after, Returned)
    assert after.value[0] == 0 and after.value[1] != before.value


async def test_a_kill_from_outside_is_no_result(sandbox: Sandbox) -> None:
    """As by the kernel for want of memory: the sandbox failed, not the program; the next job runs."""
    calls = (Call("f", (0,)), Call("f", (600,)))

    def kill(_index: int, _result: Sent | Raised) -> bool:
        youngest = generation = [os.getpid()]
        while generation:
            youngest = generation
            tasks = [task for pid in generation for task in Path(f"/proc/{pid}/task").glob("*/children")]
            generation = [int(child) for task in tasks for child in task.read_text().split()]
        os.kill(youngest[-1], signal.SIGKILL)
        return True

    with pytest.raises(SandboxError, match="out of memory"):
        await sandbox.stream(Job("import time\ndef f(x):\n    time.sleep(x)\n    return x\n", calls), kill)
    again = await sandbox.run(Job("def f():\n    return 1\n", (Call("f", ()),)))
    assert again.results == (Returned(1),)


KILLING_TIMER = """
sub f {
  my $event = pack("Q l l x48", 0, 9, 0); my $id = "\\0" x 8;
  syscall(222, 1, $event, $id);
  my $when = pack("q q q q", 0, 0, 0, 1000000);
  syscall(223, unpack("l", $id), 0, $when, 0);
  while (1) { }
}
"""


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
        KILLING_TIMER,
    ],
)
async def test_a_program_that_ends_itself_has_failed(sandbox: Sandbox, body: str) -> None:
    """By any signal, limit or timer no verdict stays open; in Perl any system call can be made."""
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
    language = Language.PERL if body is KILLING_TIMER else Language.PYTHON
    limits = Limits(cpu_seconds=2, memory_bytes=1 << 29)
    text = body if body is KILLING_TIMER else program
    execution = await sandbox.run(Job(text, (Call("f", ()),), language, limits))
    ends = (Ended.DIED, Ended.FINISHED, *([Ended.TIMED_OUT] if body is KILLING_TIMER else []))
    assert execution.ended in ends, execution
    assert not any(isinstance(result, Returned) for result in execution.results)
