"""Source text of a class test: answers of the program, behind it, and proxies for the tests, before them.

The tests' process knows the program's objects by number. Only plain data comes back, so nothing that the
program made is ever an operand of an assertion.
"""

from collections.abc import Callable
from typing import Any

# In the program's process

_triathlon_objects: list[Any] = []


def _triathlon_access(
    action: str, target: int | str, name: str | None, arguments: list[Any], options: dict[str, Any]
) -> Any:
    """Makes an object, or gets, sets or calls an attribute; without a name the target itself is called.

    The target is an object by its number, or a class or function by its name. Returned are a new object's
    number; whether an attribute is there to be called, and its value where it is not; what a call returned.
    """
    value = globals()[target] if isinstance(target, str) else _triathlon_objects[target]
    if action == "make":
        _triathlon_objects.append(value(*arguments, **options))
        return len(_triathlon_objects) - 1
    if action == "set":
        return setattr(value, str(name), arguments[0])
    if name is not None:
        value = getattr(value, name)
    if action == "get":
        return (True, None) if callable(value) else (False, value)
    return value(*arguments, **options)


# In the tests' process, where the sandbox puts a relay in the place of `_triathlon_access`


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
        "__setattr__": lambda self, member, value: _triathlon_access(
            "set", self._triathlon_number, member, [value], {}
        ),
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
