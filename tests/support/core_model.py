"""A scripted model that knows our own problems: right, wrong and silent by a fixed rule of the question."""

import hashlib
import re
from functools import cache

from support.server_replies import Asked
from triathlon_runner.datasets import Problem, core

SETS = ("seeds", "difficult", "creative", "subtle", "combine", "tool_use", "verbose", "concise", "decompose")


@cache
def problems() -> dict[str, Problem]:
    """Our problems by the name of their function; the first set that has a name keeps it."""
    known: dict[str, Problem] = {}
    for set_name in SETS:
        for problem in core.problems(set_name):
            known.setdefault(problem.entry_point, problem)
    return known


def answer(asked: Asked) -> str:
    """Says the reference, a wrong program, prose or a sentence; the same question, the same answer."""
    question = asked.prompt
    if "[ANSWER]" in question:
        return f"[ANSWER]{'YES' if dice(question, 2) else 'Nil'}[/ANSWER]"
    names = [name for name in re.findall(r"\w+", question) if name in problems()]
    if not names:
        return "I do not know that function."
    problem = problems()[names[-1]]
    if "one sentence" in question.lower() or "sentence" in question.lower():
        return f"Write a function that does what {problem.entry_point} does, case {dice(question, 1000)}."
    roll = dice(question, 10)
    if roll < 7:
        return f"Here it is:\n```python\n{problem.reference}\n```"
    if roll < 9:
        return f"```python\ndef {problem.entry_point}(*arguments):\n    return 'wrong'\n```"
    return "I would rather not write a program for this."


def dice(text: str, sides: int) -> int:
    """A number from 0 to `sides` - 1 that depends on the text alone."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4]) % sides


def reference(asked: Asked, share: float) -> str:
    """Says the reference for this share of our problems, and a wrong program for the others."""
    names = [name for name in re.findall(r"\w+", asked.prompt) if name in problems()]
    if not names:
        return "I do not know that function."
    problem = problems()[names[-1]]
    if dice(problem.task_id, 1000) < 1000 * share:
        return f"```python\n{problem.reference}\n```"
    return f"```python\ndef {problem.entry_point}(*arguments):\n    return 'wrong'\n```"
