"""Reads the expressions of an answer: values that are written out, and expressions that may be computed.

A value is read here, outside the sandbox, into plain data (`plain_value`). The process that runs the program
builds the value from this data (`_sandboxed/literal.py`); no text of an answer is evaluated there. What is
not written out, such as `'a' * 30`, is computed in a process without a program if it keeps to a fixed list of
operators, functions and methods (`checked_source`), and the text of its value is read in turn. Only a
function that is an argument goes on as source, printed from its checked tree.
"""

import ast
import builtins
import copy
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from operator import add, sub
from typing import Any, Final

from triathlon_runner.runtime._sandboxed import literal
from triathlon_runner.runtime._sandboxed.literal import MAX_TEXT

_MODULES: Final = frozenset({"collections", "datetime", "decimal", "fractions", "math", "np", "numpy"})
_TYPES: Final = frozenset(
    {"bool", "bytes", "complex", "dict", "float", "frozenset", "int", "list", "object", "set", "str", "tuple"}
)
CONSTANTS: Final = _TYPES | literal.CONSTANTS.keys() | literal.NUMPY_SCALARS
"""Names that stand for a value; types are one, as in `defaultdict(int)` and `{'a': int}`."""
CONSTRUCTORS: Final = literal.NUMPY | literal.CONSTRUCTORS.keys() | {
    "bytearray", "complex", "dict", "float", "frozenset", "matrix", "range", "set",
}  # fmt: skip
"""What may be called in a value that is written out."""
FUNCTIONS: Final = CONSTRUCTORS | _TYPES - {"object"} | {
    "abs", "all", "any", "ascii", "bin", "ceil", "chr", "cos", "divmod", "enumerate", "filter", "floor",
    "hex", "len", "log", "map", "max", "min", "oct", "ord", "pow", "repr", "reversed", "round", "sin",
    "sorted", "sqrt", "sum", "tan", "zip",
}  # fmt: skip
METHODS: Final = frozenset(
    {"add", "append", "bit_length", "capitalize", "casefold", "center", "copy", "count", "decode",
     "difference", "discard", "elements", "encode", "endswith", "expandtabs", "extend", "find",
     "format", "fromisoformat", "fromkeys", "get", "hex", "index", "insert", "intersection",
     "isalnum", "isalpha", "isascii", "isdecimal", "isdigit", "isidentifier", "islower",
     "isnumeric", "isoformat", "isprintable", "isspace", "istitle", "isupper", "items", "join",
     "keys", "ljust", "lower", "lstrip", "maketrans", "most_common", "partition", "pop", "popitem",
     "remove", "removeprefix", "removesuffix", "replace", "reverse", "rfind", "rindex", "rjust",
     "rpartition", "rsplit", "rstrip", "setdefault", "sort", "split", "splitlines", "startswith",
     "strip", "swapcase", "symmetric_difference", "title", "translate",
     "union", "update", "upper", "values", "zfill"}
)  # fmt: skip
METHODS_OF_FUNCTIONS: Final = METHODS - {"format"}
"""For a function that is given to a program: `format` reads attributes which a text names, and the program's
values may be at hand there."""
_SYNTAX: Final = (
    ast.Constant, ast.List, ast.Tuple, ast.Set, ast.Dict, ast.UnaryOp, ast.BinOp, ast.BoolOp,
    ast.Compare, ast.IfExp, ast.Subscript, ast.Slice, ast.Starred, ast.keyword, ast.expr_context,
    ast.operator, ast.unaryop, ast.boolop, ast.cmpop, ast.ListComp, ast.SetComp, ast.DictComp,
    ast.GeneratorExp,
)  # fmt: skip
_RESERVED: Final = frozenset(dir(builtins)) | CONSTANTS | FUNCTIONS
"""Names that no parameter and no variable of a comprehension may have."""
_SUMS: Final[dict[type[ast.operator], Callable[[Any, Any], Any]]] = {ast.Add: add, ast.Sub: sub}
"""Of a complex number."""
_NO_PLACE: Final = "the name {!r} has no place in a value"


class InvalidAnswerError(ValueError):
    """The answer does not state what was asked; the message says why."""


def names_in(node: ast.AST) -> set[str]:
    """Returns all names in a piece of code."""
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}


def is_number(value: Any) -> bool:
    return isinstance(value, (int, float, complex)) and not isinstance(value, bool)


@contextmanager
def reading(text: str) -> Iterator[None]:
    """Turns errors of Python's own parser, while an answer is read, into `InvalidAnswerError`.

    Raises:
        InvalidAnswerError: it is longer than any answer needs to be, does not parse, is nested too deep, or
            holds a whole number of more than 4,300 digits, which Python reads in hexadecimal and does not
            write.
    """
    if len(text) > MAX_TEXT:
        raise InvalidAnswerError(f"{len(text)} characters are no assertion")
    try:
        yield
    except InvalidAnswerError:
        raise
    except (SyntaxError, ValueError, TypeError, ArithmeticError, MemoryError, RecursionError) as error:
        raise InvalidAnswerError(f"the answer does not parse: {error}") from None


def plain_value(node: ast.expr, *, listed: bool = True) -> Any:  # noqa: PLR0911, PLR0912 (one for each kind)
    """Returns a value that is written out as data: a constant as it is, anything else as a tuple.

    The tuple is a name and what it holds: `("list", 1, 2)`, `("dict", (":", 'a', 1))`, `("name", "int")`; of
    the call of a constructor its arguments, `("timedelta()", 1, ("hours=", 2))`.

    `listed`: only listed names and constructors are values; else any are, and operations on values.

    Raises:
        InvalidAnswerError: it is another expression.
    """
    plain = partial(plain_value, listed=listed)
    match node:
        case ast.Constant(value):
            return value
        case ast.UnaryOp(ast.USub() | ast.UAdd() as sign, operand):
            number = plain(operand)
            if is_number(number):
                return -number if isinstance(sign, ast.USub) else number
            if not listed:
                return ("Sub" if isinstance(sign, ast.USub) else "Add"), 0, number
            if number in (("name", "inf"), ("name", "nan"), ("name", "pi")):
                return ("negative()", number) if isinstance(sign, ast.USub) else number
        case ast.BinOp(left, operation, right):
            parts = plain(left), plain(right)
            if not listed:
                return type(operation).__name__, *parts
            if type(operation) in _SUMS and is_number(parts[0]) and isinstance(parts[1], complex):
                return _SUMS[type(operation)](*parts)
        case ast.List(items) | ast.Tuple(items) | ast.Set(items):
            return type(node).__name__.lower(), *map(plain, items)
        case ast.Dict(keys, values) if None not in keys:
            pairs = zip(keys, values, strict=True)
            return "dict", *((":", plain(key), plain(value)) for key, value in pairs if key)
        case ast.Name() | ast.Attribute() if dotted := _dotted(node):
            name = _listed_name(node)
            if name in CONSTANTS or not listed:
                return "name", name if name in CONSTANTS else ".".join(dotted[-2:])
        case ast.Call(called, arguments, keywords) if all(keyword.arg for keyword in keywords):
            name = _listed_name(called) if listed else "".join(_dotted(called)[-1:])
            if name in CONSTRUCTORS or (name and not listed):
                named = ((f"{keyword.arg}=", plain(keyword.value)) for keyword in keywords)
                return f"{name}()", *map(plain, arguments), *named
    raise InvalidAnswerError(f"{ast.unparse(node)[:80]!r} is no value that is written out")


def _dotted(node: ast.expr) -> list[str]:
    """The parts of a name with dots; none of another expression."""
    match node:
        case ast.Name(name):
            return [name]
        case ast.Attribute(owner, name) if parts := _dotted(owner):
            return [*parts, name]
    return []


def _listed_name(node: ast.expr) -> str:
    """Returns the last part of `datetime.date` or `np.float64`, or a name; empty where it is another path."""
    *owners, name = _dotted(node) or [""]
    if owners and owners[0] not in _MODULES:
        return ""
    return name if len(owners) < 2 or (len(owners) == 2 and name in CONSTRUCTORS) else ""


def is_plain(node: ast.expr) -> bool:
    """Whether an expression is a value that is written out."""
    try:
        plain_value(node)
    except InvalidAnswerError:
        return False
    return True


def stated_value(node: ast.expr) -> Any:
    """Returns plain data, or `("compute", source)` of what has to be computed first, where no program is.

    Raises:
        InvalidAnswerError: it is neither a value nor computed from values by what is listed.
    """
    return plain_value(node) if is_plain(node) else ("compute", checked_source(node))


class _Shortened(ast.NodeTransformer):
    """Writes `math.pi` as `pi`, and a text `f'a'` without a field as `'a'`."""

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        name = _listed_name(node)
        if name in CONSTANTS | FUNCTIONS:
            return ast.Name(name, ast.Load())
        self.generic_visit(node)
        return node

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.expr:
        parts = [part.value for part in node.values if isinstance(part, ast.Constant)]
        return ast.Constant("".join(map(str, parts))) if len(parts) == len(node.values) else node


def holds_function(node: ast.expr) -> bool:
    """Whether an argument is a function, or a collection with one in it."""
    match node:
        case ast.Lambda() | ast.Attribute(ast.Name("list" | "str" | "dict" | "set")):
            return True
        case ast.Name(name):
            return name in FUNCTIONS - CONSTANTS
        case ast.List(items) | ast.Tuple(items) | ast.Set(items):
            return any(map(holds_function, items))
        case ast.Dict():
            return any(map(holds_function, node.values))
    return False


def checked_source(node: ast.expr, methods: frozenset[str] = METHODS) -> str:
    """Returns the source of an expression that may be computed where no program is.

    Raises:
        InvalidAnswerError: something in it is not on the lists.
    """
    tree: ast.expr = _Shortened().visit(copy.deepcopy(node))
    parts = list(ast.walk(tree))
    called = {id(part.func) for part in parts if isinstance(part, ast.Call)}
    variables = _variables(tree)
    if taken := sorted(name for name in variables if name in _RESERVED or name.startswith("_")):
        raise InvalidAnswerError(_NO_PLACE.format(taken[0]))
    for part in parts:
        match part:
            case ast.Name(name):
                is_listed = name in (FUNCTIONS if id(part) in called else CONSTANTS | FUNCTIONS | variables)
                why = "" if is_listed else _NO_PLACE.format(name)
            case ast.Attribute(owner, name):
                of_type = isinstance(owner, ast.Name) and owner.id in _TYPES
                is_listed = name in methods and (id(part) in called or of_type)
                why = "" if is_listed else _NO_PLACE.format(name)
            case ast.Call(called_part):
                is_named = isinstance(called_part, ast.Name | ast.Attribute)
                why = "" if is_named else "only listed functions and methods are called in a value"
            case ast.BinOp(left, ast.Mult(), right):
                is_large = _repeats_too_often(left, right) or _repeats_too_often(right, left)
                why = f"a product in a value has at most {MAX_TEXT} parts" if is_large else ""
            case ast.BinOp(_, ast.Pow() | ast.LShift(), right):
                exponent = plain_value(right) if is_plain(right) else None
                is_small = isinstance(exponent, int | float) and exponent <= MAX_TEXT
                why = "" if is_small else f"an exponent in a value is a number of at most {MAX_TEXT}"
            case ast.Lambda():
                is_closed = names_in(part) <= CONSTANTS | FUNCTIONS | _variables(part)
                why = "" if is_closed else "a function in a value has names of its own only"
            case ast.arguments() | ast.arg() | ast.comprehension():
                why = "" if _is_plain_scope(part) else "functions and comprehensions in a value are plain"
            case _:
                is_listed = isinstance(part, _SYNTAX)
                why = "" if is_listed else f"{type(part).__name__} has no place in a value"
        if why:
            raise InvalidAnswerError(why)
    return ast.unparse(tree)


def _variables(node: ast.expr) -> set[str]:
    """The parameters of functions and the variables of comprehensions."""
    parts = list(ast.walk(node))
    stored = {part.id for part in parts if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)}
    return stored | {part.arg for part in parts if isinstance(part, ast.arg)}


def _is_plain_scope(part: ast.arguments | ast.arg | ast.comprehension) -> bool:
    """Whether a lambda has plain parameters only, a comprehension plain variables."""
    if isinstance(part, ast.arg):
        return part.annotation is None
    if isinstance(part, ast.arguments):
        return not any((part.vararg, part.kwarg, *part.kwonlyargs, *part.defaults))
    targets = part.target.elts if isinstance(part.target, ast.Tuple) else [part.target]
    return not part.is_async and all(isinstance(target, ast.Name) for target in targets)


def _repeats_too_often(count: ast.expr, repeated: ast.expr) -> bool:
    """Whether a text or a collection that is written out is repeated by a large number."""
    is_text = isinstance(repeated, ast.Constant) and isinstance(repeated.value, str | bytes)
    number = count.value if isinstance(count, ast.Constant) else None
    is_long = is_text or isinstance(repeated, ast.List | ast.Tuple)
    return is_long and isinstance(number, int) and number > MAX_TEXT
