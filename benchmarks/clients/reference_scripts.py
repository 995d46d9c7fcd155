"""What a model says that solves official problems as their own references do, half of the time wrongly.

The data files lie in the folder that `TRIATHLON_DATA` names.
"""

import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from triathlon_runner.catalogue import BUILT_IN
from triathlon_runner.datasets import DataStore, FunctionProblem, TestedProblem
from triathlon_runner.suites import Programs

_LONG = 10_000
"""Items or characters of a result from which on every other reply is wrong."""
_WRONG_WHERE_LONG = """

def _wrong_where_long(function):
    def call(*arguments):
        result = function(*arguments)
        return [result] if hasattr(result, "__len__") and len(result) > LONG else result
    return call

NAME = _wrong_where_long(NAME)
"""


def wrong_where_long(prompt: str, number: int) -> str:
    """The reference for half of the requests; for the others wrong wherever the result is long."""
    # Of the problems that stand in the prompt the longest: some texts begin as others do.
    fitting = [problem for problem in _problems() if problem.prompt.strip() in prompt]
    problem = max(fitting, key=lambda problem: len(problem.prompt))
    wrong = _WRONG_WHERE_LONG.replace("NAME", problem.entry_point).replace("LONG", str(_LONG))
    is_right = number % 2 or isinstance(problem, TestedProblem)
    return f"```python\n{problem.reference}\n{'' if is_right else wrong}```"


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
