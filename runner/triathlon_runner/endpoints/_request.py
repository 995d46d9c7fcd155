"""A question, and the request that a provider makes of it."""

import functools
import json
from dataclasses import dataclass
from typing import Any

from triathlon_runner.endpoints._api import Chat, Completion, Sampling

_CHARACTERS_A_TOKEN = 3
"""Before the server has counted; code has fewer than prose."""
_TO_JSON = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked, in no provider's words."""

    prompt: Chat | Completion
    sampling: Sampling

    @property
    def is_chat(self) -> bool:
        """Whether the reply is a message; else it is a text."""
        return isinstance(self.prompt, Chat)

    @property
    def characters(self) -> int:
        """Length of the texts that are sent."""
        if isinstance(self.prompt, Completion):
            return len(self.prompt.text)
        return sum(len(message.content) for message in self.prompt.messages)


@dataclass(frozen=True)
class Request:
    """One question, ready to be sent to one provider."""

    question: Question
    path: str
    """Below the base URL."""
    body: dict[str, Any]
    max_tokens: int
    """Most tokens of the reply, reasoning included."""
    repeatable: bool
    """Greedy: repeats are the same question."""

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
        return self.question.characters // _CHARACTERS_A_TOKEN + self.max_tokens
