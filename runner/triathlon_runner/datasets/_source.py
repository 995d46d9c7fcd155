"""Values as Python source text that evaluates to them."""

import math
import re
import sys
from functools import singledispatch
from typing import Any, Final

_NEEDS_VALUE_SOURCE: Final = re.compile(r"inf|nan|\{")
"""Where `repr` may not evaluate to the value, or has no fixed order (sets); elsewhere it is much faster."""


def arguments_source(arguments: list[Any] | tuple[Any, ...]) -> str:
    """The source of a tuple that holds the arguments of one call, plain data."""
    try:
        text = repr(tuple(arguments))
    except ValueError:  # an int of more digits than Python writes
        return value_source(tuple(arguments))
    return value_source(tuple(arguments)) if _NEEDS_VALUE_SOURCE.search(text) else text


@singledispatch
def value_source(value: Any) -> str:
    """Source text of plain data; unlike `repr` also of inf and nan, and of sets in a fixed order."""
    raise TypeError(f"no source text for a {type(value).__name__}")


@value_source.register(type(None))
@value_source.register(bool)
@value_source.register(str)
def _(value: Any) -> str:
    return repr(value)


@value_source.register(int)
def _(value: int) -> str:
    # Beyond the interpreter's limit on digits neither repr nor the reader accepts decimal.
    limit = sys.get_int_max_str_digits()
    return hex(value) if limit and value.bit_length() > 3 * limit else repr(value)


@value_source.register(float)
def _(value: float) -> str:
    return repr(value) if math.isfinite(value) else f"float({repr(value)!r})"


@value_source.register(complex)
def _(value: complex) -> str:
    return f"complex({value_source(value.real)}, {value_source(value.imag)})"


@value_source.register(list)
def _(value: list[Any]) -> str:
    return f"[{', '.join(map(value_source, value))}]"


@value_source.register(tuple)
def _(value: tuple[Any, ...]) -> str:
    inside = ", ".join(map(value_source, value))
    return f"({inside},)" if len(value) == 1 else f"({inside})"


@value_source.register(set)
def _(value: set[Any]) -> str:
    # Sorted by text: the order of a set of strings differs from process to process.
    return f"{{{', '.join(sorted(map(value_source, value)))}}}" if value else "set()"


@value_source.register(dict)
def _(value: dict[Any, Any]) -> str:
    pairs = (f"{value_source(key)}: {value_source(item)}" for key, item in value.items())
    return f"{{{', '.join(pairs)}}}"
