"""Keys of everything that is derived and stored: answer keys, checked references, questions, verdicts."""

import hashlib
import json
import re
import sys
from contextlib import suppress
from dataclasses import asdict, is_dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, requires, version
from typing import Final

from triathlon_runner.engine_version import ENGINE_VERSION

_HEX_DIGITS: Final = 40


def python_version() -> str:
    """Returns the version of the Python that programs run in, as `3.11`: it is the runner's own.

    Results depend on it: from 3.12 on `sum` of floats rounds otherwise, and comprehensions have no frame.
    """
    return f"{sys.version_info.major}.{sys.version_info.minor}"


@cache
def library_versions() -> dict[str, str]:
    """Returns the versions of the libraries that programs may import: NumPy, and what `official` installs."""
    stated = [text for text in requires("triathlon-leaderboard") or () if "official" in text]
    names = ["numpy", *(re.split(r"[^\w.-]", text, maxsplit=1)[0] for text in stated)]
    installed = {}
    for name in names:
        with suppress(PackageNotFoundError):
            installed[name] = version(name)
    return installed


def memo_key(kind: str, *inputs: object) -> str:
    """Returns the name under which a derived value is stored; no other version's value has it.

    It is a hash of the versions of the engine, of the Python that programs run in and of the libraries that
    they may import, of `kind` and of `inputs`.

    Args:
        kind: What is derived, with the version of its format.
        inputs: Everything that the value depends on: whole problems, never their ids alone.
    """
    parts = [kind, ENGINE_VERSION, python_version(), library_versions(), *inputs]
    text = json.dumps(parts, sort_keys=True, default=_plain)
    return hashlib.sha256(text.encode()).hexdigest()[:_HEX_DIGITS]


def _plain(value: object) -> object:
    """Returns what JSON lacks in its terms: problems, and sets of names in order."""
    if is_dataclass(value) and not isinstance(value, type):
        return {type(value).__name__: asdict(value)}
    if isinstance(value, set | frozenset):
        return sorted(value)
    raise TypeError(f"expected a value that a key can be made of, got {value!r:.80}")
