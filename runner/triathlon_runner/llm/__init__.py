"""Asking models: `async ask(prompt) -> Answer` through the `openai` package, a file a provider."""

from typing import Annotated, Any, Final

from pydantic import BeforeValidator

from triathlon_runner.llm._api import (
    CHARACTERS_A_TOKEN,
    Answer,
    Chat,
    Completion,
    EndpointError,
    EndpointStats,
    Message,
    Model,
    ModelKind,
    ModelSettings,
    ModelUnavailableError,
    Sampling,
    ServerUnreachableError,
)
from triathlon_runner.llm._cache import CacheError, ReplyCache
from triathlon_runner.llm._model import OpenModel, open_model
from triathlon_runner.llm._queue import Limits
from triathlon_runner.llm.anthropic import Anthropic
from triathlon_runner.llm.openai_chat import OpenAI
from triathlon_runner.llm.probe import Found, probe, probed
from triathlon_runner.llm.provider import ApiConfig, is_loopback

PROVIDERS: Final[dict[str, type[ApiConfig]]] = {"openai": OpenAI, "anthropic": Anthropic}
"""By the name in models.yaml."""


def _by_provider(block: Any) -> Any:
    """Returns an `api:` block as its provider's class, which knows the provider's own options."""
    if not isinstance(block, dict):
        return block
    name = block.get("provider", "openai")
    if name not in PROVIDERS:
        raise ValueError(f"expected `provider` to be one of {', '.join(PROVIDERS)}, got {name!r}")
    for other, config in PROVIDERS.items():
        for option in config.model_fields.keys() & block.keys() - PROVIDERS[name].model_fields.keys():
            raise ValueError(f"{option!r} is an option of provider {other}, not of {name}; remove it")
    return PROVIDERS[name].model_validate(block)


ApiBlock = Annotated[ApiConfig, BeforeValidator(_by_provider)]
"""The `api:` block of a row of models.yaml, of whichever provider."""
