"""What every sandbox promises: one list, run against every implementation and level."""

import asyncio
import time
from pathlib import Path

import pytest

from support.case_files import programs, sections
from triathlon_runner.sandbox import (
    PYTHON_WIRE,
    Call,
    Ended,
    Job,
    Limits,
    Opaque,
    Prepared,
    Raised,
    Returned,
    Sandbox,
    SandboxError,
    Sent,
    Source,
    Tagged,
)

QUICK = Limits(cpu_seconds=1, wall_seconds=2)
TEXTS = sections(Path(__file__).with_name("contract.txt"))
ECHO = "def f(x):\n    return x\n"


pytestmark = pytest.mark.asyncio(loop_scope="module")


def one(program: str, *arguments: object, limits: Limits = QUICK) -> Job:
    return Job(program, (Call("f", arguments),), limits=limits)


async def value_of(sandbox: Sandbox, expression: str, before: str = "") -> object:
    """What an expression's value becomes on its way out."""
    execution = await sandbox.run(one(f"{before}\ndef f():\n    return {expression}\n"))
    (result,) = execution.results
    assert isinstance(result, Returned), execution
    return result.value


async def test_calls_are_answered_in_order_in_one_process(sandbox: Sandbox) -> None:
    """The program's state lives from call to call; prepared calls give what the same calls give."""
    program = "seen = []\ndef f(x):\n    seen.append(x)\n    return list(seen)\n"
    calls = (Call("f", (1,)), Call("f", Source("(2,)")))
    execution = await sandbox.run(Job(program, calls))
    assert execution.ended is Ended.FINISHED
    assert execution.results == (Returned([1]), Returned([1, 2]))
    prepared = Prepared(b"".join(map(PYTHON_WIRE.call, calls)), len(calls))
    assert await sandbox.run(Job(program, prepared)) == execution


async def test_jobs_share_nothing_and_chance_is_fixed(sandbox: Sandbox) -> None:
    """What a program does to modules and files is gone for the next; hashes and `random` start the same."""
    await sandbox.run(one(TEXTS["leaves things behind"]))
    found = [(await sandbox.run(one(TEXTS["looks for things"]))).results[0] for _ in range(3)]
    assert isinstance(found[0], Returned) and found[0].value[:2] == (True, [])
    assert len(set(map(str, found))) == 1


@pytest.mark.parametrize(
    "expression",
    [
        *["None", "True", "-1", "2 ** 200", "-(2 ** 63)", "1.5", "-0.0", "1j", "'é\\ud800'", "b'\\x00\\xff'"],
        *["[1, 2, 3, 4, 5]", "[1.0] * 5", "['a', '', 'bcd']", "(1,)", "()", "{1, 2}", "frozenset({'a'})"],
        *["{'a': [1, (2,)], 3: None}", "[[], [[]], [1, 'a', None, 2.5]]", "[True] * 5", "[2 ** 70] * 5"],
        "[float('nan'), float('inf'), float('-inf')]",
    ],
)  # fmt: skip
async def test_plain_values_come_back_as_they_are(sandbox: Sandbox, expression: str) -> None:
    assert repr(await value_of(sandbox, expression)) == repr(eval(expression))


async def test_other_values_are_reduced_or_named(sandbox: Sandbox) -> None:
    """An object that claims to equal everything is the plain value that it holds; others have their type."""
    classes = TEXTS["claims to equal everything"]
    assert repr(await value_of(sandbox, "Same(5), Odd([1, 2])", classes)) == "(5, [1, 2])"
    decimal = await value_of(sandbox, "__import__('decimal').Decimal('1.50')")
    assert decimal == Tagged("decimal.Decimal", "1.50")
    generator = await value_of(sandbox, "(i for i in [1])")
    assert isinstance(generator, Opaque) and generator != Opaque(generator.type)


async def test_an_exception_is_a_result(sandbox: Sandbox) -> None:
    """The calls after it are made. Half of a surrogate pair is spelled out: no file could hold it."""
    program = "def f(x):\n    return 1 // x\n"
    execution = await sandbox.run(Job(program, (Call("f", (0,)), Call("f", (1,)), Call("g", ()))))
    division, good, missing = execution.results
    assert isinstance(division, Raised) and (division.type, division.line) == ("ZeroDivisionError", 2)
    assert good == Returned(1)
    assert isinstance(missing, Raised) and missing.type == "KeyError"
    for program in ("def f():\n    raise ValueError('a\\ud800')\n", "raise ValueError('a\\ud800')\n"):
        result = (await sandbox.run(one(program))).results[0]
        assert isinstance(result, Raised) and result.message == "a\\ud800"


ENDINGS = {
    **programs(Path(__file__).with_name("endings.txt")),
    "a null byte": ("a\0b", "not_loaded", "", ""),
    "half a character": ("'\ud800'", "not_loaded", "", ""),
}


@pytest.mark.parametrize(("program", "ended", "detail", "printed"), ENDINGS.values(), ids=ENDINGS)
async def test_how_a_program_ends(
    sandbox: Sandbox, program: str, ended: str, detail: str, printed: str
) -> None:
    """Who leaves without an answer, or forges frames, has died; who exits at import has not loaded."""
    execution = await sandbox.run(one(program, limits=Limits(wall_seconds=0.5)))
    assert execution.ended == ended and detail in execution.detail, execution
    assert execution.stdout[:6] == printed
    assert execution.results[:1] == (Returned(7),) or "'<q', 7" not in program
    assert ended != "not_loaded" or isinstance(execution.results[0], Raised)


async def test_a_runner_that_is_slow_to_read_is_no_sleep_of_the_programs(sandbox: Sandbox) -> None:
    """A child that waits for its results to be read has not done nothing: the runner has."""
    calls = tuple(Call("f", ()) for _ in range(5))
    job = Job("def f():\n    return 'x' * 200_000\n", calls, limits=Limits(wall_seconds=0.5))
    numbers: list[int] = []

    def take(index: int, _result: Sent | Raised) -> bool:
        numbers.append(index)
        time.sleep(0 if index else 1.5)  # the whole runner stands still, as if it was stopped
        return True

    assert (await sandbox.stream(job, take)).ended is Ended.FINISHED
    assert numbers == list(range(5))


async def test_a_result_beyond_its_limit_is_not_sent(sandbox: Sandbox) -> None:
    """Too large results, written out, too deep and circular ones are exceptions; the next are answered."""
    program = TEXTS["returns too much"]
    calls = tuple(Call("f", (kind,)) for kind in range(5))
    execution = await sandbox.run(Job(program, calls, limits=Limits(result_bytes=10**5)))
    kinds = [result.type if isinstance(result, Raised) else result.value for result in execution.results]
    assert kinds == ["ResultTooLarge", "ResultTooDeep", "ResultTooDeep", "small", "ResultTooLarge"]


async def test_streamed_values_are_decoded_on_demand(sandbox: Sandbox) -> None:
    """Each result is handed on and not kept; who takes no more ends the program, as the execution says."""
    calls = tuple(Call("f", (number,)) for number in range(100))
    for most, ended in ((100, Ended.FINISHED), (2, Ended.STOPPED)):
        values: list[object] = []

        def take(index: int, result: Sent | Raised, values: list[object] = values, most: int = most) -> bool:
            assert isinstance(result, Sent)
            values.append(result.value())
            return index < most - 1 or most == len(calls)

        execution = await sandbox.stream(Job(ECHO, calls), take)
        assert (execution.ended, execution.results, values) == (ended, (), list(range(most)))


async def test_an_error_of_the_callers_own_does_not_harm_the_next_job(sandbox: Sandbox) -> None:
    """A cancelled job's process is killed, what is raised while results are read is not lost."""
    endless = asyncio.create_task(sandbox.run(one("def f():\n    while True:\n        pass\n")))
    await asyncio.sleep(0.3)
    endless.cancel()
    with pytest.raises(asyncio.CancelledError):
        await endless

    def take(_index: int, _result: Sent | Raised) -> bool:
        raise LookupError("mine")

    with pytest.raises(LookupError, match="mine"):
        await sandbox.stream(one(ECHO, 1), take)
    assert (await sandbox.run(one(ECHO, 1))).results == (Returned(1),)


async def test_many_jobs_and_long_frames(sandbox: Sandbox) -> None:
    """Frames far beyond what a pipe holds go both ways; any number of jobs may be started at once."""
    program = "import time\ndef f(x):\n    time.sleep(0.02)\n    return x\n"
    text = "x" * 3_000_000
    execution = await sandbox.run(Job(program, tuple(Call("f", (text,)) for _ in range(4))))
    assert execution.ended is Ended.FINISHED and execution.results == (Returned(text),) * 4
    executions = await asyncio.gather(*(sandbox.run(one(ECHO, number)) for number in range(20)))
    assert [execution.results for execution in executions] == [(Returned(n),) for n in range(20)]


async def test_libraries_are_there_only_when_named(sandbox: Sandbox) -> None:
    """Numpy can be imported by a job that names it, and by no other; one that is missing is our fault."""
    program = "import numpy\ndef f():\n    return numpy.arange(3).sum()\n"
    call, numpy = (Call("f", ()),), frozenset({"numpy"})
    assert (await sandbox.run(Job(program, call, libraries=numpy))).results == (Returned(3),)
    for job in (Job(program, call), Job("import pydantic", call, libraries=numpy)):
        assert (await sandbox.run(job)).ended is Ended.NOT_LOADED
    with pytest.raises(SandboxError, match="no_such_library"):
        await sandbox.run(Job("", (), libraries=frozenset({"no_such_library"})))


SPIN = "import time\nend = time.process_time() + 1.5\nwhile time.process_time() < end: pass\n"
SLEEP = "import time\ntime.sleep(1000)\n"


@pytest.mark.parametrize(
    ("tests", "program", "ended"),
    [
        (f"{SPIN}assert f(1) == 1\n{SPIN}assert f(2) == 2\n", ECHO, (Ended.FINISHED, Ended.FINISHED)),
        ("f(1)\n", f"def f(x):\n    exec({SPIN!r})\n", (Ended.FINISHED, Ended.FINISHED)),
        ("f(1)\n", f"def f(x):\n    exec({SLEEP!r})\n", (Ended.STOPPED, Ended.TIMED_OUT)),
        (f"f(1)\n{SLEEP}", ECHO, (Ended.TIMED_OUT, Ended.FINISHED)),
    ],
)
async def test_who_waits_for_the_other_does_not_sleep(
    sandbox: Sandbox, tests: str, program: str, ended: tuple[Ended, Ended]
) -> None:
    """Of tests and program only the one whose turn it is can sleep; on a busy machine a turn takes long."""
    limits = Limits(cpu_seconds=10, wall_seconds=0.75)
    run = await sandbox.examine(
        Job(tests, (), limits=limits, relayed=("f",)), Job(program, (), limits=limits)
    )
    assert (run.examiner.ended, run.candidate.ended) == ended, run
