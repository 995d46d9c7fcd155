"""Values as Python source text that evaluates to them."""

import math
import re
import sys
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


def value_source(value: Any) -> str:
    """Source text of plain data; unlike `repr` also of inf and nan, and of sets in a fixed order."""
    match value:
        case None | bool() | str():
            text = repr(value)
        case int():  # beyond the interpreter's limit on digits neither repr nor the reader accepts decimal
            limit = sys.get_int_max_str_digits()
            text = hex(value) if limit and value.bit_length() > 3 * limit else repr(value)
        case float():
            text = repr(value) if math.isfinite(value) else f"float({repr(value)!r})"
        case complex():
            text = f"complex({value_source(value.real)}, {value_source(value.imag)})"
        case list():
            text = f"[{', '.join(map(value_source, value))}]"
        case tuple():
            inside = ", ".join(map(value_source, value))
            text = f"({inside},)" if len(value) == 1 else f"({inside})"
        case set():  # sorted by text: the order of a set of strings differs from process to process
            text = f"{{{', '.join(sorted(map(value_source, value)))}}}" if value else "set()"
        case dict():
            pairs = (f"{value_source(key)}: {value_source(item)}" for key, item in value.items())
            text = f"{{{', '.join(pairs)}}}"
        case _:
            raise TypeError(f"no source text for a {type(value).__name__}")
    return text
