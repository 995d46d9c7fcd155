"""A scripted model that knows our own problems: right, wrong and silent by a fixed rule of the question."""

import hashlib
import re
from functools import cache

from support.server_replies import Asked
from triathlon_runner.datasets import Problem, core


@cache
def problems() -> dict[str, Problem]:
    """Our problems by the name of their function; the first set that has a name keeps it."""
    sets = [core.problems(name) for name in core.SETS]
    return {problem.entry_point: problem for problems in reversed(sets) for problem in reversed(problems)}


def problem_in(text: str) -> Problem | None:
    """The problem that a text is about: that of the last function of ours that it names."""
    names = [name for name in re.findall(r"\w+", text) if name in problems()]
    return problems()[names[-1]] if names else None


def answer(asked: Asked) -> str:
    """Says the reference, a wrong program, prose or a sentence; the same question, the same answer."""
    question = asked.prompt
    if "[ANSWER]" in question:
        return f"[ANSWER]{'YES' if dice(question, 2) else 'Nil'}[/ANSWER]"
    problem = problem_in(question)
    if problem is None:
        return "I do not know that function."
    if "sentence" in question.lower():
        return f"Write a function that does what {problem.entry_point} does, case {dice(question, 1000)}."
    roll = dice(question, 10)
    if roll < 7:
        return f"Here it is:\n```python\n{problem.reference}\n```"
    return wrong(problem) if roll < 9 else "I would rather not write a program for this."


def dice(text: str, sides: int) -> int:
    """A number from 0 to `sides` - 1 that depends on the text alone."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4]) % sides


def reference(asked: Asked, share: float) -> str:
    """Says the reference for this share of our problems, and a wrong program for the others."""
    problem = problem_in(asked.prompt)
    if problem is None:
        return "I do not know that function."
    is_right = dice(problem.task_id, 1000) < 1000 * share
    return f"```python\n{problem.reference}\n```" if is_right else wrong(problem)


def wrong(problem: Problem) -> str:
    """A reply with a program that always returns the same text."""
    return f"```python\ndef {problem.entry_point}(*arguments):\n    return 'wrong'\n```"
