"""Problems as a model wrote them: read from replies, refused in another form, given other docstrings."""

import ast
import re
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from triathlon_runner import syntax
from triathlon_runner.datasets import Problem
from triathlon_runner.replies import code_blocks, visible_text

_SHOWN: Final = 3
_SHORT: Final = 100
"""Characters of a call with its value up to which it makes a good example."""


class UnusableReplyError(Exception):
    """The reply holds no problem of the form asked for; the message tells the model what to fix."""


@dataclass(frozen=True, slots=True)
class Draft:
    """A problem that the pipeline has not accepted yet."""

    entry_point: str
    prompt: str
    """Imports, helpers, signature and docstring."""
    helpers: str = ""
    """tool_use: imports and the complete helper functions; `prompt` begins with them."""

    @property
    def function(self) -> ast.FunctionDef:
        """The function asked for."""
        return next(f for f in reversed(functions_in(self.prompt)) if f.name == self.entry_point)

    @property
    def docstring(self) -> str:
        return ast.get_docstring(self.function) or ""

    @property
    def parameters(self) -> tuple[str, ...]:
        return tuple(argument.arg for argument in self.function.args.args)


_MAX_DEPTH: Final = 60
"""Levels of syntax beyond which no problem needs to go; Python's own tools give up at about a thousand."""


def parse(text: str) -> ast.Module:
    """The syntax tree of a model's text.

    Raises:
        UnusableReplyError: it does not parse, is nested absurdly deep, or holds what no file can.
    """
    try:
        text.encode()
        tree = syntax.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise UnusableReplyError(f"the code does not parse ({error}).") from error
    level: list[ast.AST] = [tree]
    for _ in range(_MAX_DEPTH):
        level = [child for node in level for child in ast.iter_child_nodes(node)]
    if level:
        raise UnusableReplyError("the code is nested too deep.")
    return tree


def functions_in(text: str) -> list[ast.FunctionDef]:
    """The top-level functions of a model's text.

    Raises:
        UnusableReplyError: as `parse`.
    """
    return [node for node in parse(text).body if isinstance(node, ast.FunctionDef)]


def main_function(program: str) -> ast.FunctionDef:
    """The last top-level function.

    Raises:
        UnusableReplyError: there is none, or the program does not parse.
    """
    functions = functions_in(program)
    if not functions:
        raise UnusableReplyError("there is no function in it.")
    return functions[-1]


def read_problem(reply: str, *, helpers: bool = False, name: str | None = None) -> Draft:
    """The problem in a reply, with complete helper functions where they were asked for.

    Raises:
        UnusableReplyError: it holds no such problem, or one of another name.
    """
    source = _block(reply)
    functions = functions_in(source)
    main = main_function(source)
    helper_functions = functions[:-1]
    if helper_functions and not helpers:
        raise UnusableReplyError(f"one function was asked for, there are {len(functions)}.")
    if helpers and not helper_functions:
        raise UnusableReplyError("there is no helper function in front of the main one.")
    if any(_is_empty(function) for function in helper_functions):
        raise UnusableReplyError("a helper function has no body.")
    if name is not None and main.name != name:
        raise UnusableReplyError(f"the function must be called {name}, not {main.name}.")
    return _draft(source, main, helper_functions)


def read_halves(reply: str) -> tuple[Draft, ...]:
    """The two problems that a seed was split into.

    Raises:
        UnusableReplyError: there are not exactly two.
    """
    source = _block(reply)
    functions = functions_in(source)
    if len(functions) != 2 or functions[0].name == functions[1].name:
        raise UnusableReplyError(f"two functions of different names were asked for, got {len(functions)}.")
    return tuple(_draft(source, function, []) for function in functions)


def _block(reply: str) -> str:
    """The last block of code that has a function, else the text where that is a program itself."""
    text = visible_text(reply)
    blocks = [block.code for block in code_blocks(text)]
    program = next((code for code in reversed(blocks) if re.search(r"^def \w", code, re.MULTILINE)), None)
    if program is None and re.match(r"\s*(def|from|import) ", text):
        program = text
    if program is None:
        raise UnusableReplyError("there is no Python code block with a function in it.")
    return program.strip("\n") + "\n"


def _draft(source: str, main: ast.FunctionDef, helpers: list[ast.FunctionDef]) -> Draft:
    docstring = ast.get_docstring(main)
    if not docstring or len(docstring.split()) < 3:
        raise UnusableReplyError(f"{main.name} has no docstring that says what it does.")
    arguments = main.args
    if arguments.vararg or arguments.kwarg or arguments.kwonlyargs or not arguments.args:
        raise UnusableReplyError(f"{main.name} must have plain positional parameters, at least one.")
    imports = syntax.import_statements(source)
    bodies = [ast.get_source_segment(source, function) or "" for function in helpers]
    front = "\n\n\n".join(part for part in ("\n".join(imports), *bodies) if part)
    prompt = _prompt(front, main, docstring)
    parse(prompt)
    return Draft(main.name, prompt, front if helpers else "")


def _prompt(front: str, function: ast.FunctionDef, docstring: str) -> str:
    returns = f" -> {ast.unparse(function.returns)}" if function.returns else ""
    signature = f"def {function.name}({ast.unparse(function.args)}){returns}:"
    escaped = docstring.replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
    ending = "\n" if "\n" in escaped or escaped.endswith('"') else ""
    body = textwrap.indent(f'"""{escaped}{ending}"""', "    ")
    return f"{front}\n\n\n{signature}\n{body}\n" if front else f"{signature}\n{body}\n"


def with_docstring(draft: Draft, prose: str, examples: str) -> Draft:
    """The same problem with another docstring: words without examples, and examples."""
    front = "\n".join(draft.prompt.split("\n")[: draft.function.lineno - 1]).strip("\n")
    docstring = f"{prose}\n\n{examples}" if examples else prose
    return replace(draft, prompt=_prompt(front, draft.function, docstring))


def _is_empty(function: ast.FunctionDef) -> bool:
    """Whether the body holds only a docstring, `pass` or `...`."""
    return all(
        isinstance(node, ast.Pass) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))
        for node in function.body
    )


def seed_draft(seed: Problem) -> Draft:
    """A seed as a draft: its whole prompt, with all text before the function."""
    return Draft(seed.entry_point, seed.prompt)


def is_copy(draft: Draft, seed: Problem) -> bool:
    """Whether the docstring is the seed's, apart from its examples and the function's name."""
    names = {draft.entry_point.lower(), seed.entry_point.lower()}
    words, seed_words = (
        [word for word in re.findall(r"\w+", each.docstring.partition(">>>")[0].lower()) if word not in names]
        for each in (draft, seed_draft(seed))
    )
    return words == seed_words


def choose(entry_point: str, results: Mapping[str, object]) -> list[tuple[str, str]]:
    """A few short calls with their values, with different values where there are any.

    `results` are what the function returned, by the source of an argument tuple.
    """
    shown = [(syntax.call_text(entry_point, arguments), repr(value)) for arguments, value in results.items()]
    short = [pair for pair in shown if len(pair[0]) + len(pair[1]) <= _SHORT and "\n" not in "".join(pair)]
    by_value = {value: (call, value) for call, value in reversed(short)}
    different = list(by_value.values())[::-1]
    rest = [pair for pair in short if pair not in different]
    return [*different, *rest][:_SHOWN]


def as_doctest(examples: Sequence[tuple[str, str]]) -> str:
    return "\n".join(f">>> {call}\n{value}" for call, value in examples)


def without_examples(docstring: str) -> str:
    """The docstring without `>>>` lines and the values below them."""
    prose_lines: list[str] = []
    in_example = False
    for line in docstring.split("\n"):
        text = line.strip()
        if text.startswith(">>>"):
            in_example = True
        elif not text:
            in_example = False
        if not in_example:
            prose_lines.append(line)
    while prose_lines and (
        not prose_lines[-1].strip() or prose_lines[-1].strip().lower().rstrip(":") in ("examples", "example")
    ):
        prose_lines.pop()
    return "\n".join(prose_lines).rstrip()
