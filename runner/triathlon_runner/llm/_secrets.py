"""Keys: how they are removed from messages and evidence in every encoding."""

import base64
import os
import re
from collections.abc import Iterable

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
    """Patterns of a key whose characters are each written in any way, and of the key in base64 and in hex."""
    raw = key.encode()
    forms = {f"(?i:{''.join(map(_any_form, key))})", f"(?i:{raw.hex()})"}
    for offset in range(3):  # where in a group of three bytes the key begins; the ends depend on neighbours
        encoded = base64.b64encode(b"\0" * offset + raw).decode()
        inner = encoded[-(-8 * offset // 6) : 8 * (offset + len(raw)) // 6]
        if len(inner) >= _SHORTEST_SCRUBBED:
            forms |= {re.escape(inner), re.escape(inner.translate(str.maketrans("+/", "-_")))}
    return forms


def _any_form(character: str) -> str:
    r"""A character as it is, or as JSON (`\u002f`), an address (`%2F`) or HTML (`&#47;`) has it.

    A NUL may follow, as in UTF-16. Repetitions are bounded: time is in proportion to the text.
    """
    number = ord(character)
    in_address = "".join(f"%(?:25){{0,3}}{byte:02x}" for byte in character.encode())
    return (
        rf"(?:\\{{0,4}}(?:{re.escape(character)}|u{number:04x}|x{number:02x})|{in_address}"
        rf"|&#(?:0{{0,4}}{number}|x0{{0,4}}{number:x});?{r'|[+]' * (character == ' ')})\0?"
    )


def _line(variable: str, config: ApiConfig) -> str:
    """Returns what a variable of the environment holds; raises a UserError if it is more than a line."""
    value = os.environ[variable].strip()
    if not value.isprintable():
        raise UserError(f"Expected one line of text in ${variable} for {config.model!r}, got several.")
    return value
