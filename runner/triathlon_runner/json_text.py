"""JSON that servers, models and users wrote, and what pydantic finds wrong with it."""

import json
import re
from collections.abc import Mapping
from typing import Any, Final

_WORDS: Final = (
    (r"Value error, ", ""),
    (r"Input should be (?=greater|less)", "expected a number "),
    (r"Input should be", "expected"),
    (r"a valid (list|tuple)", "a list (lines that begin with `- `, or [a, b])"),
    (r"a valid dictionary.*", "a mapping (`name: value`)"),
    (r"a valid string", "text (a number or a word such as yes is text in quotes)"),
    (r"a valid integer.*", "a whole number"),
    (r"a valid boolean.*", "true or false"),
    (r"Field required", "required and not there; add it"),
    (r"String should have at least 1 character", "expected text that is not empty"),
    (r"\w+ should have at least (\d+) items? after validation.*", r"expected at least \1 of these"),
)
"""What stands in pydantic's messages, and what it means to somebody who writes the file."""


def parse_json(text: str | bytes) -> Any:
    """Returns what a JSON text holds.

    Raises:
        ValueError: it is no JSON, or is nested too deeply to be read (a hundred thousand brackets).
    """
    try:
        return json.loads(text)
    except RecursionError as error:
        raise ValueError(str(error)) from None


def in_words(fault: Mapping[str, Any]) -> str:
    """Returns what pydantic found, without its terms; of many allowed values the first two."""
    if fault["type"] == "enum":
        first, second = fault["ctx"]["expected"].replace(" or ", ", ").split(", ")[:2]
        return f"expected one of {first}, {second}, …"
    message = str(fault["msg"])
    for pattern, words in _WORDS:
        message = re.sub(f"^{pattern}" if pattern[0].isupper() else pattern, words, message)
    return message
