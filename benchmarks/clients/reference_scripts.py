"""What a model says that solves official problems as their own references do: functions of the prompt.

The data files lie in the folder that `TRIATHLON_DATA` names.
"""

import os
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from triathlon_runner.catalogue import BUILT_IN
from triathlon_runner.datasets import DataStore, FunctionProblem, TestedProblem
from triathlon_runner.suites import Programs

_LONG = 10_000
"""Items or characters of a result from which on `wrong_where_long` is wrong."""
_WRONG_WHERE_LONG = """

def _wrong_where_long(function):
    def call(*arguments):
        result = function(*arguments)
        return [result] if hasattr(result, "__len__") and len(result) > LONG else result
    return call

NAME = _wrong_where_long(NAME)
"""


def right(prompt: str, number: int) -> str:
    """The reference of the problem that is asked for, or a sentence that leads to it again."""
    del number
    named = re.search(r"(# )?task (\S+) of (\w+)", prompt)
    if named is not None and named[1]:  # a comment in its own program, of which a summary is asked for
        return f"Write a Python function to solve task {named[2]} of {named[3]}."
    problem = _of(prompt) if named is None else _by_name()[named[2], named[3]]
    return f"```python\n{problem.reference}\n# task {problem.task_id} of {problem.entry_point}\n```"


def wrong_where_long(prompt: str, number: int) -> str:
    """As `right` for half of the requests; for the others wrong wherever the result is long."""
    problem, reply = _of(prompt), right(prompt, number)
    if number % 2 or isinstance(problem, TestedProblem):
        return reply
    wrong = _WRONG_WHERE_LONG.replace("NAME", problem.entry_point).replace("LONG", str(_LONG))
    return reply.removesuffix("```") + wrong + "```"


def _of(prompt: str) -> FunctionProblem:
    """The problem whose text stands in a prompt; of several the longest: some texts begin as others do."""
    fitting = [problem for problem in _problems() if problem.prompt.strip() in prompt]
    return max(fitting, key=lambda problem: len(problem.prompt))


@cache
def _by_name() -> dict[tuple[str, str], FunctionProblem]:
    return {(problem.task_id, problem.entry_point): problem for problem in _problems()}


@cache
def _problems() -> tuple[FunctionProblem, ...]:
    return tuple(_of_all_suites())


def _of_all_suites() -> Iterator[FunctionProblem]:
    store = DataStore(cache=Path(), folder=Path(os.environ["TRIATHLON_DATA"]), fetch=False)
    for entry in BUILT_IN.entries():
        if entry.variant_of is None and entry.discipline == "evolved" and "combine_naive" not in entry.id:
            suite = entry.build(store)
            assert isinstance(suite, Programs)
            yield from suite.functions()
