"""The interface of a provider: builds requests, reads replies, asks which model is served.

A provider is one module in `providers/` and one line in `PROVIDERS`; all that such a module needs is here.
"""

import functools
import importlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from triathlon_runner.endpoints._api import Chat, Completion, Sampling
from triathlon_runner.endpoints._config import ApiConfig
from triathlon_runner.endpoints._stats import estimated_tokens
from triathlon_runner.endpoints.providers import PROVIDERS
from triathlon_runner.records import Reply, Usage

_TO_JSON = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode


@dataclass(frozen=True, slots=True)
class Question:
    """A question, independent of any provider."""

    prompt: Chat | Completion
    sampling: Sampling
    """Its token limit includes the row's `reasoning_max_tokens`."""

    @property
    def is_chat(self) -> bool:
        """Whether the reply is a message; else it is a text."""
        return isinstance(self.prompt, Chat)

    @property
    def estimated_tokens(self) -> int:
        """About how many tokens are sent, by the length of the texts."""
        if isinstance(self.prompt, Completion):
            return estimated_tokens(self.prompt.text)
        return estimated_tokens(*(message.content for message in self.prompt.messages))


@dataclass(frozen=True)
class Request:
    """One question, ready to be sent to one provider."""

    question: Question
    path: str
    """Below the base URL."""
    body: dict[str, Any]

    @functools.cached_property
    def payload(self) -> bytes:
        """The body as it is sent and as the cache knows it: sorted, and a lone surrogate as an escape."""
        text = _TO_JSON(self.body)
        try:
            return text.encode()
        except UnicodeEncodeError:
            return json.dumps(self.body, sort_keys=True, separators=(",", ":")).encode()

    @property
    def estimated_tokens(self) -> int:
        """About how many tokens question and longest reply take together."""
        return self.question.estimated_tokens + self.question.sampling.max_tokens


@dataclass(frozen=True, slots=True)
class ParsedReply:
    """What a reply says."""

    reply: Reply
    usage: Usage
    served_model: str
    is_empty: bool = False
    """The server sent a whole reply without any content."""


@dataclass(frozen=True, slots=True)
class HttpReply:
    """A reply, whatever its status."""

    status: int
    body: bytes
    headers: Mapping[str, str]


class Client(Protocol):
    """Sends requests to one model's server. `post` takes bytes, so that the cache's key has what is sent."""

    async def post(self, path: str, body: bytes) -> HttpReply:
        """Sends a JSON body to a path below the base URL, or to a whole address.

        Raises:
            Unreachable: no whole reply came.
        """
        ...

    async def get(self, path: str) -> HttpReply:
        """Sends a GET request without a body; see `post`."""
        ...


@dataclass(frozen=True, slots=True)
class ServerInfo:
    """What a server reports about the model that it serves; empty fields where it does not."""

    server: str = ""
    """Kind of server: `vllm`, `llama.cpp` or `ollama`; empty for OpenRouter, which has `hosts`."""
    version: str = ""
    """Of the server; a newer one serves the same model."""
    digest: str = ""
    """Of the weights."""
    quantization: str = ""
    context: int | None = None
    """Tokens that prompt and reply may have together."""
    how_to_raise: str = ""
    """What to set where the context is too short."""
    is_models_limit: bool = False
    """The model was trained with no longer context; the server reports an error for longer prompts."""
    hosts: str = ""
    """OpenRouter's hosts, of which it chooses one for each request, with their quantisations."""

    @property
    def name(self) -> str:
        """Server and version, or the hosts that may answer; empty where nothing is known."""
        return " ".join((self.hosts or f"{self.server} {self.version}").split())

    @property
    def identity(self) -> str:
        """One line with all that makes it another model if it changes; empty where nothing is known.

        Without OpenRouter's hosts: the list changes often, and those that the row pins are in its `body`.
        """
        parts = {
            "server": self.server,
            "digest": self.digest,
            "quantization": self.quantization,
            "context": None if self.hosts else self.context,
        }
        return ", ".join(f"{name} {value}" for name, value in parts.items() if value)


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
        """Asks the server which model it serves; what it does not report is left empty."""
        ...


def open_provider(config: ApiConfig) -> Provider:
    """Returns the provider that a row names; `ApiConfig` has checked that it is in the table."""
    module, _, name = PROVIDERS[config.provider].partition(":")
    provider: Provider = getattr(importlib.import_module(module), name)(config)
    return provider
