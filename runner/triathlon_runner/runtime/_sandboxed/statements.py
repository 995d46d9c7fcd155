"""What the tracer reads off a program's text: where its statements begin, and variables to look at."""

import ast
from typing import Any


def statement_lines(tree: ast.Module) -> dict[int, int]:
    """For every line of a statement (of a compound one's header) the line on which the statement begins."""
    owner: dict[int, int] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt):
            body = getattr(node, "body", None) or getattr(node, "cases", None)
            last = node.end_lineno or node.lineno
            if body:
                first = body[0].pattern.lineno if isinstance(body[0], ast.match_case) else body[0].lineno
                last = max(node.lineno, min(last, first - 1))
            for line in range(node.lineno, last + 1):
                owner[line] = node.lineno  # the innermost counts, and ast.walk comes from the outside in
    return owner


def definition_lines(tree: ast.Module) -> dict[int, int]:
    """By a function's first line (a decorator's or the `def`'s), its `def`, where its body is below that."""
    return {
        min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)]): node.lineno
        for node in ast.walk(tree)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.body[0].lineno > node.lineno
    }


def read_watches(program: str, watches: dict[int, list[str]]) -> dict[int, list[ast.expr]]:
    """The expressions to read at each line, private names as their class stores them."""
    classes = [node for node in ast.walk(ast.parse(program)) if isinstance(node, ast.ClassDef)]
    watched: dict[int, list[ast.expr]] = {}
    for line, texts in watches.items():
        around = [node.name for node in classes if node.lineno <= line <= (node.end_lineno or 0)]
        watched[line] = [_watch(text, around[-1] if around else "") for text in texts]
    return watched


def _watch(text: str, class_name: str) -> ast.expr:
    tree = ast.parse(text, mode="eval").body
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and class_name and _is_private(node.attr):
            node.attr = f"_{class_name.lstrip('_')}{node.attr}"
    return tree


def _is_private(name: str) -> bool:
    return name.startswith("__") and not name.endswith("__")


def written(attribute: str, owner: object) -> str:
    """An attribute's name as the program writes it: `__total` for `_Order__total`."""
    for kind in type(owner).__mro__:
        prefix = f"_{kind.__name__.lstrip('_')}"
        if attribute.startswith(f"{prefix}__"):
            return attribute.removeprefix(prefix)
    return attribute


def evaluate(node: ast.expr, names: dict[str, Any]) -> Any:
    """Reads a variable: names, attributes, subscripts without calls in them, tuples and lists of these.

    Raises:
        LookupError: it has a call, which could change the value.
        Exception: whatever reading the value raises.
    """
    if any(isinstance(part, (ast.Call, ast.Await, ast.Yield, ast.NamedExpr)) for part in ast.walk(node)):
        raise LookupError(ast.unparse(node))
    if isinstance(node, (ast.Tuple, ast.List)):
        plain = [part.value if isinstance(part, ast.Starred) else part for part in node.elts]
        values = [evaluate(part, names) for part in plain]
        return tuple(values) if isinstance(node, ast.Tuple) else values
    return eval(compile(ast.Expression(node), "<watch>", "eval"), names)  # noqa: S307 (in the sandbox)
