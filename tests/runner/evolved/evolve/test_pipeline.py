"""The pipeline against a scripted evolver: good problems, broken ones, every reason to drop one; inputs."""

from collections.abc import Mapping
from dataclasses import replace

import pytest

from support.scripted_evolver import (
    EVEN,
    GOOD,
    SEED,
    SOLUTION,
    Said,
    Says,
    ScriptedEvolver,
    fenced,
    same_problem,
)
from triathlon_runner.datasets import Comparison, Problem
from triathlon_runner.datasets.user import Transformation
from triathlon_runner.evolved.evolve import Job
from triathlon_runner.evolved.evolve._conversation import Conversation
from triathlon_runner.evolved.evolve._draft import read_inputs
from triathlon_runner.evolved.evolve._pipeline import DroppedError, Written, evolve
from triathlon_runner.prompts import load_prompts
from triathlon_runner.sandbox import Sandbox

OTHER = Problem(
    task_id="core/seeds/largest",
    entry_point="largest",
    prompt='def largest(numbers: list[int]) -> int:\n    """Return the largest of the numbers, or 0."""\n',
    reference="def largest(numbers):\n    return max(numbers, default=0)\n",
    inputs=("([1, 2],)", "([],)", "([-1],)"),
    level=3,
    topics=("lists", "numbers"),
)


async def _evolve(
    script: Mapping[str, Says],
    sandbox: Sandbox,
    transformation: Transformation = "difficult",
    parents: tuple[Problem, ...] = (SEED,),
) -> tuple[tuple[Written, ...], ScriptedEvolver, Conversation]:
    model = ScriptedEvolver(script)
    conversation = Conversation(model, load_prompts("evolved"), sandbox)
    return await evolve(Job(transformation, parents), conversation), model, conversation


async def _reason(script: Mapping[str, Says], sandbox: Sandbox, **more: object) -> str:
    with pytest.raises(DroppedError) as caught:
        await _evolve(script, sandbox, **more)  # type: ignore[arg-type]
    return str(caught.value)


async def test_good_problem(sandbox: Sandbox) -> None:
    """Transform, solve, inputs, repair, solve again, more inputs; examples are what the reference returns."""
    evolved, model, conversation = await _evolve(GOOD, sandbox)
    assert model.asked == ["transform", "solve", "inputs", "examples", "solve", "inputs"]
    (written,) = evolved
    assert written.reference == SOLUTION
    assert written.inputs[0] == "([1, 2],)"
    assert conversation.usage.requests == 6
    assert [s.kind for s in conversation.steps if not s.question] == ["execute", "compare", "augment"]
    assert "99" not in written.draft.prompt and ">>> add_even([1, 2])\n    2\n" in written.draft.prompt


async def test_repaired_prose_is_taken(sandbox: Sandbox) -> None:
    """The model's corrected docstring replaces the first one; one that changes the parameters does not."""
    better = EVEN.replace("counting each of them once", "each different number once")
    evolved, _, _ = await _evolve({**GOOD, "examples": fenced(better)}, sandbox)
    assert "each different number once" in evolved[0].draft.prompt
    other = fenced(better.replace("numbers: list[int]", "xs: list[int]"))
    evolved, _, conversation = await _evolve({**GOOD, "examples": other}, sandbox)
    assert "each different number once" not in evolved[0].draft.prompt
    assert any("changes the parameters" in step.found for step in conversation.steps)


async def test_disagreement_is_settled(sandbox: Sandbox) -> None:
    """Where solutions differ the problem is written anew; where they always do it is dropped."""
    careless = "def add_even(numbers):\n    return sum(n for n in numbers if n % 2 == 0)\n"
    solve: list[Said] = [fenced(SOLUTION), fenced(careless), fenced(SOLUTION)]
    script: dict[str, Says] = {**GOOD, "solve": solve, "disagree": same_problem}
    evolved, model, conversation = await _evolve(script, sandbox)
    assert model.asked.count("disagree") == 1
    assert conversation.round == 2
    question = next(step.question for step in conversation.steps if step.kind == "evolve-disagree")
    assert "add_even([2, 2, 4]) gives 6 to the one and 8 to the other" in question
    assert evolved[0].reference == SOLUTION
    script["solve"] = [fenced(SOLUTION), fenced(careless)] * 3
    assert await _reason(script, sandbox) == "two solutions still differ after 3 rounds"


@pytest.mark.parametrize(
    ("reply", "complaint"),
    [
        ("I can't think of any.", "no Python code block"),
        (fenced("def add_even(numbers:\n    pass"), "does not parse"),
        (fenced("def add_even(numbers):\n    return 1"), "no docstring"),
        (fenced("x = 1"), "no Python code block with a function"),
        (fenced(EVEN + "\n\n" + EVEN.replace("add_even", "two")), "one function was asked for, there are 2"),
        (fenced('def f():\n    """Return the answer to everything."""'), "plain positional parameters"),
        (fenced(SEED.prompt.replace("add_up", "sum_up")), "is the problem that you were given"),
        ('{"prompt": "def f(x):\\n    \\"\\"\\"It is', "no Python code block"),
        ('prompt = """\ndef f(x):\n[[half]\n', "no Python code block"),
        ("", "no Python code block"),
        (fenced(f'def f(x={"-" * 1800}1):\n    """Return the sum of it all."""'), "nested too deep"),
    ],
)
async def test_broken_problem(sandbox: Sandbox, reply: str, complaint: str) -> None:
    """A reply that is no problem goes back with the complaint; a fixed one is used, a broken one dropped."""
    evolved, model, _ = await _evolve({**GOOD, "transform": reply, "fix": fenced(EVEN)}, sandbox)
    assert evolved[0].draft.entry_point == "add_even"
    assert model.asked[:2] == ["transform", "fix"]
    reason = await _reason({**GOOD, "transform": reply, "fix": reply}, sandbox)
    assert reason.startswith("no usable problem came: ")
    assert complaint in reason


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("raise ValueError('no')", "works on 0 of 5 inputs; on ([1, 2],): raised: ValueError: no"),
        pytest.param("while True: pass", "endless: used more than 2.0 s of CPU time", marks=pytest.mark.slow),
        ("import os; os._exit(3)", ": died: "),
        ("return iter(numbers)", "works on 0 of 5 inputs"),
        ("return float('nan')", "its solution gives nan on each of "),
        ("return 10 ** 5000", "works on 0 of 5 inputs; on ([1, 2],): <what is too large to be written>"),
        ("import random; return random.random()", "gives other values when it runs again in another order"),
        ("return 'a' * 10 ** 10", "MemoryError"),
        ("import os; os.kill(os.getppid(), 15)", "raised: PermissionError"),
        ("import os; os.kill(os.getppid(), 9)", "died: killed by signal 31"),
        (f"return {'-' * 1800}1", "no solution to its own problem"),
    ],
)
async def test_broken_references(sandbox: Sandbox, body: str, reason: str) -> None:
    """A reference that crashes, never ends, exits, gives no plain value, a constant or chance is none."""
    script = {**GOOD, "solve": fenced(f"def add_even(numbers):\n    {body}\n")}
    assert reason in await _reason(script, sandbox)


async def test_problem_equal_to_its_seed(sandbox: Sandbox) -> None:
    """A problem in new words that the seed's reference solves is dropped."""
    new_words = EVEN.replace(
        "the even numbers only, counting each of them once", "whatever stands in the list"
    )
    script = {
        **GOOD,
        "transform": fenced(new_words),
        "solve": fenced("def add_even(numbers):\n    return sum(numbers)\n"),
    }
    reason = await _reason(script, sandbox)
    assert reason == "the reference of its seed core/seeds/add-up solves it on all inputs"


async def test_disputed_inputs_are_kept_out(sandbox: Sandbox) -> None:
    """Inputs on which the solutions differ after all are no tests; the reviewer sees them."""
    nearly = (
        "def add_even(numbers):\n    return sum(n for n in set(numbers) if n % 2 == 0) + (len(numbers) > 3)\n"
    )
    evolved, _, _ = await _evolve({**GOOD, "solve": [fenced(SOLUTION), fenced(nearly)]}, sandbox)
    (written,) = evolved
    assert written.disputed
    assert "([8, 9, 8, 6],)" not in written.inputs


async def test_combine(sandbox: Sandbox) -> None:
    """Combine shows both seeds, and neither may solve the result."""
    evolved, _, conversation = await _evolve(GOOD, sandbox, "combine", (SEED, OTHER))
    assert SEED.prompt.strip() in conversation.steps[0].question
    assert OTHER.prompt.strip() in conversation.steps[0].question
    assert evolved


async def test_tool_use(sandbox: Sandbox) -> None:
    """tool_use keeps complete helpers in front of the main function."""
    helper = 'def is_even(n: int) -> bool:\n    """Return whether n is even."""\n    return n % 2 == 0\n'
    with_helper = f"{helper}\n\n{SOLUTION.replace('n % 2 == 0', 'is_even(n)')}"
    script = {**GOOD, "transform": fenced(f"{helper}\n\n{EVEN}"), "solve": fenced(with_helper)}
    evolved, _, _ = await _evolve(script, sandbox, "tool_use")
    (written,) = evolved
    assert written.draft.helpers == helper.rstrip()
    assert written.draft.prompt.startswith(written.draft.helpers)
    reason = await _reason({**GOOD, "fix": fenced(EVEN)}, sandbox, transformation="tool_use")
    assert "no helper function" in reason


VERBOSE = '''def add_up(numbers: list[int]) -> int:
    """You are given a list of whole numbers. Go through all of them and return what they add up to.

    >>> add_up([40, 2])
    42
    """
'''


async def test_reworded(sandbox: Sandbox) -> None:
    """A rewording keeps the seed's signature, examples, reference and inputs; a solution of it must agree."""
    script: dict[str, Says] = {"transform": fenced(VERBOSE), "solve": fenced(SEED.reference)}
    evolved, _, _ = await _evolve(script, sandbox, "verbose")
    (written,) = evolved
    assert written.reference == SEED.reference
    assert written.inputs == SEED.inputs
    assert ">>> add_up([1, 2])\n    3\n" in written.draft.prompt
    assert "[40, 2]" not in written.draft.prompt
    assert "Go through all of them" in written.draft.prompt


async def test_rewording_that_changes_the_meaning(sandbox: Sandbox) -> None:
    """Words from which another function is written are fixed, and dropped where that does not help."""
    wrong = fenced("def add_up(numbers):\n    return len(numbers)\n")
    script: dict[str, Says] = {
        "transform": fenced(VERBOSE),
        "solve": [wrong, fenced(SEED.reference)],
        "fix": fenced(VERBOSE.replace("Go through", "Walk through")),
    }
    evolved, model, conversation = await _evolve(script, sandbox, "concise")
    assert "Walk through" in evolved[0].draft.prompt
    assert model.asked.count("fix") == 1
    assert any(
        "gives 2 for ([1, 2],), where the original gives 3" in step.question for step in conversation.steps
    )
    assert "still differ" in await _reason({**script, "solve": wrong}, sandbox, transformation="concise")


async def test_what_is_not_reworded(sandbox: Sandbox) -> None:
    """A seed that only its own checker can judge, for a line holds none; and words for another function."""
    seed = replace(SEED, comparison=Comparison("checker", checker="humaneval-32"))
    reason = await _reason({}, sandbox, transformation="concise", parents=(seed,))
    assert "several right answers" in reason
    script: dict[str, Says] = {"transform": fenced(EVEN), "fix": fenced(EVEN)}
    assert "must be called add_up" in await _reason(script, sandbox, transformation="verbose")


HALVES = '''def head(numbers: list[int]) -> int:
    """Return the first of the numbers, or 0 without any."""


def tail(numbers: list[int]) -> list[int]:
    """Return all but the first of the numbers."""
'''


def _half(question: str) -> str:
    if "head" in question:
        return fenced("def head(numbers):\n    return numbers[0] if numbers else 0\n")
    return fenced("def tail(numbers):\n    return numbers[1:]\n")


def _half_inputs(question: str) -> str:
    name = "head" if "def head" in question else "tail"
    return "\n".join(f"{name}({value})" for value in ("[]", "[1]", "[1, 2]", "[3, 1, 2]"))


JOIN = "def add_up(numbers):\n    return head(numbers) + (add_up(tail(numbers)) if numbers else 0)\n"


async def test_decompose(sandbox: Sandbox) -> None:
    """A seed is split into two problems, and a program that calls both must solve it."""
    script: dict[str, Says] = {
        "transform": fenced(HALVES),
        "solve": _half,
        "inputs": _half_inputs,
        "examples": same_problem,
        "join": [fenced(SEED.reference), fenced(JOIN)],
    }
    evolved, model, _ = await _evolve(script, sandbox, "decompose")
    assert [written.draft.entry_point for written in evolved] == ["head", "tail"]
    assert model.asked.count("join") == 2
    reason = await _reason({**script, "join": fenced(SEED.reference)}, sandbox, transformation="decompose")
    assert reason.startswith("no program that calls both halves")
    again = fenced(SEED.prompt + "\n\n" + EVEN)  # a half that is the seed again is no half
    reason = await _reason({"transform": again, "fix": again}, sandbox, transformation="decompose")
    assert "problem that you were given" in reason


@pytest.mark.parametrize(
    ("line", "arity", "expected"),
    [
        ("f(1, 'a')", 2, "(1, 'a')"),
        (">>> f([1, 2])", 1, "([1, 2],)"),
        ("- f(3)", 1, "(3,)"),
        ("f(1) == 2", 1, "(1,)"),
        ("(1, 2)", 2, "(1, 2)"),
        ("[1, 2]", 1, "([1, 2],)"),
        ("f(1)", 2, None),
        ("f(x=1)", 1, None),
        ("f(*[1])", 1, None),
        ("g(1)", 1, None),
        ("Here are some calls", 1, None),
        ("f(" + "1," * 3000 + ")", 1, None),
        ("f(" + "-" * 1800 + "1)", 1, None),
        ("f(" + "[" * 150 + "]" * 150 + ")", 1, None),
        ("f(1); f(2)", 1, None),
        ("f = 1", 1, None),
    ],
)
def test_read_inputs(line: str, arity: int, expected: str | None) -> None:
    """A call of the function, or a bare argument tuple, becomes an argument tuple; the rest is left out."""
    assert read_inputs(line, "f", arity) == ([] if expected is None else [expected])


def test_read_inputs_from_a_block() -> None:
    """Calls are read from the code block, each once, whatever stands around it."""
    assert read_inputs("Sure: f(9)\n```\nf(1)\nf(1)\nf(2)\n```", "f", 1) == ["(1,)", "(2,)"]
