"""One problem in the form that every discipline understands, and its inputs as source text."""

import math
import re
import sys
from dataclasses import dataclass
from typing import Any, Final, Literal

_NEEDS_VALUE_SOURCE: Final = re.compile(r"inf|nan|\{")
"""Where `repr` may not evaluate to the value, or has no fixed order (sets); elsewhere it is much faster."""

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


AnyProblem = Problem | TestedProblem | ClassProblem
"""What a file in a known format holds."""


def arguments_source(arguments: list[Any] | tuple[Any, ...]) -> str:
    """The source of a tuple that holds the arguments of one call, plain data."""
    try:
        text = repr(tuple(arguments))
    except ValueError:  # an int of more digits than Python writes
        return value_source(tuple(arguments))
    return value_source(tuple(arguments)) if _NEEDS_VALUE_SOURCE.search(text) else text


def value_source(value: Any) -> str:
    """Source text of plain data; unlike `repr` also of inf and nan, and of sets in a fixed order."""
    match value:
        case None | bool() | str():
            text = repr(value)
        case int():  # beyond the interpreter's limit on digits neither repr nor the reader accepts decimal
            limit = sys.get_int_max_str_digits()
            text = hex(value) if limit and value.bit_length() > 3 * limit else repr(value)
        case float():
            text = repr(value) if math.isfinite(value) else f"float({repr(value)!r})"
        case complex():
            text = f"complex({value_source(value.real)}, {value_source(value.imag)})"
        case list() | tuple():
            inside = ", ".join(map(value_source, value))
            comma = "," if len(value) == 1 else ""
            text = f"[{inside}]" if isinstance(value, list) else f"({inside}{comma})"
        case set():  # sorted by text: the order of a set of strings differs from process to process
            text = f"{{{', '.join(sorted(map(value_source, value)))}}}" if value else "set()"
        case dict():
            pairs = (f"{value_source(key)}: {value_source(item)}" for key, item in value.items())
            text = f"{{{', '.join(pairs)}}}"
        case _:
            raise TypeError(f"no source text for a {type(value).__name__}")
    return text
