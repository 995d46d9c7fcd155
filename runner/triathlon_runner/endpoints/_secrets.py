"""API keys: read from the environment, sent, and removed from everything else."""

import os
from collections.abc import Mapping

from triathlon_runner.endpoints._config import ApiConfig
from triathlon_runner.errors import UserError
from triathlon_runner.pasted_keys import REMOVED, remove_keys


class Secrets:
    """The keys of one model; removes them from what a server sends."""

    __slots__ = ("_headers", "_key", "_values")

    def __init__(
        self, config: ApiConfig, environment: Mapping[str, str] = os.environ, *, key: str = ""
    ) -> None:
        """Reads the variables that the row names; `key` is that of a server that we started.

        Raises:
            UserError: one of them is not set.
        """
        if missing := config.missing_variables(environment):
            names = ", ".join(f"${name}" for name in missing)
            raise UserError(f"Expected the environment to hold {names} for {config.model!r}: not set.")
        self._key = environment[config.key_env].strip() if config.key_env else key
        self._headers = {
            name: environment[variable].strip() for name, variable in config.secret_headers.items()
        }
        for name in (config.key_env, *config.secret_headers.values()):
            if name is not None and not environment[name].strip().isprintable():
                raise UserError(f"Expected one line of text in ${name} for {config.model!r}, got several.")
        self._values = tuple(value for value in (self._key, *self._headers.values()) if len(value) > 3)

    def __repr__(self) -> str:
        return "Secrets(…)"

    def __reduce__(self) -> str:
        raise TypeError("secrets are not pickled")

    @property
    def key(self) -> str:
        """The key, empty where the server wants none."""
        return self._key

    @property
    def headers(self) -> dict[str, str]:
        """Headers whose values are secret."""
        return dict(self._headers)

    def scrub_bytes(self, raw: bytes) -> bytes:
        """Removes the keys from a reply's bytes."""
        for value in self._values:
            if value.encode() in raw:
                raw = raw.replace(value.encode(), REMOVED.encode())
        return raw

    def scrub(self, text: str) -> str:
        """Removes the keys from a text: some servers echo them."""
        for value in self._values:
            if value in text:
                text = text.replace(value, REMOVED)
        return text

    def scrub_message(self, text: str) -> str:
        """Removes the keys from a message about a server, and all else in it that looks like one.

        Not for replies: what a model wrote is graded as it is.
        """
        return remove_keys(self.scrub(text))
