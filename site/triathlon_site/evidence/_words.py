"""Which words changed from one prompt to the next."""

import re
from difflib import SequenceMatcher
from functools import lru_cache
from typing import Final, Literal, NamedTuple

_TOKENS: Final = re.compile(r"\s+|\w+|[^\w\s]")
LONGEST: Final = 600
"""Tokens from which on a comparison costs more than it shows."""


class Words(NamedTuple):
    """A run of text that stayed, came or went."""

    kind: Literal["same", "new", "gone"]
    text: str


@lru_cache(maxsize=4096)
def changed_words(before: str, after: str) -> list[Words]:
    """`after` with what is new marked, and what went in its place; unmarked where the texts are long.

    Cached, because all models are asked the same and a comparison takes milliseconds.
    """
    old, new = _TOKENS.findall(before), _TOKENS.findall(after)
    if len(old) > LONGEST or len(new) > LONGEST:
        return [Words("same", after)]
    runs = []
    for operation, i1, i2, j1, j2 in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if operation == "equal":
            runs.append(Words("same", "".join(new[j1:j2])))
            continue
        if (gone := "".join(old[i1:i2])).strip():
            runs.append(Words("gone", gone))
        if j2 > j1:
            runs.append(Words("new", "".join(new[j1:j2])))
    return runs
