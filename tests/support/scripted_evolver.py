"""A model that evolves problems from a script: it knows by which prompt it is asked."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from support.case_files import sections
from triathlon_runner.datasets import Problem
from triathlon_runner.llm import Answer, Chat, Completion, EndpointError, Sampling
from triathlon_runner.records import Finish, Reply, Usage

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


@dataclass
class ScriptedEvolver:
    """Says the next reply of its kind; the last one again once they are used up."""

    script: Mapping[str, Says]
    id: str = "scripted-evolver"
    kind: Literal["instruct", "base"] = "instruct"
    fails: bool = False
    finish: Finish = Finish.STOP
    questions: list[str] = field(default_factory=list)

    @property
    def asked(self) -> list[str]:
        """Kinds of the questions, in order."""
        return list(map(kind_of, self.questions))

    async def ask(self, prompt: Chat | Completion, sampling: Sampling, *, sample: int = 0) -> Answer:
        assert isinstance(prompt, Chat)
        question = prompt.messages[-1].content
        kind = kind_of(question)
        self.questions.append(question)
        if self.fails:
            raise EndpointError("503 from the scripted evolver")
        replies = self.script[kind]
        if isinstance(replies, list):
            replies = replies[min(self.asked.count(kind), len(replies)) - 1]
        text = replies(question) if callable(replies) else replies
        usage = Usage(requests=1, input_tokens=100, output_tokens=50)
        return Answer(Reply(text=text, finish=self.finish), usage, 0.0, "scripted-1")


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
