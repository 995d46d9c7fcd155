"""Types of values as far as they matter for feeding one function's result to another."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce
from typing import Any


@dataclass(frozen=True, slots=True)
class Type:
    """A built-in type, with the types of what it holds; without parts where nothing was ever in it."""

    name: str
    parts: tuple["Type", ...] = ()

    def __str__(self) -> str:
        return f"{self.name}[{', '.join(map(str, self.parts))}]" if self.parts else self.name


MIXED = Type("mixed")
"""Values of different types: equal to no other type, not even to itself."""


def type_of(value: Any) -> Type:
    """The type of one plain value; int and bool are two types."""
    if isinstance(value, dict):
        if not value:
            return Type("dict")
        return Type("dict", (common_type(map(type_of, value)), common_type(map(type_of, value.values()))))
    if isinstance(value, list | set | tuple):
        inside = (common_type(map(type_of, value)),) if value else ()
        return Type(type(value).__name__, inside)
    return Type(type(value).__name__)


def common_type(types: Iterable[Type]) -> Type:
    """The one type that all these are, where what is empty is any; `MIXED` where there is none."""
    return reduce(_join, types)


def _join(left: Type, right: Type) -> Type:
    if left.name != right.name:
        return MIXED
    if not left.parts or not right.parts:
        return left if left.parts else right
    return Type(left.name, tuple(map(_join, left.parts, right.parts)))


def fits(result: Type, argument: Type) -> bool:
    """Whether results of the one type are arguments of the other."""
    if MIXED in (result, argument) or result.name != argument.name:
        return False
    return not result.parts or not argument.parts or all(map(fits, result.parts, argument.parts))
