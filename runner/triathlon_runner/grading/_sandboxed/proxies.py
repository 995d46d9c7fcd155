"""Stands in front of class tests: proxies of the classes and functions of a program in another process.

Only plain data comes back, so nothing that the program made is ever an operand of an assertion here.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # answered by the program's process
    from .candidate import _triathlon_call, _triathlon_get, _triathlon_make, _triathlon_set


class _TriathlonRelay(type):
    """The class of a relay: its attributes are those of the program's class."""

    def __getattr__(cls, name: str) -> Any:
        return _triathlon_attribute(cls.__name__, name)


def _triathlon_attribute(target: int | str, name: str) -> Any:
    if name.startswith("__") and name.endswith("__"):
        raise AttributeError(name)
    callable_, value = _triathlon_get(target, name)
    return _triathlon_function(target, name) if callable_ else value


def _triathlon_function(target: int | str, name: str | None) -> Callable[..., Any]:
    def relay(*arguments: Any, **options: Any) -> Any:
        return _triathlon_call(target, name, list(arguments), options)

    return relay


def _triathlon_init(self: Any, *arguments: Any, **options: Any) -> None:
    number = _triathlon_make(type(self).__name__, list(arguments), options)
    object.__setattr__(self, "_triathlon_number", number)


def _triathlon_special(name: str) -> Callable[..., Any]:
    def relay(self: Any, *arguments: Any) -> Any:
        return _triathlon_call(self._triathlon_number, name, list(arguments), {})

    return relay


def _triathlon_class(name: str, special: list[str]) -> type:
    """A relay for one class; `special`: its methods that operators and built-ins call, such as `__len__`."""
    members: dict[str, Any] = {method: _triathlon_special(method) for method in special}
    members |= {
        "__init__": _triathlon_init,
        "__getattr__": lambda self, member: _triathlon_attribute(self._triathlon_number, member),
        "__setattr__": lambda self, member, value: _triathlon_set(self._triathlon_number, member, value),
    }
    return _TriathlonRelay(name, (), members)
