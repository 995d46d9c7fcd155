"""HumanEval, HumanEval+ and MBPP+ as EvalPlus releases them, with the kinds of MBPP+'s inputs."""

import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import lru_cache
from typing import Any, Final

from triathlon_runner.datasets import Comparison, DataStore, Problem, arguments_source
from triathlon_runner.datasets.official._assertions import example_assertion
from triathlon_runner.datasets.official._catalogue import HUMANEVAL, HUMANEVAL_PLUS, MBPP_PLUS
from triathlon_runner.datasets.official._raw import Row, read_rows
from triathlon_runner.syntax import third_party

FLOAT_TOLERANCE: Final = 1e-6
"""EvalPlus and EvoEval compare floats to this where a problem names no tolerance of its own."""

_SET_TASKS: Final = frozenset(f"Mbpp/{n}" for n in (2, 7, 111, 140, 232, 579, 769))
_NOT_NONE_ENTRY_POINTS: Final = frozenset({"check_str", "text_match_three", "text_starta_endb"})
_CHECKERS: Final = {
    "Mbpp/287": "mbpp-287",
    "Mbpp/581": "mbpp-581",
    "Mbpp/558": "mbpp-558",
    "HumanEval/32": "humaneval-32",
}
_ASSERTION_LINE: Final = re.compile(r"^\s*(assert .+)$", re.MULTILINE)


def humaneval(store: DataStore) -> tuple[Problem, ...]:
    """HumanEval's 164 problems with their base inputs, in EvalPlus' form, which EvoEval's board uses."""
    return tuple(humaneval_problem({**row, "plus_input": []}) for row in read_rows(store, HUMANEVAL_PLUS))


@lru_cache(maxsize=1)  # as `mbpp_plus`
def humaneval_plus(store: DataStore) -> tuple[Problem, ...]:
    """HumanEval+ v0.1.10: 164 problems, 1,570 base and 122,683 additional inputs."""
    return tuple(humaneval_problem(row) for row in read_rows(store, HUMANEVAL_PLUS))


def humaneval_original(store: DataStore) -> tuple[Problem, ...]:
    """HumanEval with the solutions of its own release, on its base inputs in EvalPlus' form.

    EvalPlus wrote other solutions. DREval was made of these: 83 of its 85 functions are among them to the
    last statement, 2 are among EvalPlus'.
    """
    humaneval_rows = {row["task_id"]: row for row in read_rows(store, HUMANEVAL)}
    return tuple(_with_own_solution(problem, humaneval_rows[problem.task_id]) for problem in humaneval(store))


def _with_own_solution(problem: Problem, row: Row) -> Problem:
    reference = f"{row['prompt']}{row['canonical_solution']}"
    return replace(problem, prompt=row["prompt"], reference=reference, libraries=third_party(reference))


def humaneval_problem(row: Row, *, parents: tuple[str, ...] = ()) -> Problem:
    """One row in HumanEval+'s form; EvoEval's verbose and concise sets have it too."""
    reference = f"{row['prompt']}\n{row['canonical_solution']}"
    return Problem(
        task_id=row["task_id"],
        entry_point=row["entry_point"],
        prompt=row["prompt"],
        reference=reference,
        inputs=_sources(row),
        comparison=_comparison(row),
        base_inputs=len(row["base_input"]),
        assertion=example_assertion(row["task_id"], row["prompt"], row["test"], row["entry_point"]),
        libraries=third_party(reference),
        parents=parents,
    )


@lru_cache(maxsize=1)  # the variants of a suite share one copy of its problems
def mbpp_plus(store: DataStore) -> tuple[Problem, ...]:
    """MBPP+ v0.2.0: 378 problems, 1,174 base and 39,841 additional inputs."""
    return tuple(mbpp_problem(row) for row in read_rows(store, MBPP_PLUS))


def mbpp_problem(row: Row) -> Problem:
    assertion = _ASSERTION_LINE.search(row["prompt"])
    return Problem(
        task_id=row["task_id"],
        entry_point=row["entry_point"],
        prompt=row["prompt"],
        reference=row["canonical_solution"],
        inputs=_sources(row),
        comparison=_comparison(row),
        base_inputs=len(row["base_input"]),
        assertion=assertion[1].strip() if assertion is not None else "",
        libraries=third_party(row["canonical_solution"]),
    )


def _sources(row: Row) -> tuple[str, ...]:
    # A task without additional inputs has `{}` there (Mbpp/793).
    inputs: Iterable[list[Any]] = (*row["base_input"], *(row["plus_input"] or ()))
    convert = _CONVERT.get(row["task_id"], list)
    return tuple(arguments_source(convert(arguments)) for arguments in inputs)


def _comparison(row: Row) -> Comparison:
    tolerance = float(row["atol"]) or FLOAT_TOLERANCE
    if row["task_id"] in _CHECKERS:
        return Comparison("checker", tolerance=tolerance, checker=_CHECKERS[row["task_id"]])
    if row["task_id"] in _SET_TASKS:
        return Comparison("set")
    if row["entry_point"] in _NOT_NONE_ENTRY_POINTS:
        return Comparison("not-none")
    return Comparison("close", tolerance=tolerance)


# MBPP+ keeps its inputs as JSON; for some tasks the functions want tuples, sets or complex numbers. Which
# tasks and where is a property of the data set (EvalPlus' reader of MBPP+ v0.2.0 knows it, the file does not
# say it). It is written here as the shape of a task's arguments.
_Convert = Callable[[list[Any]], list[Any]]


def _deep_tuple(value: Any) -> Any:
    return tuple(map(_deep_tuple, value)) if isinstance(value, list) else value


def _tuple_if_list(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


_TASKS_OF_SHAPE: Final[tuple[tuple[_Convert, tuple[int, ...]], ...]] = (
    (
        lambda args: [tuple(arg) for arg in args],
        (
            *(2, 116, 132, 222, 261, 273, 394, 421, 424),
            *(429, 470, 560, 579, 596, 616, 630, 726, 740, 744, 809),
        ),
    ),
    (
        lambda args: [[tuple(item) for item in arg] for arg in args],
        (63, 64, 70, 94, 120, 237, 272, 299, 409, 473, 614, 780),
    ),
    (lambda args: [[tuple(item) for item in args[0]], *args[1:]], (75, 413, 753)),
    (lambda args: [args[0], tuple(args[1])], (106, 750)),
    (lambda args: [tuple(args[0]), *args[1:]], (250, 405, 446, 720, 763, 808)),
    (lambda args: [tuple(tuple(item) for item in arg) for arg in args], (259, 445)),
    (lambda args: [_deep_tuple(arg) for arg in args], (580, 615, 791)),
    (lambda args: [float(args[0]), complex(args[1])], (124,)),
    (lambda args: [complex(arg) for arg in args], (252,)),
    (lambda args: [tuple(map(_tuple_if_list, arg)) for arg in args], (278,)),
    (lambda args: [{key: tuple(item) for key, item in args[0].items()}, *args[1:]], (722,)),
)
_CONVERT: Final[dict[str, _Convert]] = {
    f"Mbpp/{number}": convert for convert, numbers in _TASKS_OF_SHAPE for number in numbers
}
