"""Official sets of functions to write: HumanEval, EvalPlus' sets, and those that were evolved from them.

EvoEval v0.1.0 has seven sets; the others are HumanEval Pro and MBPP Pro.
"""

import ast
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import lru_cache
from typing import Any, Final

from triathlon_runner.datasets._problem import Comparison, Problem, TestedProblem, arguments_source
from triathlon_runner.datasets._store import DataStore
from triathlon_runner.datasets.official._files import (
    EVOEVAL,
    HUMANEVAL,
    HUMANEVAL_PLUS,
    HUMANEVAL_PRO,
    MBPP_PLUS,
    MBPP_PRO,
    EvoEvalSet,
    Row,
    read_rows,
)
from triathlon_runner.syntax import import_statements, is_literal, parse, third_party, top_functions

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
        assertion=example_assertion(row["task_id"], row["prompt"], row.get("test", ""), row["entry_point"]),
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
    inputs: Iterable[list[Any]] = (*row["base_input"], *(row.get("plus_input") or ()))
    convert = _CONVERT.get(row["task_id"], list)
    return tuple(arguments_source(convert(arguments)) for arguments in inputs)


def _comparison(row: Row) -> Comparison:
    tolerance = float(row.get("atol", 0)) or FLOAT_TOLERANCE
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


_CHECKED: Final[dict[EvoEvalSet, frozenset[int]]] = {
    "difficult": frozenset({10, 32}),
    "creative": frozenset({26, 30, 69}),
    "subtle": frozenset({32}),
}
"""Problems with more than one right answer; the set's own check of each stands among the named oracles."""


def evoeval(store: DataStore, name: EvoEvalSet) -> tuple[Problem, ...]:
    """One EvoEval set: 100 problems, verbose and concise 164. `EvoEval/N` is unique only within a set."""
    rows = read_rows(store, EVOEVAL[name])
    if name in ("verbose", "concise"):
        return tuple(graded_typed(humaneval_problem(row, parents=(row["task_id"],))) for row in rows)
    return tuple(evoeval_problem(row, name) for row in rows)


def evoeval_main_only(store: DataStore) -> tuple[Problem, ...]:
    """The tool_use problems without their helper functions but with their imports, which signatures name."""
    rows = read_rows(store, EVOEVAL["tool_use"])
    return tuple(
        replace(evoeval_problem(row, "tool_use"), prompt=_imports(row["helpers"]) + row["main"])
        for row in rows
    )


def evoeval_problem(row: Row, name: EvoEvalSet) -> Problem:
    reference = f"{row['prompt']}\n{row['canonical_solution']}"
    names = ("p1", "p2") if name == "combine" else ("parent",)
    return Problem(
        task_id=row["task_id"],
        entry_point=row["entry_point"],
        prompt=row["prompt"],
        reference=reference,
        inputs=tuple(_tuple_source(arguments) for arguments in row["inputs"]),
        comparison=_evoeval_comparison(row["task_id"], name),
        libraries=third_party(reference),
        parents=tuple(row.get(parent, "") for parent in names),
    )


def evolved_problem(row: Row) -> Problem:
    """A line that `triathlon evolve` wrote: EvoEval's form, with the reference as a whole program."""
    return Problem(
        task_id=row["task_id"],
        entry_point=row["entry_point"],
        prompt=row["prompt"],
        reference=row["reference"],
        inputs=tuple(map(_tuple_source, row["inputs"])),
        comparison=Comparison("typed", tolerance=FLOAT_TOLERANCE),
        libraries=third_party(row["reference"]),
    )


def _evoeval_comparison(task_id: str, name: EvoEvalSet) -> Comparison:
    number = task_id.rpartition("/")[2]
    if number in map(str, _CHECKED.get(name, ())):
        return Comparison("checker", tolerance=FLOAT_TOLERANCE, checker=f"evoeval-{name}-{number}")
    return Comparison("typed", tolerance=FLOAT_TOLERANCE)


def graded_typed(problem: Problem) -> Problem:
    """The problem with EvoEval's comparison in place of EvalPlus'; its board grades HumanEval so too."""
    if problem.comparison.oracle != "close":
        return problem
    return replace(problem, comparison=Comparison("typed", tolerance=FLOAT_TOLERANCE))


def _tuple_source(arguments: str) -> str:
    """EvoEval writes arguments as they stand in a call, `[1, 2], 'a'`."""
    inside = arguments.strip().rstrip(",")
    return f"({inside},)" if inside else "()"


def _imports(helpers: str) -> str:
    lines = import_statements(helpers)
    return "".join(f"{line}\n" for line in lines) + ("\n\n" if lines else "")


def humaneval_pro(store: DataStore) -> tuple[TestedProblem, ...]:
    """HumanEval Pro's 164 problems; the parent of number n is `HumanEval/n`."""
    rows = read_rows(store, HUMANEVAL_PRO)
    return tuple(_pro_problem(row, "HumanEvalPro", f"HumanEval/{row['id']}") for row in rows)


def mbpp_pro(store: DataStore) -> tuple[TestedProblem, ...]:
    """MBPP Pro's 378 problems; the parent of number n is the n-th problem of MBPP+ v0.2.0, counted from 0."""
    parents = [row["task_id"] for row in read_rows(store, MBPP_PLUS)]
    rows = read_rows(store, MBPP_PRO)
    return tuple(_pro_problem(row, "MbppPro", parents[row["id"]]) for row in rows)


def _pro_problem(row: Row, data_set: str, parent: str) -> TestedProblem:
    base = f"{row['raw_problem'].rstrip()}\n{row['raw_solution']}"
    reference = f"{base}\n\n{row['new_problem'].rstrip()}\n{row['new_solution']}\n"
    return TestedProblem(
        task_id=f"{data_set}/{row['id']}",
        entry_point=tested_function(reference, row["test_code"]),
        prompt=f"{row['raw_problem'].strip()}\n\n{row['new_problem'].strip()}\n",
        tests=row["test_code"],
        reference=reference,
        parents=(parent,),
    )


_FROM_REFERENCE: Final = {
    # Their tests draw random strings and hold no example; both functions turn groups of letters or shift
    # them by 5, so the outputs can be written down.
    "HumanEval/38": "assert decode_cyclic('bcaefdhigjk') == 'abcdefghijk'",
    "HumanEval/50": "assert decode_shift('fghij') == 'abcde'",
}


def example_assertion(task_id: str, prompt: str, test: str, entry_point: str) -> str:
    """The prompt's first doctest example as an assertion, else the first plain one of the data set's test."""
    if task_id in _FROM_REFERENCE:
        return _FROM_REFERENCE[task_id]
    return next(_from_doctests(prompt, entry_point), "") or next(_from_test(test, entry_point), "")


def _from_doctests(prompt: str, entry_point: str) -> Iterator[str]:
    for call, want in _doctests(prompt):
        if _calls(call, entry_point) and want and is_literal(want):
            yield f"assert {ast.unparse(ast.parse(call, mode='eval'))} == {want}"


def _doctests(prompt: str) -> Iterator[tuple[str, str]]:
    """Examples as (expression, expected text). Malformed ones are common in prompts, so line by line."""
    lines = [line.strip() for line in prompt.splitlines()]
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        if line.startswith(">>>"):
            yield line.removeprefix(">>>").strip(), following.rstrip('"').strip()


def _from_test(test: str, entry_point: str) -> Iterator[str]:
    """Assertions `candidate(...) == literal` of the test's check function, in order."""
    for node in ast.walk(ast.parse(test)):
        if not (isinstance(node, ast.Assert) and isinstance(node.test, ast.Compare)):
            continue
        call, wanted = node.test.left, node.test.comparators[0]
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "candidate":
            arguments = [ast.unparse(argument) for argument in call.args]
            if all(map(is_literal, [*arguments, ast.unparse(wanted)])):
                operator = "is" if isinstance(node.test.ops[0], ast.Is) else "=="
                yield f"assert {entry_point}({', '.join(arguments)}) {operator} {ast.unparse(wanted)}"


def named_calls(tree: ast.AST) -> Iterator[tuple[str, ast.Call]]:
    """Yields every call of a plain name inside, with the name."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            yield node.func.id, node


def _calls(source: str, entry_point: str) -> bool:
    try:
        tree = ast.parse(source, mode="eval")
    except SyntaxError:
        return False
    return entry_point in {name for name, _ in named_calls(tree)}


def tested_function(program: str, tests: str) -> str:
    """The function of the program that the tests call: no field of the file names it.

    Raises:
        ValueError: they call none of its functions.
    """
    defined = {function.name for function in top_functions(program)}
    for name, _ in named_calls(parse(tests)):
        if name in defined:
            return name
    raise ValueError(f"the tests call none of the functions {', '.join(sorted(defined)) or '(it has none)'}")
