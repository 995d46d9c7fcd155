"""What may fill a mask: expressions that compute with values alone, and readings of the program.

Where the call of the program itself is masked (`assertTrue(??)`, `assertEqual(50, ??)`: DREval masks 51 such
places) the filling has to read the program. The rule is a grammar, so that `1 == 1`, which holds for every
program, cannot fill one:

    filling  = reading | not filling | reading == value | value == reading | (the same with `is`)
    reading  = a name of the test or the program, and at least one .attribute, [value] or (arguments)
             | len(reading), bool(reading), round(reading, value) and their like
    argument = value | name | reading

Only functions and methods that the program defines are called, nothing of unittest. Where the filling's truth
is asserted it is such a call or a comparison: a method that is not called, or an object, is always true.
"""

import ast
import unittest
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from triathlon_runner.syntax import imported_names

_MODULES: Final = frozenset(
    {"math", "cmath", "datetime", "decimal", "fractions", "collections", "itertools", "string", "statistics",
     "numpy", "operator", "re"}
)  # fmt: skip
_VALUE_FUNCTIONS: Final = frozenset(
    {"abs", "all", "any", "array", "bool", "bytes", "chr", "complex", "date", "dict", "divmod", "enumerate",
     "float", "frozenset", "int", "len", "list", "max", "min", "ord", "pow", "range", "repr", "reversed",
     "round", "set", "sorted", "str", "sum", "tuple", "zip", "Counter", "OrderedDict", "defaultdict", "deque",
     "Decimal", "Fraction", "nan", "inf", "np", "numpy", "datetime", "math"}
)  # fmt: skip
_WRAPPERS: Final = frozenset(
    {"len", "bool", "abs", "round", "int", "float", "sum", "list", "tuple", "set", "sorted"}
)
_PLAIN: Final = (
    ast.Constant, ast.List, ast.Tuple, ast.Set, ast.Dict, ast.UnaryOp, ast.expr_context, ast.USub, ast.UAdd,
)  # fmt: skip
_EXPRESSIONS: Final = (
    ast.Constant, ast.List, ast.Tuple, ast.Set, ast.Dict, ast.UnaryOp, ast.BinOp, ast.BoolOp, ast.Compare,
    ast.Subscript, ast.Slice, ast.Attribute, ast.Name, ast.Call, ast.keyword, ast.Starred, ast.ListComp,
    ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.comprehension, ast.IfExp, ast.expr_context, ast.operator,
    ast.unaryop, ast.boolop, ast.cmpop,
)  # fmt: skip


class InvalidAnswerError(ValueError):
    """The answer does not complete the assertion that was asked; the message says why."""


def is_plain(node: ast.expr) -> bool:
    """Whether an expression is a value written out: constants, signs, and collections of these."""
    return all(isinstance(part, _PLAIN) for part in ast.walk(node))


def is_assertion(node: ast.AST) -> bool:
    """Whether it is a call such as `assertEqual(…)`."""
    return (
        isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id.startswith("assert")
    )


def in_order(node: ast.AST) -> Iterator[ast.AST]:
    """Yields all nodes in the order of the text; `ast.walk` goes level by level."""
    yield node
    for child in ast.iter_child_nodes(node):
        yield from in_order(child)


def names_in(node: ast.AST) -> set[str]:
    """Returns all names in a piece of code."""
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}


def value_imports(program: ast.Module) -> tuple[tuple[str, str], ...]:
    """What a program imports and what may stand in a value: names with their modules, `math` or `math.pi`."""
    return tuple(
        (name, module) for name, module in imported_names(program) if module.partition(".")[0] in _MODULES
    )


def check_value_expression(expression: ast.expr, program: ast.Module) -> None:
    """Checks that an expression computes with values alone; `lambda` is allowed.

    Raises:
        InvalidAnswerError: it reads the program, or has syntax or names that no value needs.
    """
    parameters = {node.arg for node in ast.walk(expression) if isinstance(node, ast.arg)}
    names = Names(frozenset(_defined_names(program)), _VALUE_FUNCTIONS | parameters)
    names.check(expression, (*_EXPRESSIONS, ast.Lambda, ast.arguments, ast.arg))
    if names.reads_program(expression):
        raise InvalidAnswerError("the answer calls the program instead of giving a value")


@dataclass(frozen=True, slots=True)
class Names:
    """What the names of a test stand for."""

    program: frozenset[str]
    """Names that the program defines, and names of the test that hold values which the program made."""
    plain: frozenset[str]
    """Names that hold values of the test's own, functions of values, and modules of these."""
    functions: frozenset[str] = frozenset()
    """Functions and methods that the program defines."""
    classes: frozenset[str] = frozenset()

    @classmethod
    def of(cls, template: ast.Module, program: ast.Module) -> "Names":
        """Follows the assignments of a test (`template`) to a program."""
        of_program = {"self", *_defined_names(program)}
        known = _VALUE_FUNCTIONS | {name for name, _ in value_imports(program)}
        for node in in_order(template):
            for target, value in _assignments(node):
                names = names_in(target)
                if names_in(value) & of_program or not names_in(value) <= known:
                    of_program |= names
                known |= names
            if isinstance(node, ast.Call) and names_in(node) & of_program and not is_assertion(node):
                # The program may change what it is passed.
                of_program |= {
                    name for part in (*node.args, *node.keywords) for name in names_in(part)
                } - _VALUE_FUNCTIONS
        nodes = list(ast.walk(program))
        return cls(
            frozenset(of_program),
            frozenset(known - of_program),
            frozenset(
                node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
            ),
            frozenset(node.name for node in nodes if isinstance(node, ast.ClassDef)),
        )

    @property
    def of_test(self) -> frozenset[str]:
        """Names that the test itself, or an import of the program, gives plain values."""
        return self.plain - _VALUE_FUNCTIONS

    def reads_program(self, node: ast.AST) -> bool:
        """Whether an expression has a name of `program`."""
        return not self.program.isdisjoint(names_in(node))

    def check(self, filling: ast.expr, allowed: tuple[type[ast.AST], ...] = _EXPRESSIONS) -> None:
        """Checks the syntax and the names of an expression.

        Raises:
            InvalidAnswerError: something in it has no place in a value.
        """
        nodes = list(ast.walk(filling))
        local = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
        known = self.plain | self.program | local
        for node in nodes:
            if not isinstance(node, allowed):
                raise InvalidAnswerError(f"{type(node).__name__} has no place in a value")
            if isinstance(node, ast.Attribute) and node.attr.startswith("_"):
                raise InvalidAnswerError(f"the name {node.attr!r} has no place in a value")
            if isinstance(node, ast.Name) and node.id not in known:
                raise InvalidAnswerError(f"the name {node.id!r} has no place in a value")

    def reads_as_filling(self, node: ast.expr, *, truth: bool) -> bool:
        """Whether an expression is a `filling` of the grammar above; `truth`: only its truth is asserted."""
        match node:
            case ast.UnaryOp(ast.Not(), inner):
                return self.reads_as_filling(inner, truth=True)
            case ast.Compare(left, [ast.Eq() | ast.Is()], [right]):
                return (self._is_reading(left) and is_plain(right)) or (
                    self._is_reading(right) and is_plain(left)
                )
        return self._is_reading(node) and (not truth or self._is_call_that_decides(node))

    def _is_reading(self, node: ast.expr) -> bool:
        match node:
            case ast.Call(ast.Name(name), [inner, *more], []) if name in _WRAPPERS - self.program:
                return self._is_reading(inner) and all(map(is_plain, more))
            case ast.Attribute() | ast.Subscript() | ast.Call():
                return self._is_chain(node)
        return False

    def _is_call_that_decides(self, node: ast.expr) -> bool:
        match node:
            case ast.Call(ast.Name("bool"), [inner], []):
                return self._is_call_that_decides(inner)
            case ast.Call(ast.Name(name)):
                return name in _WRAPPERS | self.functions
            case ast.Call(ast.Attribute(attr=name)):
                return name in self.functions
        return False

    def _is_chain(self, node: ast.expr) -> bool:
        match node:
            case ast.Name(name):
                return name in self.program
            case ast.Attribute(ast.Name("self"), name):
                return not hasattr(unittest.TestCase, name)
            case ast.Attribute(owner):
                return self._is_chain(owner)
            case ast.Subscript(owner, key):
                return self._is_chain(owner) and self._is_argument(key)
            case ast.Call(called):
                made = getattr(called, "attr", None) or getattr(called, "id", "")
                arguments = [*node.args, *(keyword.value for keyword in node.keywords)]
                return (
                    made in self.functions | self.classes
                    and self._is_chain(called)
                    and all(map(self._is_argument, arguments))
                )
        return False

    def _is_argument(self, node: ast.expr) -> bool:
        match node:
            case ast.Name(name):
                return name in self.program | self.plain
            case ast.Attribute(ast.Name(name)) if name in self.plain:
                return True
        return is_plain(node) or self._is_reading(node)


def _defined_names(program: ast.Module) -> Iterator[str]:
    """Yields the names that a program defines at its top level."""
    for statement in program.body:
        match statement:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                yield statement.name
            case (
                ast.Assign()
                | ast.AnnAssign()
                | ast.AugAssign()
                | ast.For()
                | ast.With()
                | ast.If()
                | ast.Try()
            ):
                for node in ast.walk(statement):
                    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                        yield node.id


def _assignments(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    match node:
        case ast.Assign():
            yield from ((target, node.value) for target in node.targets)
        case ast.AugAssign():
            yield node.target, node.value
        case ast.AnnAssign(value=ast.expr() as value):
            yield node.target, value
        case ast.For() | ast.AsyncFor() | ast.comprehension():
            yield node.target, node.iter
        case ast.withitem(optional_vars=ast.expr() as target):
            yield target, node.context_expr
        case ast.NamedExpr():
            yield node.target, node.value
