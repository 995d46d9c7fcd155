"""Problems and inputs as a model wrote them: read from replies, refused in another form, reworded."""

import ast
import re
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from triathlon_runner import syntax
from triathlon_runner.datasets import Problem
from triathlon_runner.replies import code_blocks, visible_text

_EXAMPLES: Final = 3
_SHORT: Final = 100
"""Characters of a call with its value up to which it makes a good example."""
_MAX_DEPTH: Final = 60
"""Levels of syntax beyond which no problem needs to go; Python's own tools give up at about a thousand."""
_LONGEST_INPUT: Final = 2000
"""Characters of one input; models like to write walls of numbers."""


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


def read_drafts(reply: str, transformation: str = "", name: str | None = None) -> tuple[Draft, ...]:
    """The problem in a reply (tool_use: behind complete helper functions), or for decompose the two halves.

    Raises:
        UnusableReplyError: it holds no such problem, or one of another name.
    """
    source = _block(reply)
    functions = functions_in(source)
    if transformation == "decompose":
        if len(functions) != 2 or functions[0].name == functions[1].name:
            raise UnusableReplyError(
                f"two functions of different names were asked for, got {len(functions)}."
            )
        return tuple(_draft(source, function, []) for function in functions)
    if not functions:
        raise UnusableReplyError("there is no function in it.")
    *helpers, main = functions
    if helpers and transformation != "tool_use":
        raise UnusableReplyError(f"one function was asked for, there are {len(functions)}.")
    if transformation == "tool_use" and not helpers:
        raise UnusableReplyError("there is no helper function in front of the main one.")
    for function in helpers:
        if all(isinstance(part, ast.Pass) or syntax.is_bare_constant(part) for part in function.body):
            raise UnusableReplyError("a helper function has no body.")
    if name is not None and main.name != name:
        raise UnusableReplyError(f"the function must be called {name}, not {main.name}.")
    return (_draft(source, main, helpers),)


def _block(reply: str) -> str:
    """The last block of code that has a function, else the text where that is a program itself."""
    text = visible_text(reply)
    programs = [block.code for block in code_blocks(text) if re.search(r"^def \w", block.code, re.MULTILINE)]
    if not programs and re.match(r"\s*(def|from|import) ", text):
        programs = [text]
    if not programs:
        raise UnusableReplyError("there is no Python code block with a function in it.")
    return programs[-1].strip("\n") + "\n"


def _draft(source: str, main: ast.FunctionDef, helpers: list[ast.FunctionDef]) -> Draft:
    docstring = ast.get_docstring(main)
    if not docstring or len(docstring.split()) < 3:
        raise UnusableReplyError(f"{main.name} has no docstring that says what it does.")
    if not syntax.has_plain_parameters(main) or not main.args.args:
        raise UnusableReplyError(f"{main.name} must have plain positional parameters, at least one.")
    imports = "\n".join(syntax.import_statements(source))
    bodies = [ast.get_source_segment(source, function) or "" for function in helpers]
    front = "\n\n\n".join(part for part in (imports, *bodies) if part)
    prompt = _prompt(front, main, docstring)
    parse(prompt)
    return Draft(main.name, prompt, front if helpers else "")


def _prompt(front: str, function: ast.FunctionDef, docstring: str) -> str:
    returns = f" -> {ast.unparse(function.returns)}" if function.returns else ""
    escaped = docstring.replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
    ending = "\n" if "\n" in escaped or escaped.endswith('"') else ""
    body = textwrap.indent(f'"""{escaped}{ending}"""', "    ")
    text = f"def {function.name}({ast.unparse(function.args)}){returns}:\n{body}\n"
    return f"{front}\n\n\n{text}" if front else text


def with_docstring(draft: Draft, docstring: str, examples: str) -> Draft:
    """The same problem with the words of a docstring, and these examples."""
    front = "\n".join(syntax.program_lines(draft.prompt)[: draft.function.lineno - 1]).strip("\n")
    prose = without_examples(docstring)
    docstring = f"{prose}\n\n{examples}" if examples else prose
    return replace(draft, prompt=_prompt(front, draft.function, docstring))


def is_copy(draft: Draft, seed: Problem) -> bool:
    """Whether the docstring is the seed's, apart from its examples and the function's name."""
    names = {draft.entry_point.lower(), seed.entry_point.lower()}
    words, seed_words = (
        [word for word in re.findall(r"\w+", each.docstring.partition(">>>")[0].lower()) if word not in names]
        for each in (draft, Draft(seed.entry_point, seed.prompt))
    )
    return words == seed_words


def doctest_of(entry_point: str, results: Mapping[str, object]) -> str:
    """A few short calls with their values, with different values where there are any.

    `results` are what the function returned, by the source of an argument tuple.
    """
    calls = [(syntax.call_text(entry_point, arguments), repr(value)) for arguments, value in results.items()]
    short = [pair for pair in calls if len(pair[0]) + len(pair[1]) <= _SHORT and "\n" not in "".join(pair)]
    first_of_value = {value: (call, value) for call, value in reversed(short)}
    different = list(first_of_value.values())[::-1]
    examples = [*different, *(pair for pair in short if pair not in different)][:_EXAMPLES]
    return "\n".join(f">>> {call}\n{value}" for call, value in examples)


def without_examples(docstring: str) -> str:
    """The docstring without `>>>` lines and the values below them."""
    prose: list[str] = []
    in_example = False
    for line in docstring.split("\n"):
        text = line.strip()
        in_example = text.startswith(">>>") or (in_example and bool(text))
        if not in_example:
            prose.append(line)
    while prose and prose[-1].strip().lower() in ("", "example", "example:", "examples", "examples:"):
        prose.pop()
    return "\n".join(prose).rstrip()


def read_inputs(reply: str, entry_point: str, arity: int) -> list[str]:
    """The calls in a reply as sources of argument tuples; lines without a call of this arity are left out."""
    text = visible_text(reply)
    lines = "\n".join([block.code for block in code_blocks(text)] or [text]).split("\n")
    sources = (_read_input(line.strip(), entry_point, arity) for line in lines)
    return list(dict.fromkeys(filter(None, sources)))


def _read_input(line: str, entry_point: str, arity: int) -> str:
    """The source of an argument tuple; empty where the line holds none."""
    line = re.sub(r"^(>>>|[-*]|\d+[.)])\s+", "", line).rstrip(",; ")
    if not line or len(line) > _LONGEST_INPUT:
        return ""
    try:
        (statement,) = parse(line).body
    except (UnusableReplyError, ValueError):
        return ""
    node = statement.value if isinstance(statement, ast.Expr) else None
    if isinstance(node, ast.Compare):  # `f(1) == 2`: only the call counts
        node = node.left
    match node:
        case ast.Call(func=ast.Name(id=name), args=items, keywords=[]) if name == entry_point:
            pass
        case ast.Tuple(elts=items) if len(items) == arity:
            pass
        case None | ast.Call() | ast.Name():
            return ""
        case _:
            items = [node]
    if len(items) != arity or any(isinstance(item, ast.Starred) for item in items):
        return ""
    inside = ", ".join(ast.unparse(item) for item in items)
    return f"({inside},)" if arity == 1 else f"({inside})"
