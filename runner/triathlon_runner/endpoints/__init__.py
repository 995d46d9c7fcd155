"""Asking models: through the `openai` package, one module a provider."""

from triathlon_runner.endpoints._api import (
    Answer,
    Asking,
    CacheError,
    Chat,
    Completion,
    EndpointError,
    Message,
    Model,
    ModelKind,
    ModelUnavailableError,
    Sampling,
    ServerUnreachableError,
    asking,
)
from triathlon_runner.endpoints._cache import CacheInfo, ReplyCache
from triathlon_runner.endpoints._config import ApiConfig, Limits, is_loopback
from triathlon_runner.endpoints._model import OpenAIModel, open_model
from triathlon_runner.endpoints._stats import CHARACTERS_A_TOKEN, EndpointStats

__all__ = [
    "CHARACTERS_A_TOKEN",
    "Answer",
    "ApiConfig",
    "Asking",
    "CacheError",
    "CacheInfo",
    "Chat",
    "Completion",
    "EndpointError",
    "EndpointStats",
    "Limits",
    "Message",
    "Model",
    "ModelKind",
    "ModelUnavailableError",
    "OpenAIModel",
    "ReplyCache",
    "Sampling",
    "ServerUnreachableError",
    "asking",
    "is_loopback",
    "open_model",
]
