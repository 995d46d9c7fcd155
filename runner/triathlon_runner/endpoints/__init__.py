"""Asking models: over the OpenAI protocol, chat and completions."""

from triathlon_runner.endpoints._api import Answer, Chat, Completion, EndpointError, Message, Model, Sampling

__all__ = ["Answer", "Chat", "Completion", "EndpointError", "Message", "Model", "Sampling"]
