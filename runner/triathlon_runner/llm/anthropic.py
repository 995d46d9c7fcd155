"""Anthropic's own Messages API (`POST /messages`).

Anthropic also has an address that speaks OpenAI's protocol, and says of it that it is for trying models out:
it gives no reasoning text and silently ignores settings.
"""

from typing import Any, Literal

from triathlon_runner.foreign_files import clean
from triathlon_runner.llm._api import Answer, Chat, Completion, Malformed, ModelUnavailableError, Sampling
from triathlon_runner.llm.openai_chat import check_model, content_text, count, cut_at_stop
from triathlon_runner.llm.provider import ApiConfig, Many, Request
from triathlon_runner.records import Finish, Reply, Usage

_VERSION = "2023-06-01"
"""Of the API; Anthropic has had no other since."""
_FINISH = {
    "max_tokens": Finish.LENGTH,
    "model_context_window_exceeded": Finish.LENGTH,
    "refusal": Finish.REFUSED,
}
_INPUTS = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
"""Tokens that went in, those of Anthropic's prompt cache included."""


class Anthropic(ApiConfig):
    """The `api:` block of a model of Anthropic's."""

    provider: str = "anthropic"

    unsupported: Many[Literal["temperature", "top_p"]] = ()
    """Decoding settings that the model refuses: left out of all requests."""

    def key_headers(self, key: str) -> dict[str, str]:
        """Returns the key and the API's version."""
        return {"x-api-key": key, "anthropic-version": _VERSION}

    def request(self, prompt: Chat | Completion, sampling: Sampling) -> Request:
        """Returns the request; a seed is never sent, since there is no such setting, and no stop sequences.

        Raises:
            ModelUnavailableError: the question is a `Completion`.
        """
        if isinstance(prompt, Completion):
            raise ModelUnavailableError(
                f"{self.model!r} chats and completes no texts: set `kind: instruct` in its row"
            )
        body: dict[str, Any] = {"model": self.model, "max_tokens": sampling.max_tokens}
        if system := "\n\n".join(message.content for message in prompt.messages if message.role == "system"):
            body["system"] = clean(system)
        body["messages"] = [
            {"role": each.role, "content": clean(each.content)}
            for each in prompt.messages
            if each.role != "system"
        ]
        if "temperature" not in self.unsupported:
            body["temperature"] = sampling.temperature
        if sampling.top_p < 1 and "top_p" not in self.unsupported:  # 1 is refused with a temperature
            body["top_p"] = sampling.top_p
        return Request(prompt, sampling, "/messages", body | self.body)

    def read(self, request: Request, body: dict[str, Any]) -> Answer:
        """Returns what a good reply says; see `ApiConfig.read`."""
        content, finish = body.get("content"), _FINISH.get(str(body.get("stop_reason")), Finish.STOP)
        if body.get("type") != "message" or not isinstance(content, list):
            raise Malformed(f"no reply of type 'message' but of type {body.get('type')!r}")
        served = clean(str(body.get("model") or ""))
        check_model(self, served)
        text, reasoning = content_text(content)
        uncut = Reply(text=clean(text or ""), reasoning=clean(reasoning), finish=finish)
        fields = body.get("usage")
        fields = fields if isinstance(fields, dict) else {}
        inputs = sum(count(fields.get(name)) for name in _INPUTS)
        outputs = count(fields.get("output_tokens"))
        usage = Usage(requests=1, uncounted=1)
        if inputs and (outputs or not (text or reasoning)):  # no question and no text has 0
            usage = Usage(requests=1, input_tokens=inputs, output_tokens=outputs)
        is_empty = not content and finish is Finish.STOP
        return Answer(cut_at_stop(uncut, request.sampling.stop), usage, 0.0, served, is_empty=is_empty)
