"""Problem files are in the format of our own problems, for every kind of transformation."""

import ast
import tomllib

import pytest

from triathlon_runner.datasets import Problem
from triathlon_runner.datasets.core._schema import DecomposedFile, ProblemFile, RewordedFile
from triathlon_runner.evolved.evolve import Evolved, Job, Written
from triathlon_runner.evolved.evolve._draft import read_problem
from triathlon_runner.evolved.evolve._files import problem_text
from triathlon_runner.evolved.evolve._job import Transformation

SEED = Problem(
    "core/seeds/odd-name", "old", 'def old(x):\n    """Old one here."""\n', "", (), level=5, topics=("lists",)
)
HELPER = 'def aid(x: str) -> str:\n    """Help a little here."""\n    return x\n'
MAIN = 'def new(x: str) -> str:\n    """Say \\\\n and \\"quotes\\" at length."""\n'
REFERENCE = "def new(x):\n    return aid(x) + '\\n'\n"


def _written(prompt: str, reference: str, *, helpers: bool = False) -> Written:
    draft = read_problem(f"```python\n{prompt}\n```", helpers=helpers)
    inputs = (("model", "('a',)"), ("mutation", "('\\\\',)"))
    return Written(draft, reference, reference, inputs, mutants=1, killed=1, survivors=(), disputed=())


@pytest.mark.parametrize(("transformation", "level"), [("difficult", 5), ("subtle", 5), ("creative", 5)])
def test_whole_problem(transformation: Transformation, level: int) -> None:
    """A problem file holds prompt, reference and inputs unchanged, escapes included; levels end at 5."""
    evolved = Evolved((_written(MAIN, REFERENCE),))
    file = ProblemFile.model_validate(tomllib.loads(problem_text(Job(transformation, (SEED,)), evolved)))
    assert (file.level, file.parents, file.topics) == (level, ["odd-name"], ["lists"])
    assert file.reference.strip() == REFERENCE.strip()
    assert list(file.inputs.values()) == ["('a',)", "('\\\\',)"]
    assert compile(file.prompt, "prompt", "exec")


def test_tool_use_keeps_helpers_apart() -> None:
    """The helpers stand in the file once: neither prompt nor reference repeats them."""
    written = _written(f"{HELPER}\n\n{MAIN}", f"{HELPER}\n\n{REFERENCE}", helpers=True)
    file = ProblemFile.model_validate(
        tomllib.loads(problem_text(Job("tool_use", (SEED,)), Evolved((written,))))
    )
    assert file.helpers.strip() == HELPER.strip()
    assert "def aid" not in file.prompt
    assert "def aid" not in file.reference


def test_reworded() -> None:
    """A rewording holds the prompt only: everything else is the seed's."""
    text = problem_text(Job("verbose", (SEED,)), Evolved((_written(MAIN, REFERENCE),)))
    prompt = RewordedFile.model_validate(tomllib.loads(text)).prompt
    assert ast.dump(ast.parse(prompt)) == ast.dump(ast.parse(MAIN))


def test_decomposed() -> None:
    """A decomposed seed holds two halves and the program that joins them."""
    halves = (_written(MAIN, REFERENCE), _written(MAIN.replace("new", "other"), REFERENCE))
    text = problem_text(
        Job("decompose", (SEED,)), Evolved(halves, join="def old(x):\n    return new(other(x))\n")
    )
    file = DecomposedFile.model_validate(tomllib.loads(text))
    assert len(file.half) == 2
    assert "new(other(x))" in file.join
