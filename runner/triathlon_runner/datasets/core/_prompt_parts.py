"""Reading a prompt: which function it asks for, and what its examples show."""

import ast

from triathlon_runner.syntax import top_functions


def asked_function(prompt: str) -> ast.FunctionDef:
    """The function that a prompt asks for: its last top-level `def`.

    Raises:
        ValueError: the prompt has no function.
    """
    functions = top_functions(prompt)
    if not functions:
        message = f"a prompt needs a function, got {prompt!r}"
        raise ValueError(message)
    return functions[-1]


def docstring(prompt: str) -> str:
    return ast.get_docstring(asked_function(prompt)) or ""


def examples(prompt: str) -> list[tuple[str, str]]:
    """The docstring's examples as (call, value), both source text."""
    from doctest import DocTestParser  # noqa: PLC0415  it imports the debugger

    doctests = DocTestParser().get_examples(docstring(prompt))
    return [(example.source.strip(), example.want.strip()) for example in doctests]


def assertion(prompt: str) -> str:
    """The first example as an assert statement, empty where there is none."""
    shown = examples(prompt)
    return f"assert {shown[0][0]} == {shown[0][1]}" if shown else ""
