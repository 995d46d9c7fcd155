"""Keys: where each may be sent, and how they are removed from messages and evidence in every encoding."""

import base64
import os
import re
from collections.abc import Iterable
from urllib.parse import quote, quote_plus

from triathlon_runner.errors import UserError
from triathlon_runner.llm.provider import ApiConfig
from triathlon_runner.pasted_keys import REMOVED, remove_keys

_SHORTEST_SCRUBBED, _SHORTEST_IN_EVIDENCE = 4, 12
"""Characters of a key that is removed from messages; from evidence, where `EMPTY` is a word like others."""


class Secrets:
    """The keys of one model, read from the environment; removes them from messages and evidence."""

    def __init__(self, config: ApiConfig) -> None:
        """Reads the variables that the row names.

        Raises:
            UserError: one of them is not set, or holds several lines.
        """
        if missing := config.missing_variables():
            names = ", ".join(f"${name}" for name in missing)
            raise UserError(f"Expected the environment to hold {names} for {config.model!r}: not set.")
        self.key = _line(config.key_env, config) if config.key_env else ""
        """Empty where the server wants none."""
        self.headers = {header: _line(name, config) for header, name in config.secret_headers.items()}
        """Headers whose values are secret."""
        values = sorted({self.key, *self.headers.values()}, key=len, reverse=True)
        self._in_messages = _pattern(value for value in values if len(value) >= _SHORTEST_SCRUBBED)
        self._in_evidence = _pattern(value for value in values if len(value) >= _SHORTEST_IN_EVIDENCE)

    def __reduce__(self) -> str:
        raise TypeError("secrets are not pickled")

    def scrub_message(self, text: str) -> str:
        """Removes the keys from a message about a server, and all else in it that looks like one.

        Not for replies: what a model wrote is graded as it is.
        """
        return remove_keys(self._in_messages.sub(REMOVED, text))

    def scrub_evidence(self, text: str) -> str:
        """Removes the keys from what a program returned: a server may have sent them inside a program."""
        return self._in_evidence.sub(REMOVED, text)


def _pattern(keys: Iterable[str]) -> re.Pattern[str]:
    """Matches keys in every encoding that a server may give them back in."""
    forms = [form for key in keys for form in _forms(key)]
    return re.compile("|".join(sorted(forms, key=len, reverse=True)) or "(?!)")


def _forms(key: str) -> set[str]:
    r"""Patterns of a key as it is, in JSON (`\/`, `\u0041`), in an address, in base64 and in hex."""
    raw = key.encode()
    json_form = "".join(
        (r"(?:\\?" if each in '"\\/' else "(?:") + rf"{re.escape(each)}|\\u(?i:{ord(each):04x}))"
        if ord(each) < 0x10000
        else re.escape(each)
        for each in key
    )
    forms = {json_form, re.escape(repr(key)[1:-1])}
    forms |= {
        f"(?i:{re.escape(form)})" for form in (quote(key, safe=""), quote(key), quote_plus(key), raw.hex())
    }
    forms.add("".join(f"%(?i:{byte:02x})" for byte in raw))
    for offset in range(3):  # where in a group of three bytes the key begins; the ends depend on neighbours
        encoded = base64.b64encode(b"\0" * offset + raw).decode()
        inner = encoded[-(-8 * offset // 6) : 8 * (offset + len(raw)) // 6]
        if len(inner) >= _SHORTEST_SCRUBBED:
            forms |= {re.escape(inner), re.escape(inner.translate(str.maketrans("+/", "-_")))}
    return forms


def _line(variable: str, config: ApiConfig) -> str:
    """Returns what a variable of the environment holds; raises a UserError if it is more than a line."""
    value = os.environ[variable].strip()
    if not value.isprintable():
        raise UserError(f"Expected one line of text in ${variable} for {config.model!r}, got several.")
    return value
