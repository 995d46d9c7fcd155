"""Servers that speak OpenAI's protocol: chat completions for instruct models, completions for base models."""

import json
from collections.abc import Mapping
from typing import Any, TypeGuard

from triathlon_runner.endpoints._api import Chat
from triathlon_runner.endpoints._config import ApiConfig
from triathlon_runner.endpoints._errors import Malformed, Retryable
from triathlon_runner.endpoints._http_errors import failure_in_reply
from triathlon_runner.endpoints._reply import (
    check_model,
    clean,
    content_text,
    count,
    cut_at_stop,
    error_outcome,
    read_error,
    read_json,
    reasoning_field,
    split_reasoning,
)
from triathlon_runner.endpoints._server_info import ask_server
from triathlon_runner.endpoints.provider import Client, HttpReply, ParsedReply, Question, Request, ServerInfo
from triathlon_runner.records import Finish, Reply, Usage

_FINISH = {
    "length": Finish.LENGTH,
    "max_tokens": Finish.LENGTH,
    "max_output_tokens": Finish.LENGTH,
    "model_length": Finish.LENGTH,
    "max_length": Finish.LENGTH,
    "max_tokens_reached": Finish.LENGTH,
    "incomplete": Finish.LENGTH,
    "context_length_exceeded": Finish.CONTEXT_OVERFLOW,
    "model_context_window_exceeded": Finish.CONTEXT_OVERFLOW,
    "content_filter": Finish.REFUSED,
    "refusal": Finish.REFUSED,
    "safety": Finish.REFUSED,
    "recitation": Finish.REFUSED,
    "prohibited_content": Finish.REFUSED,
    "blocklist": Finish.REFUSED,
    "sensitive": Finish.REFUSED,
}
_BROKEN = frozenset(
    ["error", "abort", "cancelled", "timeout", "insufficient_system_resource", "malformed_function_call"]
)
"""Finish reasons with which a server says that it failed, not the model."""
_WHOLE = frozenset(["stop", "eos", "eos_token", "end_turn", "stop_sequence", "tool_calls", "function_call"])
"""Finish reasons of whole replies; any other that no table knows is counted as an oddity."""
_MOST_TOKENS = 100_000_000
"""Of one question or reply; a server that states more does not count them."""


class OpenAIChat:
    """Implements `Provider`."""

    def __init__(self, config: ApiConfig) -> None:
        self._config = config

    def headers(self, key: str) -> Mapping[str, str]:
        """Shows the key as a bearer token; servers that want none ignore it."""
        return {"Authorization": f"Bearer {key or 'none'}"}

    def request(self, question: Question) -> Request:
        """Returns the request, with the fields that the row adds."""
        config, prompt = self._config, question.prompt
        body: dict[str, Any] = {"model": config.model}
        if isinstance(prompt, Chat):
            body["messages"] = [
                {"role": message.role, "content": message.content} for message in prompt.messages
            ]
        else:
            body["prompt"] = prompt.text
        body.update(self._decoding(question), **config.body)
        return Request(question, "/chat/completions" if question.is_chat else "/completions", body)

    def _decoding(self, question: Question) -> dict[str, Any]:
        config, sampling = self._config, question.sampling
        wanted = {
            "max_tokens": sampling.max_tokens,
            "temperature": sampling.temperature,
            "top_p": sampling.top_p,
            "stop": list(sampling.stop[: config.max_stop_sequences]) or None,
            "seed": sampling.seed,
        }
        sent: dict[str, Any] = {
            name: value
            for name, value in wanted.items()
            if value is not None and name not in config.unsupported
        }
        if "max_tokens" in sent:
            sent[config.max_tokens_field] = sent.pop("max_tokens")
        if config.reasoning_effort is not None:
            sent["reasoning_effort"] = config.reasoning_effort
        return sent

    def read(self, request: Request, reply: HttpReply) -> ParsedReply:
        """Returns what a reply says; see `Provider.read`."""
        config = self._config
        if reply.status != 200:
            return read_error(reply, config)
        body = read_json(reply.body)
        served = clean(str(body.get("model") or ""))
        if isinstance(error := body.get("error"), dict) and not body.get("choices"):
            return error_outcome(failure_in_reply(error, reply.headers, json.dumps(body)), config, served)
        oddities: list[str] = [] if served else ["no model name"]
        if served:
            check_model(config, served)
        choice = _choice(body, oddities)
        usage = _usage(body, oddities)
        question = request.question
        finish = _finish(choice, usage, question.sampling.max_tokens, oddities)
        uncut = _chat_reply(choice, finish) if question.is_chat else _text_reply(choice, finish)
        if uncut and (uncut.text or uncut.reasoning) and not (usage.output_tokens or usage.uncounted):
            oddities.append("a reply of 0 tokens with text")
            usage = Usage(requests=1, uncounted=1)
        cut = cut_at_stop(uncut or Reply(text=""), question.sampling.stop)
        return ParsedReply(cut, usage, served, tuple(oddities), is_empty=uncut is None)

    async def server_info(self, client: Client) -> ServerInfo:
        """Asks vLLM, llama.cpp, Ollama and OpenRouter, each by its interface; see `ask_server`."""
        return await ask_server(client, self._config)


def _choice(body: dict[str, Any], oddities: list[str]) -> dict[str, Any]:
    choices = body.get("choices")
    if not (isinstance(choices, list) and choices and all(isinstance(choice, dict) for choice in choices)):
        raise Malformed("a reply without choices")
    if len(choices) > 1:
        oddities.append(f"{len(choices)} choices where one was asked for; the first was taken")
    first: dict[str, Any] = min(choices, key=lambda choice: count(choice.get("index")))
    return first


def _usage(body: dict[str, Any], oddities: list[str]) -> Usage:
    usage = body.get("usage")
    if not isinstance(usage, dict):
        oddities.append("no usage")
        return Usage(requests=1, uncounted=1)
    asked, written = usage.get("prompt_tokens"), usage.get("completion_tokens")
    if not (_is_count(asked, least=1) and _is_count(written, least=0)):  # no question has 0
        oddities.append("usage without the tokens of question and reply")
        return Usage(requests=1, uncounted=1)
    details = usage.get("completion_tokens_details") or usage.get("output_tokens_details")
    reasoning = count(details.get("reasoning_tokens")) if isinstance(details, dict) else 0
    return Usage(
        requests=1,
        input_tokens=asked,
        output_tokens=_written(written, reasoning, count(usage.get("total_tokens")) - asked),
        reasoning_tokens=reasoning,
    )


def _is_count(value: object, *, least: int) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and least <= value <= _MOST_TOKENS


def _written(completion: int, reasoning: int, beside_question: int) -> int:
    """Tokens of a reply with its reasoning, which some servers (Gemini's, xAI's) count apart from it.

    Where reasoning is more than the completion it cannot be a part of it; else the total of question and
    reply says whether it is.
    """
    if reasoning > completion:
        return completion + reasoning
    return max(completion, min(beside_question, completion + reasoning))


def _finish(choice: dict[str, Any], usage: Usage, max_tokens: int, oddities: list[str]) -> Finish:
    stated = choice.get("finish_reason") or choice.get("native_finish_reason")
    reason = str(stated or "").lower()
    if reason in _BROKEN or isinstance(choice.get("error"), dict):
        raise Retryable(f"the server broke off the reply ({reason or 'error'})")
    if reason in _WHOLE or reason in _FINISH:
        return _FINISH.get(reason, Finish.STOP)
    oddities.append(f"the finish reason {reason!r}, which is not known" if reason else "no finish reason")
    return Finish.LENGTH if usage.output_tokens >= max_tokens else Finish.STOP


def _text_reply(choice: dict[str, Any], finish: Finish) -> Reply | None:
    text = choice.get("text")
    if isinstance(text, str):
        return Reply(text=clean(text), finish=finish)
    return None if finish is Finish.STOP else Reply(text="", finish=finish)


def _chat_reply(choice: dict[str, Any], finish: Finish) -> Reply | None:
    message = choice.get("message")
    if not isinstance(message, dict):
        raise Malformed("a choice without a message")
    content, inner = content_text(message.get("content"))
    reasoning_apart = reasoning_field(message) or inner
    if message.get("refusal") and not content:
        return Reply(
            text=clean(str(message["refusal"])), reasoning=clean(reasoning_apart), finish=Finish.REFUSED
        )
    if content is None:
        if finish is Finish.STOP and not reasoning_apart and not message.get("tool_calls"):
            return None
        content = ""
    answer, tagged = split_reasoning(content)
    reasoning = "\n".join(part for part in (reasoning_apart, tagged) if part)
    return Reply(text=clean(answer), reasoning=clean(reasoning), finish=finish)
