"""Values as text for a reader of verdicts."""

from typing import Final

SHOWN: Final = 500
"""Characters of a value that a verdict keeps."""


def shown(value: object) -> str:
    """A value as text, shortened; never fails, however large the value."""
    try:
        return shorten(repr(value))
    except ValueError:  # an int of more digits than Python writes
        return f"<{type(value).__name__} with an int too long to write>"


def shorten(text: str) -> str:
    """The beginning of a text, as characters that every record can hold."""
    text = text[: SHOWN + 1].encode("utf-8", "backslashreplace").decode()
    return text if len(text) <= SHOWN else text[: SHOWN - 1] + "…"
