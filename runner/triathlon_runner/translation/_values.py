"""Values that cross between languages as JSON, and when two of them are the same."""

import math
import sys
from typing import Any, Final

from triathlon_runner.languages import LANGUAGES, Language, LanguageSpec
from triathlon_runner.sandbox import Opaque

_LARGEST_EXACT: Final = 1 << 53
"""Beyond it a number of JavaScript's is not exact any more."""
_LARGEST_FLOAT: Final = int(sys.float_info.max)
"""The largest float: a larger whole number is near no expected value."""
_RELATIVE: Final = 1e-9
"""Relative error that a float may have after another language wrote it (Perl writes 15 digits)."""


def crosses(value: Any) -> bool:
    """Whether every language of the chain has this value: null, truth values, numbers, texts, lists, maps."""
    if value is None or isinstance(value, bool | str):
        return True
    if isinstance(value, int):
        return abs(value) <= _LARGEST_EXACT
    if isinstance(value, float):
        return math.isfinite(value)
    if isinstance(value, list | tuple):
        return all(map(crosses, value))
    return isinstance(value, dict) and all(
        isinstance(key, str) and crosses(item) for key, item in value.items()
    )


def plain(value: Any) -> Any:
    """The value as JSON has it: tuples become lists."""
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return {key: plain(item) for key, item in value.items()} if isinstance(value, dict) else value


def same(expected: Any, got: Any, language: Language, tolerance: float = 0.0) -> bool:
    """Whether a program of this language returned what Python's reference did.

    Numbers are compared by value, for JavaScript has one kind of them.
    """
    spec = LANGUAGES[language]
    if expected is None:
        return got is None or (isinstance(got, Opaque) and got.type == "undefined")
    if isinstance(expected, bool):
        return got is expected or (not spec.has_truth_values and _truth_of_number(got) is expected)
    if isinstance(expected, int | float):
        number = _number(got, spec)
        return number is not None and abs(expected - number) <= tolerance + _RELATIVE * abs(expected)
    if isinstance(expected, str):
        return bool(got == expected) or (not spec.has_number_type and _digits(got) == expected)
    if isinstance(expected, dict):
        return _same_map(expected, got, language, tolerance)
    return (
        isinstance(got, list | tuple)
        and len(got) == len(expected)
        and all(same(left, right, language, tolerance) for left, right in zip(expected, got, strict=True))
    )


def _same_map(expected: dict[str, Any], got: Any, language: Language, tolerance: float) -> bool:
    if LANGUAGES[language].lists_are_maps and isinstance(got, list):
        got = dict(enumerate(got))
    if not isinstance(got, dict):
        return False
    by_text = {_text(key): item for key, item in got.items()}  # PHP makes numbers of digits
    return by_text.keys() == expected.keys() and all(
        same(item, by_text[key], language, tolerance) for key, item in expected.items()
    )


def _number(got: Any, spec: LanguageSpec) -> float | None:
    if isinstance(got, str) and not spec.has_number_type:
        try:
            got = float(got)
        except ValueError:
            return None
    if isinstance(got, bool) or not isinstance(got, int | float):
        return None
    if isinstance(got, int):
        return got if abs(got) <= _LARGEST_FLOAT else None
    return got if math.isfinite(got) else None


def _truth_of_number(got: Any) -> bool | None:
    """The truth value that a language without booleans means: 1 for true; 0, "" or nothing for false."""
    if got in (1, "1"):
        return True
    return False if got is None or got in (0, "0", "") else None


def _digits(got: Any) -> str:
    return _text(got) if isinstance(got, int) and not isinstance(got, bool) else ""


def _text(value: Any) -> str:
    """A key or number as text; empty for an int of more digits than Python writes."""
    try:
        return str(value)
    except ValueError:
        return ""
