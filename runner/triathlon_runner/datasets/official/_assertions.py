"""The example assertion of problems whose prompt carries none, and the function that tests call."""

import ast
from collections.abc import Iterator
from typing import Final

from triathlon_runner.syntax import is_literal, parse, top_functions

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
