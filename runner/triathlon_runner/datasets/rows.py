"""Rows of data files as problems: each function reads the rows of one format."""

import ast
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final, Literal, get_args

from triathlon_runner import syntax
from triathlon_runner.datasets._problem import (
    ClassProblem,
    Comparison,
    Problem,
    TestedProblem,
    arguments_source,
)

Row = dict[str, Any]
EvoEvalSet = Literal["difficult", "creative", "subtle", "combine", "tool_use", "verbose", "concise"]
EVOEVAL_SETS: Final[tuple[EvoEvalSet, ...]] = get_args(EvoEvalSet)

FLOAT_TOLERANCE: Final = 1e-6
"""EvalPlus and EvoEval compare floats to this where a problem names no tolerance of its own."""
TYPED: Final = Comparison("typed", tolerance=FLOAT_TOLERANCE)
"""EvoEval's comparison."""

_SET_TASKS: Final = frozenset(f"Mbpp/{n}" for n in (2, 7, 111, 140, 232, 579, 769))
_NOT_NONE_ENTRY_POINTS: Final = frozenset({"check_str", "text_match_three", "text_starta_endb"})
"""Of tasks of MBPP+; a user's function may have one of these names, too."""
_CHECKERS: Final = {
    "Mbpp/287": "mbpp-287",
    "Mbpp/581": "mbpp-581",
    "Mbpp/558": "mbpp-558",
    "HumanEval/32": "humaneval-32",
}
_EVOEVAL_CHECKERS: Final = frozenset(
    {
        *("evoeval-difficult-10", "evoeval-difficult-32", "evoeval-subtle-32"),
        *("evoeval-creative-26", "evoeval-creative-30", "evoeval-creative-69"),
    }
)
"""Of EvoEval's problems with more than one right answer: set and number."""
_ASSERTION_LINE: Final = re.compile(r"^\s*(assert .+)$", re.MULTILINE)


def _problem(row: Row, reference: str, inputs: Iterable[str], comparison: Comparison, **more: Any) -> Problem:
    return Problem(
        task_id=row["task_id"],
        entry_point=row["entry_point"],
        prompt=row["prompt"],
        reference=reference,
        inputs=tuple(inputs),
        comparison=comparison,
        libraries=syntax.third_party(reference),
        **more,
    )


def humaneval_problem(row: Row, *, parents: tuple[str, ...] = ()) -> Problem:
    """One row in HumanEval+'s form; EvoEval's verbose and concise sets have it too."""
    return _problem(
        row,
        f"{row['prompt']}\n{row['canonical_solution']}",
        _evalplus_inputs(row),
        _evalplus_comparison(row),
        base_inputs=len(row["base_input"]),
        assertion=example_assertion(row["task_id"], row["prompt"], row.get("test", ""), row["entry_point"]),
        parents=parents,
    )


def mbpp_problem(row: Row) -> Problem:
    """One row in MBPP+'s form."""
    assertion = _ASSERTION_LINE.search(row["prompt"])
    return _problem(
        row,
        row["canonical_solution"],
        _evalplus_inputs(row),
        _evalplus_comparison(row),
        base_inputs=len(row["base_input"]),
        assertion=assertion[1].strip() if assertion is not None else "",
    )


def _evalplus_inputs(row: Row) -> Iterator[str]:
    # A task without additional inputs has `{}` there (Mbpp/793).
    inputs: list[Any] = [*row["base_input"], *(row.get("plus_input") or ())]
    for arguments in inputs:
        if not isinstance(arguments, list):
            raise TypeError(
                f"each call needs a list of arguments, as in [[1, 2], [3, 4]], not {arguments!r:.40}"
            )
    convert = _CONVERT.get(row["task_id"], list)
    return (arguments_source(convert(arguments)) for arguments in inputs)


def _evalplus_comparison(row: Row) -> Comparison:
    tolerance = float(row.get("atol", 0)) or FLOAT_TOLERANCE
    if row["task_id"] in _CHECKERS:
        return Comparison("checker", tolerance=tolerance, checker=_CHECKERS[row["task_id"]])
    if row["task_id"] in _SET_TASKS:
        return Comparison("set")
    if row["task_id"].startswith("Mbpp/") and row["entry_point"] in _NOT_NONE_ENTRY_POINTS:
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


def evoeval_problem(row: Row, name: EvoEvalSet) -> Problem:
    """One row of an EvoEval set, which writes arguments as they stand in a call, `[1, 2], 'a'`."""
    data_set, _, number = row["task_id"].rpartition("/")
    checker = f"evoeval-{name}-{number}"
    has_checker = data_set == "EvoEval" and checker in _EVOEVAL_CHECKERS
    return _problem(
        row,
        f"{row['prompt']}\n{row['canonical_solution']}",
        map(syntax.argument_tuple, row["inputs"]),
        Comparison("checker", tolerance=FLOAT_TOLERANCE, checker=checker) if has_checker else TYPED,
        parents=tuple(row.get(key, "") for key in (("p1", "p2") if name == "combine" else ("parent",))),
    )


def evolved_problem(row: Row) -> Problem:
    """A line that `triathlon evolve` wrote: EvoEval's form, with the reference as a whole program."""
    return _problem(row, row["reference"], map(syntax.argument_tuple, row["inputs"]), TYPED)


def class_problem(row: Row) -> ClassProblem:
    """One row in ClassEval's form."""
    reference = "\n".join([*row.get("import_statement", ()), row["solution_code"]])
    libraries = syntax.third_party(reference, row["test"])
    return ClassProblem(row["task_id"], row["class_name"], reference, row["test"], libraries)


def pro_problem(row: Row, data_set: str, parent: str) -> TestedProblem:
    """One row in the form of HumanEval Pro and MBPP Pro."""
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


_CHOSEN: Final = {
    # Their tests draw random strings and hold no example; both functions turn groups of letters or shift
    # them by 5, so the outputs can be written down.
    "HumanEval/38": "assert decode_cyclic('bcaefdhigjk') == 'abcdefghijk'",
    "HumanEval/50": "assert decode_shift('fghij') == 'abcde'",
    # What models were asked with, before values in double quotes were read.
    "HumanEval/65": "assert circular_shift(100, 2) == '001'",
}


def example_assertion(task_id: str, prompt: str, test: str, entry_point: str) -> str:
    """The prompt's first doctest example as an assertion, else the first plain one of the data set's test."""
    if task_id in _CHOSEN:
        return _CHOSEN[task_id]
    # Malformed examples are common in prompts, so they are read line by line.
    lines = [line.strip() for line in prompt.splitlines()]
    for line, following in zip(lines, [*lines[1:], ""], strict=False):
        call, want = line.removeprefix(">>>").strip(), following.removesuffix('"""').strip()
        if line.startswith(">>>") and want and syntax.is_literal(want):
            match syntax.parse_or_none(call):
                case ast.Module(body=[ast.Expr(value=value)]) if entry_point in dict(named_calls(value)):
                    text = ast.unparse(value)
                    return f"assert {f'({text})' if isinstance(value, ast.Compare) else text} == {want}"
    for node in ast.walk(syntax.parse(test)):
        match node:
            case ast.Assert(
                test=ast.Compare(
                    left=ast.Call(func=ast.Name(id="candidate"), args=arguments, keywords=named),
                    ops=[operator, *_],
                    comparators=[wanted, *_],
                )
            ) if all(map(syntax.is_literal, [*arguments, *(each.value for each in named), wanted])):
                sign = "is" if isinstance(operator, ast.Is) else "=="
                call = ", ".join(map(ast.unparse, [*arguments, *named]))
                return f"assert {entry_point}({call}) {sign} {ast.unparse(wanted)}"
    return ""


def named_calls(tree: ast.AST) -> Iterator[tuple[str, ast.Call]]:
    """Yields every call of a plain name inside, with the name."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            yield node.func.id, node


def tested_function(program: str, tests: str) -> str:
    """The function of the program that the tests call: no field of the file names it.

    Raises:
        ValueError: they call none of its functions.
    """
    defined = {function.name for function in syntax.top_functions(program)}
    for name, _ in named_calls(syntax.parse(tests)):
        if name in defined:
            return name
    raise ValueError(f"the tests call none of the functions {', '.join(sorted(defined)) or '(it has none)'}")
