"""Errors about length: a question longer than the context, and a longest reply for which there is no room.

Only the first is the model's outcome, and only where its server could not be set otherwise.
"""

import re
from dataclasses import dataclass
from typing import Final

from triathlon_runner.llm._api import EndpointError, ModelUnavailableError
from triathlon_runner.llm.provider import ApiConfig, is_on_own_network
from triathlon_runner.records import Finish

_RAISE_CONTEXT: Final = (
    "start the server with a larger one (vLLM: --max-model-len, llama.cpp: --ctx-size,"
    " llama-cpp-python: n_ctx, Ollama: OLLAMA_CONTEXT_LENGTH)"
)


@dataclass(frozen=True, slots=True)
class Asked:
    """What a question would have taken, and the longest context of its model."""

    max_tokens: int
    """Most tokens of the reply, `reasoning_max_tokens` included."""
    context: int | None = None
    """The row's `context`."""
    has_system: bool = False
    """Whether it has a message of the role `system`."""


_LENGTH: Final = re.compile(
    r"context[ _-]?(?:length|window|size|limit)|maximum context|max_model_len|prompt (?:is )?too long|"
    r"input (?:is )?too long|input token count .*exceeds|input tokens exceed|reduce the length|"
    r"too large for model with|exceed_context_size|longer than the maximum model length|"
    r"contextwindowexceeded|inputs` tokens \+ `max_new_tokens`|`inputs` must have less than|max_seq_len|"
    r"longer than the model's context",
    re.IGNORECASE,
)
_CONTEXT_IS: Final = (
    r"\+ \d+ > ?(\d+)",
    r"(?:context (?:length|window|size|limit)|maximum context|maximum model length|"
    r"max(?:imum)? sequence length|max_seq_len|max_model_len)(?! by)(?: of)?(?: only| is|:)?\D{0,12}?(\d+)",
    r"with (\d+) maximum context",
    r"\+ `max_new_tokens` must be <= ?(\d+)",
    r"must have less than (\d+)",
    r"> ?(\d+)",
    r"(?:allowed|exceeds)\D{0,40}\((\d+)\)",
    r"n_ctx\"?: ?(\d+)",
)
_PROMPT_IS: Final = (
    r"(\d+)(?: tokens)? (?:in|from|of) (?:the |your )?(?:messages|prompt|input|text input)",
    r"(?:has|contains)(?: at least)? (\d+) (?:input )?tokens",
    r"at least (\d+) input tokens|(\d+) input tokens",
    r"(\d+) `inputs` tokens",
    r"messages resulted in (\d+)",
    r"(?:prompt|input|request)\s?\((?:length )?(\d+)",
    r"(?:less than \d+ tokens|`inputs`)\D{0,12}given: (\d+)",
    r"too long: (\d+) tokens",
    r"prompt contains (\d+)|prompt length (\d+)",
    r"token count \((\d+)\)",
    r"limit: (\d+) \+",
    r"n_prompt_tokens\"?: ?(\d+)",
)
_REQUESTED: Final = (r"requested (?:about |a total of )?(\d+) tokens",)
_REPLY_WORDS: Final = re.compile(
    r"completion|max_(?:new_|completion_|output_)?tokens|in the output", re.IGNORECASE
)
_REPLY_LIMIT: Final = re.compile(
    r"max_(?:completion_|output_)?tokens\b.{0,60}(?:too large|> ?\d|valid range)|maxOutputTokens value|"
    r"at most \d+ completion tokens|max_(?:completion_)?tokens.{0,80}(?:at most|less than|maximum|<=)",
    re.IGNORECASE,
)
_MOST_IN_REPLY: Final = (
    r"at most (\d+)",
    r"range\b.{0,40}\[ ?1, ?(\d+)",
    r"> ?(\d+), which is the maximum",
    r"to (\d+) \(exclusive\)",
    r"(?:less than or equal to|<=) ?`?(\d+)",
)


def _number(patterns: tuple[str, ...], text: str) -> int | None:
    """Returns the first number that one of the patterns finds."""
    for pattern in patterns:
        if match := re.search(pattern, text, re.IGNORECASE):
            return int(next(filter(None, match.groups())))
    return None


def is_about_length(status: int, text: str) -> bool:
    """Returns whether an error is about the length of a question or of its longest reply."""
    if status in (400, 422) and _REPLY_LIMIT.search(text):
        return True
    return status in (200, 400, 413, 422, 500) and bool(_LENGTH.search(text))


def too_long(text: str, quote: str, config: ApiConfig, asked: Asked) -> Finish:
    """Tells a question that is too long from a reply limit that is: only the first is the model's outcome.

    Raises:
        ModelUnavailableError: a setting is to be changed: it says which number to set.
    """
    if not _LENGTH.search(text) or re.search(r"the maximum value for `max_tokens`", text):
        most = _number(_MOST_IN_REPLY, text)
        if most and "exclusive" in text:
            most -= 1
        raise _smaller_reply(most, quote, config)
    context = _number(_CONTEXT_IS, text)
    prompt = _number(_PROMPT_IS, text)
    total = _number(_REQUESTED, text)
    if prompt is None and total is not None and _REPLY_WORDS.search(text):
        prompt = total - asked.max_tokens
    if context is not None and prompt is not None and 0 < prompt < context:
        raise _smaller_reply(context - prompt, quote, config, f"a question of {prompt} tokens leaves")
    if prompt is None and _REPLY_LIMIT.search(text):
        raise _smaller_reply(None, quote, config)
    return _long_question(quote, config, asked, context)


def _smaller_reply(
    most: int | None, quote: str, config: ApiConfig, why: str = "the model allows"
) -> EndpointError:
    """Returns the error of a row whose token limit is larger than what is left of the context."""
    if most is None:
        return ModelUnavailableError(
            f"the token limit is too large: set a smaller `max_tokens` in the model's row; {quote}"
        )
    room = f"{why} {most} tokens for the reply"
    rest = most - config.reasoning_max_tokens
    if config.reasoning_max_tokens and rest > 0:
        advice = f"set `max_tokens: {rest}` in the model's row, beside its `reasoning_max_tokens`"
    elif config.reasoning_max_tokens:
        advice = (
            f"set `reasoning_max_tokens` and `max_tokens` in the model's row to no more than {most} together"
        )
    else:
        advice = f"set `max_tokens: {most}` in the model's row"
    return ModelUnavailableError(f"the token limit is too large, {room}: {advice}; {quote}")


def _long_question(quote: str, config: ApiConfig, asked: Asked, context: int | None) -> Finish:
    """Returns the outcome where the model can do no more; raises where its server could be set otherwise."""
    if asked.context is not None:
        if context is None or context >= asked.context:
            return Finish.CONTEXT_OVERFLOW
        known = f"the row's `context` is {asked.context}"
    elif is_on_own_network(config.base_url):
        known = "the row states no `context`"
    else:
        return Finish.CONTEXT_OVERFLOW
    size = f"{context} tokens" if context else "its server"
    number = context if context else "N"
    raise ModelUnavailableError(
        f"a question is longer than the context of {size}, and {known}: {_RAISE_CONTEXT}, or set"
        f" `context: {number}` in the row if the model can do no more; {quote}"
    )
