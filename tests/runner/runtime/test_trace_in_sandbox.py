"""Tracing where it really happens, hostile references included."""

import pytest

from triathlon_runner.runtime._outputs import check_assertions
from triathlon_runner.runtime._trace import Trace, trace_runs
from triathlon_runner.sandbox import Sandbox, open_sandbox

SMALL = {"steps": 2_000, "text": 2_000, "characters": 200_000}


async def runs(sandbox: Sandbox, program: str, *arguments: str) -> list[Trace]:
    calls = [{"function": "f", "arguments": text} for text in arguments]
    return await trace_runs(sandbox, program, calls, {2: ["x"]}, limits=SMALL)


async def test_a_trace_crosses_the_border_whole() -> None:
    """Steps, values and watched expressions come out as they were recorded."""
    async with open_sandbox() as sandbox:
        (found,) = await runs(sandbox, "def f(n):\n    x = {n: [n, 0.5]}\n    return x\n", "('a',)")
    assert [step.line for step in found.steps] == [2, 3]
    assert [(value.text, value.type) for value in found.observed(2, "x")] == [("{'a': ['a', 0.5]}", "dict")]
    assert found.steps[0].before["n"].text == "'a'"


@pytest.mark.parametrize(
    ("attack", "ends"),
    [
        ("import os\n        os._exit(0)", {"lost"}),
        ("import os, signal\n        os.kill(os.getpid(), signal.SIGKILL)", {"lost"}),
        ("import sys\n        sys.exit()", {"raised"}),
        ("while True: pass", {"limit"}),
        ("import os\n        [os.write(fd, b'\\x00\\xff' * 99) for fd in (1, 2)]", {"returned"}),
        ("import sys\n        sys.settrace(None)", {"untraceable"}),
        ("x = [0] * 10**9", {"raised", "lost"}),
        ("import sys\n        sys._getframe(2).f_locals", {"returned"}),
    ],
)
async def test_a_hostile_reference_harms_only_its_own_run(attack: str, ends: set[str]) -> None:
    """The run before it and the run after it are traced all the same."""
    program = f"def f(n):\n    x = n\n    if n == 2:\n        {attack}\n    return x\n"
    if attack.startswith("while"):
        program = "def f(n):\n    x = n\n    while n == 2:\n        n = 2\n    return x\n"
    async with open_sandbox() as sandbox:
        first, hostile, last = await runs(sandbox, program, "(1,)", "(2,)", "(3,)")
    assert hostile.outcome in ends
    assert (first.outcome, last.outcome) == ("returned", "returned")
    assert [value.text for value in last.observed(2, "x")] == ["3"]


TURNS_OFF = "it turns off the tracing of a frame"
SETS = "it sets a trace function of its own"


@pytest.mark.parametrize(
    ("attack", "why"),
    [
        ("import sys; sys.settrace(None)", SETS),
        ("import sys; sys.settrace(lambda *_: None)", SETS),
        ("import sys; own = sys.gettrace(); sys.settrace(None); x = 0; sys.settrace(own)", SETS),
        ("import sys; sys._getframe().f_trace = None", TURNS_OFF),
        ("import sys; sys._getframe().f_trace = lambda *_: None", TURNS_OFF),
        ("import sys; sys._getframe().f_trace_lines = False", TURNS_OFF),
        (
            "import threading; own = threading.Thread(target=print); own.start(); own.join()",
            "it starts a thread, which is not traced",
        ),
        ("import os; os.fork() or os._exit(0)", "it forks"),
    ],
)
async def test_a_reference_that_leaves_the_tracers_sight_is_untraceable(attack: str, why: str) -> None:
    """What it does unseen would make a truth that is none; the outcome says how it got away."""
    program = f"def f(n):\n    x = n\n    if n == 2:\n        {attack}\n    x += 1\n    return x\n"
    async with open_sandbox() as sandbox:
        first, hostile, last = await runs(sandbox, program, "(1,)", "(2,)", "(3,)")
    assert (hostile.outcome, hostile.error) == ("untraceable", why)
    named = "untraceable" if "f_trace" in attack else "returned"  # lines can be hidden without a sign
    assert (first.outcome, last.outcome) == (named, named)


@pytest.mark.parametrize("descriptors", ["range(3, 64)", "range(64)"])
async def test_a_reference_that_writes_into_every_channel(descriptors: str) -> None:
    """Its own run is lost or traced, never another one's, and nothing that it wrote becomes a trace."""
    attack = (
        "import os\n"
        f"        for fd in {descriptors}:\n"
        "            try:\n"
        "                os.write(fd, b'\\x00\\x00\\x00\\x04null\\n' * 9)\n"
        "            except OSError:\n"
        "                pass"
    )
    program = f"def f(n):\n    x = n\n    if n == 2:\n        {attack}\n    return x\n"
    async with open_sandbox() as sandbox:
        found = await runs(sandbox, program, "(1,)", "(2,)", "(3,)")
        after = await runs(sandbox, program, "(1,)")
    assert len(found) == 3
    for number, one in enumerate(found, start=1):
        if one.outcome != "lost":
            assert [value.text for value in one.observed(2, "x")] == [str(number)]
    assert after[0].outcome == "returned"


async def test_a_reference_that_rewrites_its_trace_gives_no_trace_or_its_own() -> None:
    """Whatever it sends is read as data: nothing of it can raise here."""
    program = """def f(n):
    import gc
    for thing in gc.get_objects():
        if type(thing).__name__ == "Recorder":
            thing.steps[:] = ["x" * 10, None, -5]
    return n
"""
    async with open_sandbox() as sandbox:
        (found,) = await runs(sandbox, program, "(1,)")
    assert found.outcome == "lost" or found.steps


async def test_a_program_that_does_not_load_is_an_outcome() -> None:
    """Not an error of ours."""
    async with open_sandbox() as sandbox:
        broken = await runs(sandbox, "raise ImportError('no')", "()")
        unparsed = await runs(sandbox, "def f(:", "()")
    assert broken[0].outcome == "raised"
    assert unparsed[0].outcome in ("lost", "raised")


async def test_assertions_are_executed_against_the_program() -> None:
    """Holding, failing, crashing and never ending are told apart; each has its own process where one dies."""
    program = "def f(n):\n    return n + 1\n"
    run = {"function": "f", "arguments": "()"}
    texts = [
        "assert f(1) == 2",
        "assert f(1) == 3",
        "assert f('a') == 1",
        "import os; os._exit(0)",
        "assert f(2) == 3",
    ]
    async with open_sandbox() as sandbox:
        found = await check_assertions(sandbox, program, [(run, text, {}) for text in texts], frozenset())
    assert found[0] == found[4] == ""
    assert found[1].startswith("AssertionError")
    assert found[2].startswith("TypeError")
    assert found[3].startswith("died")
