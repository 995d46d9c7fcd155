"""What a provider is, and the table of those that are known.

A provider is one module in `providers/` and one line in `PROVIDERS`.
"""

import importlib
from collections.abc import Mapping
from typing import Protocol, cast

from triathlon_runner.endpoints._client import Client, HttpReply
from triathlon_runner.endpoints._config import ApiConfig
from triathlon_runner.endpoints._provider_table import PROVIDERS
from triathlon_runner.endpoints._reply import ParsedReply
from triathlon_runner.endpoints._request import Question, Request
from triathlon_runner.endpoints._server_info import ServerInfo


class Provider(Protocol):
    """How one kind of server is asked. Made with the row's `api:` block as its only argument."""

    def headers(self, key: str) -> Mapping[str, str]:
        """Returns the headers of every request: those that show the key, and what else the server wants."""
        ...

    def request(self, question: Question) -> Request:
        """Returns the request for a question, without the settings that the row calls unsupported.

        Raises:
            ModelUnavailableError: such questions cannot be asked of this provider at all.
        """
        ...

    def read(self, request: Request, reply: HttpReply) -> ParsedReply:
        """Returns what a reply says, whatever its status.

        Raises:
            Retryable: another attempt may do better.
            EndpointError: another attempt cannot; `ModelUnavailableError` where no question can.
        """
        ...

    async def server_info(self, client: Client) -> ServerInfo:
        """Asks the server who is behind its address; what it does not tell is left empty."""
        ...


class _MakesProvider(Protocol):
    def __call__(self, config: ApiConfig) -> Provider: ...


def open_provider(config: ApiConfig) -> Provider:
    """Returns the provider that a row names; `ApiConfig` has checked that it is in the table."""
    module, _, name = PROVIDERS[config.provider].partition(":")
    make = cast(_MakesProvider, getattr(importlib.import_module(module), name))
    return make(config)
