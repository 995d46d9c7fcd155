"""Servers that speak OpenAI's protocol: chat completions for instruct models, completions for base models.

The functions that read model names, contents and stop sequences are there for all providers. Replies do not
show how servers differ, so each kind is asked for weights, quantisation and context: Ollama's `/v1` ignores
`num_ctx` and cuts longer prompts at the context that it was started with (4,096 tokens by default); hosts
serve one name in several quantisations.
"""

import json
import re
from dataclasses import replace
from typing import Any, Literal
from urllib.parse import quote

from triathlon_runner.foreign_files import clean, parse_json
from triathlon_runner.llm._api import Answer, Chat, Completion, Lost, Malformed, OtherModel, Sampling
from triathlon_runner.llm.provider import ApiConfig, Fetch, Many, Request, ServerInfo
from triathlon_runner.pasted_keys import remove_keys
from triathlon_runner.records import Finish, Reply, Usage
from triathlon_runner.replies import split_reasoning
from triathlon_runner.terminal import shortened

_REASONS = {
    Finish.STOP: "stop eos eos_token end_turn stop_sequence tool_calls function_call malformed_function_call"
    " function_call_filter unexpected_tool_call",
    Finish.LENGTH: "length max_tokens max_output_tokens model_length max_length incomplete"
    " max_tokens_reached model_context_window_exceeded",
    Finish.CONTEXT_OVERFLOW: "context_length_exceeded",
    Finish.REFUSED: "content_filter content_filtered guardrail_intervened refusal safety recitation spii"
    " prohibited_content blocklist sensitive error_toxic",
}
"""Why a reply ended, in the words of all servers."""
_FINISH = {reason: finish for finish, reasons in _REASONS.items() for reason in reasons.split()}
_BROKEN = frozenset(
    {"error", "abort", "cancelled", "timeout", "network_error", "insufficient_system_resource"}
)
"""Finish reasons with which a server says that it failed, not the model."""
_MOST_TOKENS = 100_000_000
"""Of one question or reply; a server that states more does not count them."""
_REASONING_FIELDS = ("reasoning_content", "reasoning", "thinking")
_LOADING_SECONDS = 300.0
"""Longest wait while Ollama or llama.cpp loads a model."""
_VERSION = re.compile(
    r"(?:-latest|-preview|-0|-\d{4}-\d{2}-\d{2}|-\d{2}-\d{2}(?:\d{2})?|-\d{3,8}"
    r"|:(?:latest|free|nitro|floor|exacto)|@main)+$"
)


class OpenAI(ApiConfig):
    """The `api:` block of a server that speaks OpenAI's protocol."""

    provider: str = "openai"

    unsupported: Many[Literal["max_tokens", "temperature", "top_p", "stop", "seed"]] = ()
    """Decoding settings that the provider refuses: left out of all requests (`stop` is then applied here)."""
    max_tokens_field: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    """How the provider calls the token limit; OpenAI's reasoning models want `max_completion_tokens`."""
    reasoning_effort: str | None = None
    """Sent as `reasoning_effort` where set (`low`, `medium`, `high`, …)."""

    def key_headers(self, key: str) -> dict[str, str]:
        """Returns a bearer token; servers that want none ignore it."""
        return {"Authorization": f"Bearer {key or 'none'}"}

    def request(self, prompt: Chat | Completion, sampling: Sampling) -> Request:
        """Returns the request, with the fields that the row adds.

        Stop sequences go to base models only: a chat server also looks for them in the reasoning, and cuts
        the answer away. Where they are not sent the text is cut here.
        """
        settings: dict[str, Any] = {
            self.max_tokens_field: None if "max_tokens" in self.unsupported else sampling.max_tokens,
            "temperature": sampling.temperature,
            "top_p": sampling.top_p,
            "seed": sampling.seed,
            "reasoning_effort": self.reasoning_effort,
        }
        if isinstance(prompt, Chat):
            path = "/chat/completions"
            asked: Any = [{"role": each.role, "content": clean(each.content)} for each in prompt.messages]
            body = {"model": self.model, "messages": asked}
        else:
            path, body = "/completions", {"model": self.model, "prompt": clean(prompt.text)}
            settings["stop"] = list(sampling.stop) or None
        body |= {
            name: value
            for name, value in settings.items()
            if value is not None and name not in self.unsupported
        }
        return Request(prompt, sampling, path, body | self.body)

    def read(self, request: Request, body: dict[str, Any]) -> Answer:
        """Returns what a good reply says; see `ApiConfig.read`."""
        served = clean(str(body.get("model") or ""))
        if served:
            check_model(self, served)
        choices = body.get("choices")
        if not (isinstance(choices, list) and choices and all(isinstance(each, dict) for each in choices)):
            shown = shortened(remove_keys(str(body)[:2000]), 200)
            raise Malformed(f"a reply without choices, {shown!r}")
        choice = min(choices, key=lambda each: count(each.get("index")))
        usage = _usage(body.get("usage"))
        reason = str(choice.get("finish_reason") or choice.get("native_finish_reason") or "").lower()
        reason = reason.partition(":")[0]  # Gemini's `content_filter: PROHIBITED_CONTENT`
        if reason in _BROKEN:
            raise Lost(f"the server broke off the reply ({reason})")
        is_full = usage.output_tokens >= request.sampling.max_tokens
        finish = _FINISH.get(reason, Finish.LENGTH if is_full else Finish.STOP)
        is_chat = isinstance(request.prompt, Chat)
        if "tool" in reason or "function_call" in reason:  # Gemini sends no message with one that it refuses
            choice = {"message": {}, **choice}
        uncut = _chat_reply(choice, finish) if is_chat else _text_reply(choice, finish)
        if uncut and (uncut.text or uncut.reasoning) and not usage.output_tokens:
            usage = Usage(requests=1, uncounted=1)
        cut = cut_at_stop(uncut or Reply(text=""), request.sampling.stop)
        return Answer(cut, usage, 0.0, served, is_empty=uncut is None)

    async def server_info(self, fetch: Fetch) -> ServerInfo:
        """Asks vLLM or SGLang, llama.cpp, Ollama and OpenRouter, each by its interface.

        A server that answers without a list of models stays unknown.
        """
        if "openrouter.ai" in self.base_url:
            return await _open_router(fetch, self)
        models = (await _fetched(fetch, "/models")).get("data")
        if not isinstance(models, list):
            return ServerInfo()
        entries = {str(model.get("id")): model for model in _objects(models)}
        listed = entries.get(self.model, {})
        if "max_model_len" in listed:
            # Under an alias, or as an adapter: where the weights lie says which they are.
            weights = str(listed.get("root") or self.model)
            digest = "" if weights == self.model else "/".join(weights.rstrip("/").split("/")[-2:])
            kind = "sglang" if listed.get("owned_by") == "sglang" else "vllm"
            info = ServerInfo(kind, digest=digest, context=count(listed["max_model_len"]) or None)
        else:
            root = self.base_url.removesuffix("/v1")
            asked = fetch, root, self.model
            info = await _llama_cpp(*asked) or await _ollama(*asked) or ServerInfo()
        return replace(info, listed=tuple(entries))


def _usage(usage: object) -> Usage:
    fields = _object(usage)
    asked, written = count(fields.get("prompt_tokens")), count(fields.get("completion_tokens"))
    if not asked:  # no question has 0
        return Usage(requests=1, uncounted=1)
    details = fields.get("completion_tokens_details") or fields.get("output_tokens_details")
    reasoning = count(_object(details).get("reasoning_tokens"))
    # Some servers (Gemini's, xAI's) count reasoning apart from the completion. Where it is more than the
    # completion it cannot be a part of it; else the total of question and reply says whether it is. Without
    # such details the rest of the total is reasoning, too.
    rest = count(fields.get("total_tokens")) - asked
    output = written + reasoning
    if reasoning <= written:
        output = max(written, min(rest, output) if details else rest)
    return Usage(requests=1, input_tokens=asked, output_tokens=output, reasoning_tokens=reasoning)


def _text_reply(choice: dict[str, Any], finish: Finish) -> Reply | None:
    """Returns a completion; None where there is nothing in it."""
    text = choice.get("text")
    if not isinstance(text, str) and finish is Finish.STOP:
        return None
    return Reply(text=clean(text) if isinstance(text, str) else "", finish=finish)


def _chat_reply(choice: dict[str, Any], finish: Finish) -> Reply | None:
    """Returns a message with its reasoning apart; None where there is nothing in it."""
    message = choice.get("message")
    if not isinstance(message, dict) and finish is Finish.STOP:
        raise Malformed("a choice without a message")
    message = _object(message)  # Gemini sends none with a refusal, or where the limit ended the reasoning
    content, inner = content_text(message.get("content"))
    fields = (message.get(name) for name in _REASONING_FIELDS)
    reasoning_apart = next((text for text in fields if isinstance(text, str) and text), inner)
    if message.get("refusal") and not content:
        content, finish = str(message["refusal"]), Finish.REFUSED
    if content is None and finish is Finish.STOP and not reasoning_apart and not message.get("tool_calls"):
        return None
    answer, tagged = split_reasoning(content or "")
    # A second end would take the answer when it is read; where nothing was split off there is none.
    if answer != content and split_reasoning(answer)[0] != answer:
        answer, tagged = content or "", ""
    reasoning = "\n".join(part for part in (reasoning_apart, tagged) if part)
    return Reply(text=clean(answer), reasoning=clean(reasoning), finish=finish)


def check_model(config: ApiConfig, served: str) -> None:
    """Raises `OtherModel` if a reply's name is neither related to the row's nor one of its `served_as`."""
    if is_related(config.model, served) or served in config.served_as:
        return
    shown = shortened(remove_keys(served), 200)
    quoted = json.dumps(shown, ensure_ascii=False)  # valid YAML, too, whatever the server sent
    error = OtherModel(
        f"asked for {config.model!r}, answered by {shown!r}; if that is the same model, ask for it by"
        f" that name, or add `served_as: [{quoted}]` to the api block of its row"
    )
    error.served = served
    raise error


def is_related(asked: str, served: str) -> bool:
    """Whether two names may mean one model: equal but for folder, case, date, build number or tag."""
    first, second = (_VERSION.sub("", name.lower().rpartition("/")[2]) for name in (asked, served))
    return first == second


def count(value: object) -> int:
    """Returns a number of tokens; 0 where the value is none, or more than any question or reply has."""
    is_count = isinstance(value, int) and not isinstance(value, bool) and 0 < value <= _MOST_TOKENS
    return value if is_count else 0  # type: ignore[return-value]


def cut_at_stop(reply: Reply, stop: tuple[str, ...]) -> Reply:
    """The reply as a server that heeds every stop sequence would have ended it."""
    cuts = [position for sequence in stop if (position := reply.text.find(sequence)) >= 0]
    if not cuts:
        return reply
    finish = Finish.STOP if reply.finish is Finish.LENGTH else reply.finish
    return Reply(text=reply.text[: min(cuts)], reasoning=reply.reasoning, finish=finish)


def content_text(content: object) -> tuple[str | None, str]:
    """(answer, reasoning) of a message's `content`: a text, or a list of typed parts."""
    if isinstance(content, str):
        return content, ""
    if not isinstance(content, list):
        return None, ""
    answer, reasoning = "", ""
    for part in _objects(content):
        if part.get("type") in ("text", "output_text"):
            answer += str(part.get("text", ""))
        elif part.get("type") in ("thinking", "reasoning"):
            reasoning += content_text(part.get("thinking", part.get("text", "")))[0] or ""
    return answer, reasoning


async def _llama_cpp(fetch: Fetch, root: str, model: str) -> ServerInfo | None:
    """`GET /props`: the context of one slot, and the file that is loaded, whose name has the quantisation.

    A router of several models loads the one that is named, or says of itself alone that its file is `none`.
    """
    path = f"{root}/props?model={quote(model, safe='')}"
    props = await _fetched(fetch, path, seconds=_LOADING_SECONDS, is_guess=True)
    if "default_generation_settings" not in props:
        return None
    file = "" if props.get("role") == "router" else str(props.get("model_path") or "")
    return ServerInfo(
        "llama.cpp",
        version=str(props.get("build_info") or ""),
        digest=file.replace("\\", "/").rpartition("/")[2],
        context=count(_object(props["default_generation_settings"]).get("n_ctx")) or None,
    )


async def _ollama(fetch: Fetch, root: str, model: str) -> ServerInfo | None:
    """`GET /api/version`, `POST /api/show` and `GET /api/ps`, which knows the context of what is loaded."""
    version = await _fetched(fetch, f"{root}/api/version", is_guess=True)
    if "version" not in version:
        return None
    shown = await _fetched(fetch, f"{root}/api/show", {"model": model})

    async def loaded() -> dict[str, Any]:
        models = _objects((await _fetched(fetch, f"{root}/api/ps")).get("models"))
        names = {model, f"{model}:latest"}
        return next((each for each in models if {each.get("name"), each.get("model")} & names), {})

    if not (entry := await loaded()):
        # A request without a prompt loads the model.
        await _fetched(fetch, f"{root}/api/generate", {"model": model}, seconds=_LOADING_SECONDS)
        entry = await loaded()
    return ServerInfo(
        "ollama",
        version=str(version["version"]),
        digest=str(entry.get("digest") or ""),
        quantization=str(_object(shown.get("details")).get("quantization_level") or ""),
        context=count(entry.get("context_length")) or None,
    )


async def _open_router(fetch: Fetch, config: ApiConfig) -> ServerInfo:
    """`GET /models/AUTHOR/MODEL/endpoints`: the hosts that may answer, with their quantisations.

    The row's `body: {provider: {only: …, quantizations: …}}` says which of them OpenRouter may choose.
    """
    data = _object((await _fetched(fetch, f"/models/{config.model}/endpoints")).get("data"))
    wanted = _object(config.body.get("provider"))
    only = {str(name).lower() for name in wanted.get("only") or ()}
    hosts = []
    for host in _objects(data.get("endpoints")):
        names = {str(host.get("provider_name", "")).lower(), str(host.get("tag", "")).lower()}
        names |= {name.partition("/")[0] for name in names}
        quantizations = wanted.get("quantizations") or [host.get("quantization")]
        if (not only or names & only) and host.get("quantization") in quantizations:
            hosts.append(host)
    stated = {str(host.get("quantization") or "unknown") for host in hosts}
    shown = {
        f"{host.get('provider_name')} ({host.get('quantization') or 'unknown quantization'})"
        for host in hosts
    }
    contexts = filter(None, (count(host.get("context_length")) for host in hosts))
    return ServerInfo(
        hosts=" or ".join(sorted(shown)),
        quantization=stated.pop() if len(stated) == 1 and "unknown" not in stated else "",
        context=min(contexts, default=None),
    )


async def _fetched(fetch: Fetch, path: str, body: Any = None, **options: Any) -> dict[str, Any]:
    """Returns the object that a server replies with; empty where it replies with none."""
    reply = await fetch(path, body, **options)
    try:
        return _object(parse_json(reply.body)) if reply.status == 200 else {}
    except ValueError:
        return {}


def _object(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _objects(value: object) -> list[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []
