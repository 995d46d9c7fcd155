"""Stands in front of class tests: proxies of the classes and functions of a program in another process.

Only plain data comes back, so nothing that the program made is ever an operand of an assertion here.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # answered by the program's process
    from .candidate import _triathlon_access


class _TriathlonRelay(type):
    """The class of a relay: its attributes are those of the program's class."""

    def __getattr__(cls, name: str) -> Any:
        return _triathlon_attribute(cls.__name__, name)


def _triathlon_attribute(target: int | str, name: str) -> Any:
    if name.startswith("__") and name.endswith("__"):
        raise AttributeError(name)
    callable_, value = _triathlon_access("get", target, name, [], {})
    return _triathlon_function(target, name) if callable_ else value


def _triathlon_function(target: int | str, name: str | None) -> Callable[..., Any]:
    return lambda *arguments, **options: _triathlon_access("call", target, name, list(arguments), options)


def _triathlon_init(self: Any, *arguments: Any, **options: Any) -> None:
    number = _triathlon_access("make", type(self).__name__, None, list(arguments), options)
    object.__setattr__(self, "_triathlon_number", number)


def _triathlon_set(self: Any, name: str, value: Any) -> None:
    _triathlon_access("set", self._triathlon_number, name, [value], {})


def _triathlon_special(name: str) -> Callable[..., Any]:
    def relay(self: Any, *arguments: Any) -> Any:
        return _triathlon_access("call", self._triathlon_number, name, list(arguments), {})

    return relay


def _triathlon_class(name: str, special: list[str]) -> type:
    """A relay for one class; `special`: its methods that operators and built-ins call, such as `__len__`."""
    members: dict[str, Any] = {method: _triathlon_special(method) for method in special}
    members |= {
        "__init__": _triathlon_init,
        "__getattr__": lambda self, member: _triathlon_attribute(self._triathlon_number, member),
        "__setattr__": _triathlon_set,
    }
    return _TriathlonRelay(name, (), members)


def _triathlon_test(class_name: str, method: str) -> list[str]:
    """Runs one test method: `passed`, `failed` (an assertion did not hold) or `crashed`, and why."""
    import unittest  # noqa: PLC0415 (the names of this module are the tests')

    names: dict[str, Any] = globals()
    result = unittest.TestResult()
    unittest.TestSuite([names[class_name](method)]).run(result)
    for outcome, faults in (("crashed", result.errors), ("failed", result.failures)):
        for _, text in faults:
            return [outcome, text.strip().splitlines()[-1][:500]]
    return ["passed", ""]
