"""Appended to a program whose classes are tested from another process, which knows its objects by number."""

from typing import Any

_triathlon_objects: list[Any] = []


def _triathlon_make(name: str, arguments: list[Any], options: dict[str, Any]) -> int:
    """A new object of one of the program's classes; its number."""
    _triathlon_objects.append(globals()[name](*arguments, **options))
    return len(_triathlon_objects) - 1


def _triathlon_of(target: int | str) -> Any:
    """An object by its number, a class or function by its name."""
    return globals()[target] if isinstance(target, str) else _triathlon_objects[target]


def _triathlon_get(target: int | str, name: str) -> tuple[bool, Any]:
    """Whether an attribute is there to be called, and its value where it is not."""
    value = getattr(_triathlon_of(target), name)
    return (True, None) if callable(value) else (False, value)


def _triathlon_set(target: int | str, name: str, value: Any) -> None:
    setattr(_triathlon_of(target), name, value)


def _triathlon_call(
    target: int | str, name: str | None, arguments: list[Any], options: dict[str, Any]
) -> Any:
    """Calls a method, or the target itself."""
    value = _triathlon_of(target)
    return (value if name is None else getattr(value, name))(*arguments, **options)
