"""Tests as code whose own reference misses a literal by rounding: they compare floats within 1e-9.

From Python 3.12 on `sum` of floats is more exact, so that three references of MBPP Pro miss the literals of
their tests by the last digit there (MbppPro/36, 117 and 260).
"""

import ast
from typing import Final

NOTE: Final = "floats compared within 1e-9, since the reference misses its own test by rounding"
"""Stands in the verdict of every program that is graded so."""
_CLOSE: Final = """
def _triathlon_close(left, right):
    import cmath
    if left == right:
        return True
    if isinstance(left, float | complex) or isinstance(right, float | complex):
        numbers = isinstance(left, int | float | complex) and isinstance(right, int | float | complex)
        return numbers and cmath.isclose(left, right, rel_tol=1e-9)
    if type(left) is not type(right) or not isinstance(left, list | tuple | dict) or len(left) != len(right):
        return False
    if isinstance(left, dict):
        return all(key in right and _triathlon_close(left[key], right[key]) for key in left)
    return all(map(_triathlon_close, left, right))
"""


def with_close_comparisons(tests: str) -> str:
    """Returns the tests with each `==` of their assertions taken for floats within a relative 1e-9.

    Raises:
        SyntaxError: they do not parse.
    """
    module = ast.parse(tests)
    for node in ast.walk(module):
        if isinstance(node, ast.Assert):
            node.test = _Comparisons().visit(node.test)
    is_future = [isinstance(each, ast.ImportFrom) and each.module == "__future__" for each in module.body]
    start = len(is_future) - is_future[::-1].index(True) if True in is_future else 0
    module.body[start:start] = ast.parse(_CLOSE).body
    return ast.unparse(ast.fix_missing_locations(module))


class _Comparisons(ast.NodeTransformer):
    """Replaces `a == b` by a call."""

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        self.generic_visit(node)
        if len(node.ops) != 1 or not isinstance(node.ops[0], ast.Eq):
            return node
        return ast.Call(ast.Name("_triathlon_close", ast.Load()), [node.left, *node.comparators], [])
