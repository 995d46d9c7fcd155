"""Every limit of a child that `triathlon doctor` names is reached by a program here, in each level."""

import os
import platform
import re
import signal
from pathlib import Path

import pytest

from support.case_files import programs, rows, sections
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
FOLDER = Path(__file__).parent
REACHED = programs(FOLDER / "reached_limits.txt")
ATTEMPTS = sections(FOLDER / "attempts.txt")
CALLS = rows(FOLDER / "calls.csv")


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


@pytest.mark.skipif(platform.machine() != "x86_64", reason="the numbers are those of x86_64's calls")
@pytest.mark.parametrize("call", CALLS, ids=[call["expression"] for call in CALLS])
async def test_flags_of_calls(sandbox: Sandbox, call: dict[str, str]) -> None:
    """What makes descriptors, threads, timers, memory and keys is allowed with the flags programs need."""
    expected = eval(call["expected"])
    program = f"{ATTEMPTS['calls']}\ndef f():\n    return {call['expression']}\n"
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


@pytest.mark.parametrize(
    "body",
    [
        "os.kill(os.getpid(), signal.SIGKILL)",
        "signal.raise_signal(signal.SIGKILL)",
        "signal.pthread_kill(threading.get_ident(), signal.SIGKILL)",
        "os.kill(os.getpid(), signal.SIGTERM)",
        "[bytearray(1 << 20) for _ in range(1000)]",
        "exhaust_cpu_limit()",
        "arm_timer()",
        ATTEMPTS["timer in Perl"],
    ],
)
async def test_a_program_that_ends_itself_has_failed(sandbox: Sandbox, body: str) -> None:
    """By any signal, limit or timer no verdict stays open; in Perl any system call can be made."""
    is_timer = body.startswith("sub f")
    program = body if is_timer else f"{ATTEMPTS['ends']}\ndef f():\n    {body}\n    return 'alive'\n"
    language = Language.PERL if is_timer else Language.PYTHON
    limits = Limits(cpu_seconds=2, memory_bytes=1 << 29)
    execution = await sandbox.run(Job(program, (Call("f", ()),), language, limits))
    ends = (Ended.DIED, Ended.FINISHED, *([Ended.TIMED_OUT] if is_timer else []))
    assert execution.ended in ends, execution
    assert not any(isinstance(result, Returned) for result in execution.results)
