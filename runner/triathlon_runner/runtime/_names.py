"""What the names of a test stand for: the program under test, what it returned, or plain values."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from triathlon_runner.syntax import imported_names

_MODULES: Final = frozenset(
    {"math", "cmath", "datetime", "decimal", "fractions", "collections", "itertools", "string", "statistics",
     "numpy", "operator", "re"}
)  # fmt: skip
VALUE_FUNCTIONS: Final = frozenset(
    {"abs", "all", "any", "array", "bool", "bytes", "chr", "complex", "date", "dict", "divmod", "enumerate",
     "float", "frozenset", "int", "len", "list", "max", "min", "ord", "pow", "range", "repr", "reversed",
     "round", "set", "sorted", "str", "sum", "tuple", "zip", "Counter", "OrderedDict", "defaultdict", "deque",
     "Decimal", "Fraction", "nan", "inf", "np", "numpy", "datetime", "math"}
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Names:
    """What the names of a test stand for."""

    program: frozenset[str]
    """Names that the program defines, and names of the test that hold values which the program made."""
    plain: frozenset[str]
    """Names that hold values of the test's own, functions of values, and modules of these."""

    @classmethod
    def of(cls, template: ast.Module, program: ast.Module) -> "Names":
        """Follows the assignments of a test (`template`) to a program."""
        modules = {name for name, module in imported_names(program) if gives_values(module)}
        of_program = {"self", *defined_names(program)}
        known = VALUE_FUNCTIONS | modules
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
                } - VALUE_FUNCTIONS
        return cls(frozenset(of_program), frozenset(known - of_program))

    def allows(self, name: str) -> bool:
        """Whether a name may stand in an answer."""
        return name in self.plain or name in self.program

    def reads_program(self, node: ast.AST) -> bool:
        """Whether an expression has a name of `program`."""
        return any(isinstance(part, ast.Name) and part.id in self.program for part in ast.walk(node))


def gives_values(module: str) -> bool:
    """Whether what is imported, `math` or `math.pi`, may stand in a value."""
    return module.partition(".")[0] in _MODULES


def names_in(node: ast.AST) -> set[str]:
    """Returns all names in a piece of code."""
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}


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


def defined_names(program: ast.Module) -> Iterator[str]:
    """Yields the names that a program defines at its top level."""
    for statement in program.body:
        if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield statement.name
        elif isinstance(
            statement, (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.For, ast.With, ast.If, ast.Try)
        ):
            yield from (
                node.id
                for node in ast.walk(statement)
                if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
            )


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
