"""Appended to a program whose classes are tested from another process, which knows its objects by number."""

from typing import Any

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
