"""API keys: read from the environment, sent, and removed from everything else."""

import os

from triathlon_runner.endpoints._config import ApiConfig
from triathlon_runner.errors import UserError
from triathlon_runner.pasted_keys import REMOVED, remove_keys


class Secrets:
    """The keys of one model; removes them from what a server sends."""

    __slots__ = ("_values", "headers", "key")

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
        self._values = tuple(value for value in (self.key, *self.headers.values()) if len(value) > 3)

    def __repr__(self) -> str:
        return "Secrets(…)"

    def __reduce__(self) -> str:
        raise TypeError("secrets are not pickled")

    def scrub_bytes(self, raw: bytes) -> bytes:
        """Removes the keys from a reply's bytes."""
        for value in self._values:
            raw = raw.replace(value.encode(), REMOVED.encode())
        return raw

    def scrub(self, text: str) -> str:
        """Removes the keys from a text: some servers echo them."""
        for value in self._values:
            text = text.replace(value, REMOVED)
        return text

    def scrub_message(self, text: str) -> str:
        """Removes the keys from a message about a server, and all else in it that looks like one.

        Not for replies: what a model wrote is graded as it is.
        """
        return remove_keys(self.scrub(text))


def _line(variable: str, config: ApiConfig) -> str:
    """Returns what a variable of the environment holds; raises a UserError if it is more than a line."""
    value = os.environ[variable].strip()
    if not value.isprintable():
        raise UserError(f"Expected one line of text in ${variable} for {config.model!r}, got several.")
    return value
