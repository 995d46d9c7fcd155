"""The pipeline against a scripted evolver: good problems, broken ones, every reason to drop one; inputs."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from support.case_files import sections
from support.fake_model import FakeModel
from support.scripted_evolver import EVEN, GOOD, SEED, SOLUTION, Says, ScriptedEvolver, fenced, same_problem
from triathlon_runner.datasets import Comparison, Problem
from triathlon_runner.datasets.user import Transformation
from triathlon_runner.evolved.evolve import Job
from triathlon_runner.evolved.evolve._draft import read_inputs
from triathlon_runner.evolved.evolve._pipeline import DroppedError, Pipeline, Written
from triathlon_runner.prompts import load_prompts
from triathlon_runner.records import Finish, Reply
from triathlon_runner.sandbox import Sandbox

OTHER = replace(SEED, prompt='def add_up(numbers: list[int]) -> int:\n    """Return what they come to."""\n')
CAREFUL = fenced(SOLUTION)
CARELESS = fenced("def add_even(numbers):\n    return sum(n for n in numbers if n % 2 == 0)\n")
VERBOSE, HALVES = (f"{text}\n" for text in sections(Path(__file__).with_name("problems.txt")).values())
COUNTS = fenced("def add_up(numbers):\n    return len(numbers)\n")
JOIN = "def add_up(numbers):\n    return head(numbers) + (add_up(tail(numbers)) if numbers else 0)\n"
HEAD = fenced("def head(numbers):\n    return numbers[0] if numbers else 0\n")
TAIL = fenced("def tail(numbers):\n    return numbers[1:]\n")


def _half_inputs(question: str) -> str:
    name = "head" if "def head" in question else "tail"
    return "\n".join(f"{name}({value})" for value in ("[]", "[1]", "[1, 2]", "[3, 1, 2]"))


IN_HALVES: Mapping[str, Says] = {
    "transform": fenced(HALVES),
    "solve": [HEAD, HEAD, TAIL],
    "inputs": _half_inputs,
    "examples": same_problem,
    "join": [fenced(SEED.reference), fenced(JOIN)],
}


async def _evolve(
    script: Mapping[str, Says],
    sandbox: Sandbox,
    transformation: Transformation = "difficult",
    parents: tuple[Problem, ...] = (SEED,),
) -> tuple[Written, ScriptedEvolver]:
    """The first problem, and the model that was asked."""
    model = ScriptedEvolver(script)
    written, *_ = await Pipeline(Job(transformation, parents), model, load_prompts("evolved"), sandbox).run()
    return written, model


async def test_good_problem(sandbox: Sandbox) -> None:
    """Transform, solve, inputs, repair, solve again, more inputs; examples are what the reference returns."""
    written, model = await _evolve(GOOD, sandbox)
    assert model.kinds == ["transform", "solve", "inputs", "examples", "solve", "inputs"]
    assert (written.reference, written.inputs[0]) == (SOLUTION, "([1, 2],)")
    assert "99" not in written.draft.prompt and ">>> add_even([1, 2])\n    2\n" in written.draft.prompt
    # The model's corrected docstring replaces the first one; one that changes the parameters does not.
    better = EVEN.replace("counting each of them once", "each different number once")
    written, _ = await _evolve({**GOOD, "examples": fenced(better)}, sandbox)
    assert "each different number once" in written.draft.prompt
    other = fenced(better.replace("numbers: list[int]", "xs: list[int]"))
    written, _ = await _evolve({**GOOD, "examples": other}, sandbox)
    assert "each different number once" not in written.draft.prompt
    # Two solutions whose floats are equal but for rounding: the reference passes its own examples.
    floats: Says = [
        fenced(SOLUTION.replace("return ", f"return {part} + ")) for part in ("0.1", "0.1000000000001")
    ]
    written, _ = await _evolve({**GOOD, "solve": floats}, sandbox)
    assert ">>> add_even([1, 2])\n    2.1000000000001\n" in written.draft.prompt


async def test_solutions_that_differ(sandbox: Sandbox) -> None:
    """The problem is written anew; inputs on which they differ after all are no tests."""
    solve: Says = [CAREFUL, CARELESS, CAREFUL]
    written, model = await _evolve({**GOOD, "solve": solve, "disagree": same_problem}, sandbox)
    assert (model.kinds.count("disagree"), written.reference) == (1, SOLUTION)
    question = model.texts[model.kinds.index("disagree")]
    assert "add_even([2, 2, 4]) gives 6 to the one and 8 to the other" in question
    nearly = fenced(SOLUTION.rstrip() + " + (len(numbers) > 3)\n")
    written, _ = await _evolve({**GOOD, "solve": [fenced(SOLUTION), nearly]}, sandbox)
    assert len(written.inputs) == 5 and "([8, 9, 8, 6],)" not in written.inputs


async def test_what_transformations_differ_in(sandbox: Sandbox) -> None:
    """Combine shows both seeds; tool_use keeps complete helpers in front of the main function."""
    _, model = await _evolve(GOOD, sandbox, "combine", (SEED, OTHER))
    assert all(seed.prompt.strip() in model.texts[0] for seed in (SEED, OTHER))
    helper = 'def is_even(n: int) -> bool:\n    """Return whether n is even."""\n    return n % 2 == 0\n'
    solution = f"{helper}\n\n{SOLUTION.replace('n % 2 == 0', 'is_even(n)')}"
    script = {**GOOD, "transform": fenced(f"{helper}\n\n{EVEN}"), "solve": fenced(solution)}
    written, _ = await _evolve(script, sandbox, "tool_use")
    assert written.draft.helpers == helper.rstrip()
    assert written.draft.prompt.startswith(written.draft.helpers)


async def test_reworded(sandbox: Sandbox) -> None:
    """Signature, examples and inputs stay; words from which another function is written are fixed."""
    script: dict[str, Says] = {"transform": fenced(VERBOSE), "solve": fenced(SEED.reference)}
    written, _ = await _evolve(script, sandbox, "verbose")
    assert (written.reference, written.inputs) == (SEED.reference, SEED.inputs)
    assert ">>> add_up([1, 2])\n    3\n" in written.draft.prompt
    assert "[40, 2]" not in written.draft.prompt and "Go through all of them" in written.draft.prompt
    script |= {
        "solve": [COUNTS, fenced(SEED.reference)],
        "fix": fenced(VERBOSE.replace("Go through", "Walk through")),
    }
    written, model = await _evolve(script, sandbox, "concise")
    assert "Walk through" in written.draft.prompt and model.kinds.count("fix") == 1
    question = model.texts[model.kinds.index("fix")]
    assert "gives 2 for ([1, 2],), where the original gives 3" in question
    checked = replace(SEED, comparison=Comparison("checker", checker="humaneval-32"))
    with pytest.raises(DroppedError, match="several right answers"):
        await _evolve(script, sandbox, "concise", (checked,))


async def test_decompose(sandbox: Sandbox) -> None:
    """A program that calls both halves must solve the seed."""
    model = ScriptedEvolver(IN_HALVES)
    halves = await Pipeline(Job("decompose", (SEED,)), model, load_prompts("evolved"), sandbox).run()
    assert [written.draft.entry_point for written in halves] == ["head", "tail"]
    assert model.kinds.count("join") == 2


BROKEN = {
    "I can't think of any.": "no Python code block",
    fenced("def add_even(numbers:\n    pass"): "does not parse",
    fenced("def add_even(numbers):\n    return 1"): "no docstring",
    fenced("x = 1"): "no Python code block with a function",
    fenced(EVEN + "\n\n" + EVEN.replace("add_even", "two")): "one function was asked for, there are 2",
    fenced('def f():\n    """Return the answer to everything."""'): "plain positional parameters",
    fenced(SEED.prompt.replace("add_up", "sum_up")): "is the problem that you were given",
    '{"prompt": "def f(x):\\n    \\"\\"\\"It is': "no Python code block",
    'prompt = """\ndef f(x):\n[[half]\n': "no Python code block",
    "": "no Python code block",
    fenced(f'def f(x={"-" * 1800}1):\n    """Return the sum of it all."""'): "nested too deep",
}


@pytest.mark.parametrize("reply", BROKEN)
async def test_broken_problem(sandbox: Sandbox, reply: str) -> None:
    """A reply that is no problem goes back with the complaint; a fixed one is used, a broken one dropped."""
    written, model = await _evolve({**GOOD, "transform": reply, "fix": fenced(EVEN)}, sandbox)
    assert written.draft.entry_point == "add_even"
    assert model.kinds[:2] == ["transform", "fix"]
    with pytest.raises(DroppedError, match=f"^no usable problem came: .*{BROKEN[reply]}"):
        await _evolve({**GOOD, "transform": reply, "fix": reply}, sandbox)


async def test_a_cut_reply_is_named(sandbox: Sandbox) -> None:
    """Where the token limit is what broke a problem, the reason for dropping it says so."""
    model = FakeModel(lambda _: Reply(text="```python\ndef add_even(numbers:", finish=Finish.LENGTH))
    with pytest.raises(DroppedError, match=r"^no usable problem came: truncated: the code does not parse"):
        await Pipeline(Job("subtle", (SEED,)), model, load_prompts("evolved"), sandbox).run()


SOLVED_BY = {
    "raise ValueError('no')": "works on 0 of 5 inputs; on ([1, 2],): raised: ValueError: no",
    "while True: pass": "endless: used more than 2.0 s of CPU time",
    "import os; os._exit(3)": ": died: ",
    "return iter(numbers)": "works on 0 of 5 inputs",
    "return float('nan')": "its solution gives nan on each of ",
    "return 10 ** 5000": "works on 0 of 5 inputs; on ([1, 2],): <what cannot be written down>",
    "import random; return random.random()": "gives other values when it runs again in another order",
    "return 'a' * 10 ** 10": "MemoryError",
    "import os; os.kill(os.getppid(), 15)": "raised: PermissionError",
    "import os; os.kill(os.getppid(), 9)": "died: killed by signal 31",
    f"return {'-' * 1800}1": "no solution to its own problem",
    "return sum(numbers)": "the reference of its seed core/seeds/add-up solves it on all inputs",
}
AGAIN = fenced(SEED.prompt + "\n\n" + EVEN)
DROPPED: list[Any] = [
    *(
        pytest.param(
            reason,
            "difficult",
            {"solve": fenced(f"def add_even(numbers):\n    {body}\n")},
            marks=[pytest.mark.slow] if body.startswith("while") else [],
        )
        for body, reason in SOLVED_BY.items()
    ),
    (
        "still differ after 3 rounds",
        "difficult",
        {"solve": [CAREFUL, CARELESS] * 3, "disagree": same_problem},
    ),
    ("no helper function", "tool_use", {"fix": fenced(EVEN)}),
    ("must be called add_up", "verbose", {"fix": fenced(EVEN)}),
    ("still differ", "concise", {"transform": fenced(VERBOSE), "solve": COUNTS, "fix": fenced(VERBOSE)}),
    ("calls both halves", "decompose", {**IN_HALVES, "join": fenced(SEED.reference)}),
    ("problem that you were given", "decompose", {"transform": AGAIN, "fix": AGAIN}),
]


@pytest.mark.parametrize(("reason", "transformation", "script"), DROPPED)
async def test_dropped(
    sandbox: Sandbox, reason: str, transformation: Transformation, script: dict[str, Says]
) -> None:
    """References that crash, never end or are the seed's; words for another function; odd halves."""
    with pytest.raises(DroppedError) as dropped:
        await _evolve({**GOOD, **script}, sandbox, transformation)
    assert reason in str(dropped.value)


READ = {
    ("f(1, 'a')", 2): "(1, 'a')",
    (">>> f([1, 2])", 1): "([1, 2],)",
    ("- f(3)", 1): "(3,)",
    ("f(1) == 2", 1): "(1,)",
    ("(1, 2)", 2): "(1, 2)",
    ("[1, 2]", 1): "([1, 2],)",
}
NOT_READ = (
    *("f(1, 2)", "f(x=1)", "f(*[1])", "g(1)", "Here are some calls", "f(1); f(2)", "f = 1"),
    *("f(" + "1," * 3000 + ")", "f(" + "-" * 1800 + "1)", "f(" + "[" * 150 + "]" * 150 + ")"),
)


def test_read_inputs() -> None:
    """Calls and bare tuples, each once, from the code block."""
    assert {case: read_inputs(case[0], "f", case[1]) for case in READ} == {k: [v] for k, v in READ.items()}
    assert [line for line in NOT_READ if read_inputs(line, "f", 1)] == []
    assert read_inputs("Sure: f(9)\n```\nf(1)\nf(1)\nf(2)\n```", "f", 1) == ["(1,)", "(2,)"]
