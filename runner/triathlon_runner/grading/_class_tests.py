"""unittest modules as text to be executed: away from the program, or beside it with the answers taken out."""

import ast
from dataclasses import dataclass, field
from typing import Any

from triathlon_runner.grading._sandboxed import source

RELAYED = ("_triathlon_make", "_triathlon_get", "_triathlon_set", "_triathlon_call")
"""What tests that run elsewhere ask of the program's process."""
EQUALITIES = ("assertEqual", "assertListEqual", "assertDictEqual", "assertSetEqual", "assertTupleEqual")
_OTHERS = (
    "assertNotEqual assertIn assertNotIn assertIs assertIsNot assertGreater assertGreaterEqual assertLess "
    "assertLessEqual assertAlmostEqual assertNotAlmostEqual"
)
OBSERVED = {
    **dict.fromkeys((*EQUALITIES, *_OTHERS.split()), 2),
    **dict.fromkeys(("assertTrue", "assertFalse", "assertIsNone", "assertIsNotNone"), 1),
}
"""Assertions that are decided from what they saw, and how many operands they have."""


@dataclass(frozen=True, slots=True)
class Site:
    """One assertion in the text."""

    kind: str
    literals: dict[int, Any]
    """Operands, by position, that were taken out of the text."""
    places: int = 7
    """Of `assertAlmostEqual`."""

    @property
    def telling(self) -> bool:
        """Whether it says that two values are equal, both of which came from the program's process."""
        return self.kind in EQUALITIES and not self.literals


@dataclass(slots=True)
class UnittestModule:
    """A unittest module, read."""

    tree: ast.Module
    methods: tuple[tuple[str, str], ...]
    """(class, method), in the order of the text."""
    sites: list[Site] = field(default_factory=list)


def read(test: str) -> UnittestModule:
    """Reads the module.

    Raises:
        SyntaxError: it is no Python.
    """
    tree = ast.parse(test)
    methods = tuple(
        (one.name, item.name)
        for one in tree.body
        if isinstance(one, ast.ClassDef) and any("TestCase" in ast.unparse(base) for base in one.bases)
        for item in one.body
        if isinstance(item, ast.FunctionDef) and item.name.startswith("test")
    )
    return UnittestModule(tree, methods)


def away(test: str, reference: str) -> str:
    """The module that runs away from the program: the reference's imports, relays, the tests."""
    program = ast.parse(reference)
    imports = [ast.unparse(one) for one in program.body if isinstance(one, ast.Import | ast.ImportFrom)]
    relays = [
        f"{one.name} = _triathlon_class({one.name!r}, {_special(one)!r})"
        if isinstance(one, ast.ClassDef)
        else f"{one.name} = _triathlon_function({one.name!r}, None)"
        for one in program.body
        if isinstance(one, ast.ClassDef | ast.FunctionDef)
    ]
    return "\n".join([*imports, source("proxies"), *relays, test, source("tests")])


def _special(one: ast.ClassDef) -> list[str]:
    names = [item.name for item in one.body if isinstance(item, ast.FunctionDef)]
    left = ("__init__", "__new__", "__getattr__", "__setattr__", "__del__", "__init_subclass__")
    return [name for name in names if name.startswith("__") and name.endswith("__") and name not in left]


def beside(program: str, tests: UnittestModule) -> str:
    """The module that runs in the program's own process, without its literal answers; fills `tests.sites`."""
    tests.sites.clear()
    rewritten = ast.fix_missing_locations(_Rewriter(tests.sites).visit(ast.parse(ast.unparse(tests.tree))))
    return "\n".join([program, source("observer"), ast.unparse(rewritten), source("tests")])


class _Rewriter(ast.NodeTransformer):
    def __init__(self, sites: list[Site]) -> None:
        self._sites = sites

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        kind = _assertion(node)
        if kind == "assertRaises" and len(node.args) == 1:
            return self._observe("_TriathlonRaises", Site(kind, {}), node.args)
        if kind not in OBSERVED or len(node.args) < OBSERVED[kind]:
            return node
        operands = node.args[: OBSERVED[kind]]
        literals = {at: value for at, one in enumerate(operands) for value in _literal(one)}
        if len(literals) == len(operands):
            return node
        left = [one for at, one in enumerate(operands) if at not in literals]
        site = Site(kind, literals, _places(node))
        return self._observe("_triathlon_see", site, left)

    def _observe(self, name: str, site: Site, operands: list[ast.expr]) -> ast.Call:
        self._sites.append(site)
        number = ast.Constant(len(self._sites) - 1)
        return ast.Call(ast.Name(name, ast.Load()), [number, *operands], [])


def _assertion(node: ast.Call) -> str:
    match node.func:
        case ast.Attribute(value=ast.Name(id="self"), attr=kind):
            return kind
    return ""


def _literal(node: ast.expr) -> list[Any]:
    """The value of a literal, in a list; no value, an empty list."""
    try:
        return [ast.literal_eval(node)]
    except (ValueError, TypeError, SyntaxError):
        return []


def _places(node: ast.Call) -> int:
    given = [one.value for one in node.keywords if one.arg == "places"] + node.args[2:3]
    found = [value for one in given for value in _literal(one) if type(value) is int]
    return found[0] if found else 7
