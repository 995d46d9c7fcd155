"""A scripted model that knows problems: right, wrong and silent by a fixed rule of the question."""

import hashlib
import re
from collections.abc import Mapping
from functools import cache

from support.official_data import official_store
from support.server_replies import Asked
from triathlon_runner.datasets import Problem, core, official
from triathlon_runner.datasets.rows import EVOEVAL_SETS

RIGHT, WRONG = 0, 8
"""Rolls of the dice by which a program is said."""


@cache
def programs() -> dict[str, str]:
    """The references of our problems by the name of their function; the first set that has it keeps it."""
    sets = [core.problems(name) for name in core.SETS]
    return {problem.entry_point: problem.reference for problems in sets[::-1] for problem in problems[::-1]}


@cache
def official_programs() -> dict[str, str]:
    """Those of the official data; the last set that has a name keeps it."""
    store = official_store()
    problems = [*official.mbpp_plus(store), *official.humaneval_plus(store)]
    problems += [problem for name in EVOEVAL_SETS for problem in official.evoeval(store, name=name)]
    return {problem.entry_point: problem.reference for problem in problems if isinstance(problem, Problem)}


def name_in(text: str, known: Mapping[str, str]) -> str:
    """The last known function that a text names; empty where there is none."""
    return next((name for name in reversed(re.findall(r"\w+", text)) if name in known), "")


def said(question: str, known: Mapping[str, str], roll: int) -> str:
    """An answer about a run, a sentence, or by the roll of 0 to 9 a right program, a wrong one or prose."""
    if "[ANSWER]" in question:
        return f"[ANSWER]{'YES' if dice(question, 2) else 'Nil'}[/ANSWER]"
    name = name_in(question, known)
    if not name:
        return "I do not know that function."
    if re.search("sentence|summar", question.lower()):
        return f"Write a function that does what {name} does, case {dice(question, 1000)}."
    if roll > WRONG:
        return "I would rather not write a program for this."
    program = known[name] if roll < 7 else f"def {name}(*arguments):\n    return 'wrong'"
    return f"Here it is:\n```python\n{program}\n```"


def dice(text: str, sides: int) -> int:
    """A number from 0 to `sides` - 1 that depends on the text alone."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4]) % sides


def answer(asked: Asked) -> str:
    """What the model says that knows our problems; the same question, the same answer."""
    return said(asked.prompt, programs(), dice(asked.prompt, 10))


def official_answer(asked: Asked) -> str:
    """Of the official data, with answers about runs of every kind."""
    if "[ANSWER]" in asked.prompt:
        answers = ("YES", "Nil", "-1", "1; int", "assert True")
        return f"[ANSWER]\n{answers[dice(asked.prompt, 5)]}\n[/ANSWER]"
    return said(asked.prompt, official_programs(), dice(asked.prompt, 10))


def reference(asked: Asked, share: float) -> str:
    """Says the reference for this share of our problems, and a wrong program for the others."""
    name = name_in(asked.prompt, programs())
    return said(asked.prompt, programs(), RIGHT if dice(name, 1000) < 1000 * share else WRONG)
