"""Stands before tests that run in the program's own process: they only report what they see.

The tests' assertions are rewritten: each hands its operands, but for literal ones, which were taken out of
the text, to `_triathlon_see`. Whether they hold is decided elsewhere, from what is reported.
"""

from types import TracebackType
from typing import Any

_triathlon_seen: list[Any] = []


def _triathlon_see(site: int, *operands: Any) -> None:
    """One assertion was reached; its operands are kept as they are now."""
    _triathlon_seen.append([site, [_triathlon_copy(one) for one in operands]])


def _triathlon_copy(value: Any, depth: int = 0) -> Any:
    """A value as plain data: classes by name, objects by their class and what they hold."""
    kind = type(value)
    if depth > 50 or kind in (bool, int, float, complex, str, bytes, type(None)):
        return value
    if kind in (list, tuple, set, frozenset):
        return kind(_triathlon_copy(one, depth + 1) for one in value)
    if kind is dict:
        return {_triathlon_copy(key, depth + 1): _triathlon_copy(value[key], depth + 1) for key in value}
    if isinstance(value, type):
        return f"<class {value.__module__}.{value.__qualname__}>"
    if kind.__module__ == __name__ and hasattr(value, "__dict__"):
        return {"triathlon object": kind.__qualname__, "holds": _triathlon_copy(vars(value), depth + 1)}
    return value


class _TriathlonRaises:
    """Stands for `assertRaises` as a context."""

    def __init__(self, site: int, *expected: Any) -> None:
        self._site = site
        self._expected = expected[0]

    def __enter__(self) -> "_TriathlonRaises":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _trace: TracebackType | None
    ) -> bool:
        self.exception = error
        good = kind is not None and issubclass(kind, self._expected)
        _triathlon_see(self._site, good)
        return good


def _triathlon_report(class_name: str, method: str) -> list[Any]:
    """Runs one test method: how it ended, and what its assertions saw, in order."""
    _triathlon_seen.clear()
    ended = globals()["_triathlon_test"](class_name, method)
    return [ended, list(_triathlon_seen)]
