"""A scripted model for the official data: right, wrong and silent by a fixed rule of the question.

It reads the data itself, so that no text of a data set stands here.
"""

import re
from functools import cache

from support.core_model import dice
from support.official_data import official_store
from support.server_replies import Asked
from triathlon_runner.datasets import Problem, official
from triathlon_runner.datasets.rows import EVOEVAL_SETS


@cache
def references() -> dict[str, str]:
    """Right programs by the name of their function; the last set that has a name keeps it."""
    store = official_store()
    problems = [*official.mbpp_plus(store), *official.humaneval_plus(store)]
    problems += [problem for name in EVOEVAL_SETS for problem in official.evoeval(store, name=name)]
    return {problem.entry_point: problem.reference for problem in problems if isinstance(problem, Problem)}


def answer(asked: Asked) -> str:
    """The reference, a wrong program, a sentence, or an answer about a run."""
    question = asked.prompt
    if "[ANSWER]" in question:
        said = ("YES", "Nil", "-1", "1; int", "assert True")[dice(question, 5)]
        return f"[ANSWER]\n{said}\n[/ANSWER]"
    names = [name for name in re.findall(r"\w+", question) if name in references()]
    if not names or "summar" in question.lower():
        return (
            f"Write a python function to do what {names[-1] if names else 'it'} does, {dice(question, 99)}."
        )
    program = references()[names[-1]]
    wrong = f"def {names[-1]}(*_):\n    return 1"
    return f"```python\n{program if dice(question, 10) < 7 else wrong}\n```"
