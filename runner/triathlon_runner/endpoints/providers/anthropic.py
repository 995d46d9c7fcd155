"""Anthropic's own Messages API (`POST /messages`).

Anthropic also has an address that speaks OpenAI's protocol, and says of it that it is for trying models out:
it gives no reasoning text and silently ignores settings. The Messages API needs no other package than
`openai`, whose client sends any request: what it takes is in this file.
"""

from collections.abc import Mapping
from typing import Any

from triathlon_runner.endpoints._api import Completion, Malformed, ModelUnavailableError
from triathlon_runner.endpoints._config import ApiConfig
from triathlon_runner.endpoints.provider import Client, HttpReply, ParsedReply, Question, Request, ServerInfo
from triathlon_runner.endpoints.providers.openai_chat import (
    check_model,
    clean,
    content_text,
    count,
    cut_at_stop,
    read_error,
    read_json,
)
from triathlon_runner.records import Finish, Reply, Usage

_VERSION = "2023-06-01"
"""Of the API; Anthropic has had no other since."""
_FINISH = {
    "max_tokens": Finish.LENGTH,
    "refusal": Finish.REFUSED,
    "model_context_window_exceeded": Finish.CONTEXT_OVERFLOW,
}


class Anthropic:
    """Implements `Provider`."""

    def __init__(self, config: ApiConfig) -> None:
        self._config = config

    def headers(self, key: str) -> Mapping[str, str]:
        """Shows the key, and names the API's version."""
        return {"x-api-key": key, "anthropic-version": _VERSION}

    def request(self, question: Question) -> Request:
        """Returns the request; a seed is never sent, since there is no such setting.

        Raises:
            ModelUnavailableError: the question is a `Completion`.
        """
        config, prompt, sampling = self._config, question.prompt, question.sampling
        if isinstance(prompt, Completion):
            raise ModelUnavailableError(
                f"{config.model!r} chats and completes no texts: set `kind: instruct` in its row"
            )
        body: dict[str, Any] = {"model": config.model, "max_tokens": sampling.max_tokens}
        if system := "\n\n".join(message.content for message in prompt.messages if message.role == "system"):
            body["system"] = system
        body["messages"] = [
            {"role": each.role, "content": each.content} for each in prompt.messages if each.role != "system"
        ]
        if "temperature" not in config.unsupported:
            body["temperature"] = sampling.temperature
        if sampling.top_p < 1 and "top_p" not in config.unsupported:  # 1 is refused with a temperature
            body["top_p"] = sampling.top_p
        stop = [sequence for sequence in sampling.stop if sequence.strip()]  # blank ones are refused
        if stop and "stop" not in config.unsupported:
            body["stop_sequences"] = stop[: config.max_stop_sequences]
        return Request(question, "/messages", body | config.body)

    def read(self, request: Request, reply: HttpReply) -> ParsedReply:
        """Returns what a reply says; see `Provider.read`."""
        if reply.status != 200:
            return read_error(reply, self._config)
        body = read_json(reply.body)
        content, finish = body.get("content"), _FINISH.get(str(body.get("stop_reason")), Finish.STOP)
        if body.get("type") != "message" or not isinstance(content, list):
            raise Malformed(f"no message but {body.get('type')!r}")
        served = clean(str(body.get("model") or ""))
        check_model(self._config, served)
        text, reasoning = content_text(content)
        uncut = Reply(text=clean(text or ""), reasoning=clean(reasoning), finish=finish)
        cut = cut_at_stop(uncut, request.question.sampling.stop)
        is_empty = not content and finish is Finish.STOP
        return ParsedReply(cut, _usage(body.get("usage")), served, is_empty)

    async def server_info(self, client: Client) -> ServerInfo:
        """Returns nothing beyond the row: the API serves one model under a name, and names no build."""
        del client
        return ServerInfo()


def _usage(usage: object) -> Usage:
    """Tokens that went in, those of Anthropic's prompt cache included, and out; uncounted where they lack."""
    fields = usage if isinstance(usage, dict) else {}
    inputs = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
    input_tokens = sum(count(fields.get(name)) for name in inputs)
    if not input_tokens or not isinstance(fields.get("output_tokens"), int):  # no question has 0
        return Usage(requests=1, uncounted=1)
    return Usage(requests=1, input_tokens=input_tokens, output_tokens=count(fields.get("output_tokens")))
