"""One problem in the form that every discipline understands, and its inputs as source text."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

_MAY_BE_NON_FINITE: Final = re.compile(r"inf|nan")
"""Where `repr` may not evaluate to the value; elsewhere it is much faster."""

Oracle = Literal[
    "exact",
    "close",  # floats within `tolerance`, absolutely or relatively, at any depth
    "typed",  # as close, and int, bool, float and kinds of collection are told apart (EvoEval's comparison)
    "set",  # both sides as sets (EvalPlus' set comparison)
    "not-none",  # only whether the result is None (EvalPlus' not-None tasks)
    "checker",  # a rule of this one problem, which has several right answers
]


@dataclass(frozen=True, slots=True)
class Comparison:
    """How an output is compared with the reference's, always outside the untrusted process."""

    oracle: Oracle = "exact"
    tolerance: float = 0.0
    checker: str = ""
    """The name of that rule, such as `humaneval-32`."""


@dataclass(frozen=True, slots=True)
class Problem:
    """A function to write, with its reference and inputs."""

    task_id: str
    """Unique within its data set: `HumanEval/0`, `seeds/word-ends`."""
    entry_point: str
    prompt: str
    """Signature and docstring (and imports or helpers): a program to be completed."""
    reference: str
    """A complete program that defines `entry_point`."""
    inputs: tuple[str, ...]
    """Arguments of each call as Python source of a tuple, `(1, 'a')`; evaluated in the sandbox only."""
    comparison: Comparison = Comparison()
    base_inputs: int | None = None
    """Number of base inputs, which come first; the others are the data set's additional ones."""
    assertion: str = ""
    """One example that fixes name and signature: `assert f(1) == 2` (the loop carries it along)."""
    libraries: frozenset[str] = frozenset()
    """What the program needs beside the standard library, such as numpy."""
    parents: tuple[str, ...] = ()
    """task_ids, with their data set, of the problems that this one was evolved from."""
    level: int | None = None
    topics: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TestedProblem:
    """A function to write whose tests are code: assertions, or a `check(candidate)` that raises."""

    __test__ = False  # no test class of pytest's

    task_id: str
    entry_point: str
    prompt: str
    tests: str
    reference: str = ""
    """A complete program that passes, where the file has one."""
    assertion: str = ""
    """One example that fixes name and signature, as a `Problem` has it."""
    parents: tuple[str, ...] = ()
    """task_ids, with their data set, of the problems that this one was evolved from."""
    level: int | None = None


FunctionProblem = Problem | TestedProblem
"""A function to write, however programs for it are graded."""


@dataclass(frozen=True, slots=True)
class ClassProblem:
    """A class with unittest tests: a program whose run-time behaviour can be asked about."""

    task_id: str
    class_name: str
    reference: str
    """A complete program that defines the class."""
    test: str
    """Source of a module of `unittest.TestCase` classes; it sees the program's names."""
    libraries: frozenset[str] = frozenset()
    level: int | None = None
    topics: tuple[str, ...] = ()


def arguments_source(arguments: Sequence[Any]) -> str:
    """The source of a tuple that holds the arguments of one call: JSON's values, tuples, complex."""
    text = repr(tuple(arguments))
    return _source(tuple(arguments)) if _MAY_BE_NON_FINITE.search(text) else text


def _source(value: Any) -> str:
    """As `repr`, but evaluates to the value where a float in it is infinite or no number."""
    match value:
        case float() if not math.isfinite(value):
            return f"float({repr(value)!r})"
        case list():
            return f"[{', '.join(map(_source, value))}]"
        case tuple():
            inside = ", ".join(map(_source, value))
            return f"({inside},)" if len(value) == 1 else f"({inside})"
        case dict():
            pairs = (f"{_source(key)}: {_source(item)}" for key, item in value.items())
            return f"{{{', '.join(pairs)}}}"
        case _:
            return repr(value)
