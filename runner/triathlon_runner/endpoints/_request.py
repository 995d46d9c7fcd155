"""From a question to the body of a request."""

import functools
import json
from dataclasses import dataclass
from typing import Any

from triathlon_runner.endpoints._api import Chat, Completion, Sampling
from triathlon_runner.endpoints._config import ApiConfig

_CHARACTERS_A_TOKEN = 3
"""For pacing by tokens a minute only, before the server has counted; code has fewer than prose."""
_TO_JSON = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode


@dataclass(frozen=True)
class Question:
    """One question, ready to be sent."""

    path: str
    body: dict[str, Any]
    stop: tuple[str, ...]
    max_tokens: int
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
    def is_chat(self) -> bool:
        """Whether the reply is a message; else it is a text."""
        return "messages" in self.body

    @property
    def characters(self) -> int:
        """Length of the texts that are sent."""
        parts = [m["content"] for m in self.body["messages"]] if self.is_chat else [self.body["prompt"]]
        return sum(map(len, parts))

    def estimate_tokens(self) -> int:
        """About how many tokens question and longest reply take together."""
        return self.characters // _CHARACTERS_A_TOKEN + self.max_tokens


def make_question(config: ApiConfig, prompt: Chat | Completion, sampling: Sampling) -> Question:
    """Everything that is sent for one question; settings that the provider refuses are left out."""
    body: dict[str, Any] = {"model": config.model}
    if isinstance(prompt, Chat):
        body["messages"] = [{"role": each.role, "content": each.content} for each in prompt.messages]
    else:
        body["prompt"] = prompt.text
    max_tokens = sampling.max_tokens + config.reasoning_max_tokens
    body.update(_decoding(config, sampling, max_tokens), **config.body)
    return Question(
        path="/chat/completions" if isinstance(prompt, Chat) else "/completions",
        body=body,
        stop=sampling.stop,
        max_tokens=max_tokens,
        repeatable=sampling.temperature == 0 and "temperature" not in config.unsupported,
    )


def _decoding(config: ApiConfig, sampling: Sampling, max_tokens: int) -> dict[str, Any]:
    wanted = {
        "max_tokens": max_tokens,
        "temperature": sampling.temperature,
        "top_p": sampling.top_p,
        "stop": list(sampling.stop[: config.max_stop_sequences]) or None,
        "seed": sampling.seed,
    }
    sent: dict[str, Any] = {
        name: value for name, value in wanted.items() if value is not None and name not in config.unsupported
    }
    if "max_tokens" in sent:
        sent[config.max_tokens_field] = sent.pop("max_tokens")
    if config.reasoning_effort is not None:
        sent["reasoning_effort"] = config.reasoning_effort
    return sent
