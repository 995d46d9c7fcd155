"""A model that evolves problems from a script: it knows by which prompt it is asked."""

import re
from collections.abc import Callable, Mapping
from pathlib import Path

from support.case_files import sections
from support.fake_model import FakeModel
from triathlon_runner.datasets import Problem

Said = str | Callable[[str], str]
"""What is said to a question: a text, or something that makes one of the question."""
Says = Said | list[Said]
"""What is said to the questions of one kind, one after the other."""

_KINDS: Mapping[str, str] = {
    "fix": "This cannot be used:",
    "disagree": "Two programmers solved it",
    "examples": "A solution was run.",
    "inputs": "different calls of",
    "join": "These two functions exist already",
    "transform": "Rules for the problem:",
    "solve": "finish the Python function below",
}
"""A phrase of each prompt; the first that occurs decides."""


def kind_of(question: str) -> str:
    return next(kind for kind, phrase in _KINDS.items() if phrase in question)


class ScriptedEvolver(FakeModel):
    """Says the next reply of its kind; the last one again once they are used up."""

    def __init__(self, script: Mapping[str, Says]) -> None:
        super().__init__(self._next, id="scripted-evolver")
        self._script = script

    def _next(self, question: str) -> str:
        kind = kind_of(question)
        replies = self._script[kind]
        if isinstance(replies, list):
            replies = replies[min(self.kinds.count(kind), len(replies)) - 1]
        return replies(question) if callable(replies) else replies

    @property
    def kinds(self) -> list[str]:
        """Kinds of the questions, in order."""
        return list(map(kind_of, self.texts))


def fenced(code: str) -> str:
    return f"Here it is.\n\n```python\n{code}\n```\n"


def same_problem(question: str) -> str:
    """The last block of the question again: the problem, unchanged."""
    return fenced(re.findall(r"```python\n(.*?)```", question, re.DOTALL)[0])


_TEXTS = {name: f"{text}\n" for name, text in sections(Path(__file__).with_suffix(".txt")).items()}
SEED = Problem(
    task_id="core/seeds/add-up",
    entry_point="add_up",
    prompt=_TEXTS["prompt of the seed"],
    reference="def add_up(numbers):\n    return sum(numbers)\n",
    inputs=("([1, 2],)", "([],)", "([-1],)", "([5, 5, 5],)"),
    level=2,
    topics=("lists",),
)
EVEN = _TEXTS["evolved prompt"]
SOLUTION = "def add_even(numbers):\n    return sum(n for n in set(numbers) if n % 2 == 0)\n"
INPUTS = _TEXTS["inputs"]
GOOD: Mapping[str, Says] = {
    "transform": fenced(EVEN),
    "solve": fenced(SOLUTION),
    "inputs": lambda question: "add_even([8, 9, 8, 6])" if "known already" in question else INPUTS,
    "examples": same_problem,
}
"""A script that leads to a good problem at once."""
