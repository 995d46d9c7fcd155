"""How a server behaves: one table of checks, and the small questions whose replies they look at.

`triathlon probe` asks the questions, at most seven; a run makes the checks that need only the server's list
and its first replies. A new check is one entry of `CHECKS`, and of `QUESTIONS` where it needs one.
"""

import contextlib
import json
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

from triathlon_runner.llm import _api
from triathlon_runner.llm._errors import json_object
from triathlon_runner.llm.openai_chat import content_text
from triathlon_runner.llm.provider import ApiConfig, HttpReply, Request, ServerInfo
from triathlon_runner.pasted_keys import remove_keys
from triathlon_runner.records import Finish, Reply, Usage
from triathlon_runner.replies import markers_in, unknown_marker

if TYPE_CHECKING:
    from triathlon_runner.llm._model import OpenModel

_TASK: Final = "Write a Python function `double(x)` that returns twice x. Think about it first."
_TEXT: Final = "def double(x):\n    "
_SYSTEM: Final = (
    "You are a programmer who answers in short sentences and writes Python without comments. You think about"
    " a task before you answer, and you say nothing that you were not asked for."
)
"""Longer than what chat templates put in its place: equal numbers of tokens mean that it is not read."""
_OPTIONAL: Final = frozenset(["temperature", "top_p", "seed", "stop"])
_LIMIT_FIELDS: Final = frozenset(["max_tokens", "max_completion_tokens"])
"""Names of the token limit."""
_COINCIDENCE: Final = 64
"""Tokens of a limit from which on a whole reply that has as many is no coincidence."""
QUESTIONS: Final[Mapping[str, tuple[_api.Sampling, set[str]]]] = {
    "plain": (_api.Sampling(128), set()),
    "stop": (_api.Sampling(48, stop=("[/DONE]",)), {"stop"}),
    "system": (_api.Sampling(16), set()),
    "limit": (_api.Sampling(1), set()),
    "sampled": (_api.Sampling(48, 0.8, 0.95, seed=7), {"temperature", "top_p", "seed"}),
    "greedy": (_api.Sampling(48), {"temperature", "top_p"}),
    "again": (_api.Sampling(48), {"temperature", "top_p"}),
}
"""Settings, and those of the optional ones that are sent. With the question for a model that nobody has: at
most seven."""


@dataclass(frozen=True, slots=True)
class Reading:
    """A reply as it is looked at: what it says, its text before markup was split off, or its error."""

    request: Request
    body: Mapping[str, Any] = field(default_factory=dict)
    answer: _api.Answer | None = None
    error: str = ""
    """In words, with the row's setting to change; beside a reply where that is by another name."""

    @property
    def text(self) -> str:
        """The answer with all markup, as the server wrote it."""
        for choice in self.body.get("choices") or [self.body]:
            message = choice.get("message")
            message = message if isinstance(message, dict) else choice  # of an error it is a text
            return content_text(message.get("content") or message.get("text"))[0] or ""
        return ""


@dataclass(frozen=True, slots=True)
class Seen:
    """All that the checks look at."""

    config: ApiConfig
    kind: _api.ModelKind
    server: ServerInfo
    settings: _api.ModelSettings
    replies: Mapping[str, Reading]
    any_name: str = ""
    """That the server answers to any name, in words; empty where it lists the model, or refuses others."""

    @property
    def is_ours(self) -> bool:
        """Whether the server was started for a row with `serve`, which has no api block."""
        return bool(self.settings.engine)

    def answer(self, question: str) -> _api.Answer | None:
        """Returns the reply to a question; None where it was refused, or not asked."""
        reading = self.replies.get(question)
        return reading.answer if reading else None

    def error(self, question: str) -> str:
        """Returns why a question has no reply; empty where it has one, or was not asked."""
        reading = self.replies.get(question)
        return reading.error if reading and not reading.answer else ""


@dataclass(frozen=True, slots=True)
class Found:
    """What a check saw, and where that is a finding the setting that fixes it."""

    seen: str
    setting: str = ""


def _who(seen: Seen) -> Found:
    if seen.any_name:
        return Found(seen.any_name, "ask for a listed name, or add `served_as: [NAME]` to its api block")
    reading, server = seen.replies["plain"], seen.server
    if "served_as" in reading.error:
        return Found(reading.error, "the right name in `model`, or `served_as`, in its api block")
    served = str(reading.body.get("model") or "")
    parts = {
        "answers as": repr(served) if served else "",
        "server": server.name,
        "weights": server.digest,
        "quantization": server.quantization,
    }
    stated = ", ".join(f"{name} {value}" for name, value in parts.items() if value)
    missing = "" if server.digest or server.quantization else "; weights and quantization not stated"
    return Found((stated or "no name in its replies") + missing)


def _reasoning(seen: Seen) -> Found:
    reading, answer = seen.replies["plain"], seen.answer("plain")
    assert answer is not None
    markers = ", ".join(repr(marker) for marker in markers_in(reading.text))
    if not markers and (unknown := unknown_marker(answer.reply.text)):
        return Found(
            f"the answer begins with {unknown!r}, which is no marker that is known here",
            "switch on the server's reasoning parser, or add the marker to the table (CONTRIBUTING.md)",
        )
    # Some services show none of it: they count it, or the limit ends it before any text.
    is_cut = not answer.reply.text and answer.reply.finish is Finish.LENGTH
    has_reasoning = bool(answer.reply.reasoning or answer.usage.reasoning_tokens or is_cut)
    if not markers and not has_reasoning:
        return Found("none in the text")
    what = "in a field of its own" if answer.reply.reasoning else "not shown"
    what = f"leaks into the text with {markers}" if markers else what
    if not has_reasoning or seen.config.reasoning_max_tokens:
        return Found(f"{what}; it is kept apart here")
    setting = "`reasoning_max_tokens: 8192` in its api block"
    if seen.is_ours:
        setting = "" if seen.settings.max_tokens else "a `max_tokens` for both in its row, such as 8192"
    return Found(f"{what}, and takes its tokens from the answer's", setting)


def _stop(seen: Seen) -> Found:
    if error := seen.error("stop"):
        return _of_setting(error, "`unsupported: [stop]` in its api block")
    return Found("accepted" if seen.answer("stop") else "none are sent; replies are cut here")


def _system(seen: Seen) -> Found:
    setting = "`system_prompt: merge` in its row"
    if seen.kind == "base":
        return Found("base models are asked without one")
    if error := seen.error("system"):
        return _of_setting(error, setting)
    if seen.settings.merges_system:
        return Found("stands before the user's text, as the row says")
    with_it, without = seen.answer("system"), seen.answer("plain")
    # Fewer tokens are no sign: some chat templates have a long system prompt of their own, which it replaces.
    if with_it and without and 0 < with_it.usage.input_tokens == without.usage.input_tokens:
        return Found("not read: the question has as many tokens with it as without", setting)
    return Found("accepted")


def _limit(seen: Seen) -> Found:
    if error := seen.error("limit"):
        found = _of_setting(error, "`reasoning_max_tokens` in its api block")
        return Found(f"a limit of one token is refused: {error}", found.setting)
    answer = seen.answer("limit")
    assert answer is not None
    limit, written = seen.replies["limit"].request.sampling.max_tokens, answer.usage.output_tokens
    if not written:
        estimate = _api.estimated_tokens(answer.reply.text, answer.reply.reasoning)
        written = estimate if estimate > 3 * limit + 5 else 0
    if written > limit:
        setting = "the other name of the limit as `max_tokens_field` in its api block"
        return Found(f"not obeyed: {written} tokens where {limit} were allowed", setting)
    if answer.reply.finish is Finish.STOP and (limit == 1 or written == limit >= _COINCIDENCE):
        setting = "a `max_tokens` in its row that no answer reaches"
        return Found("a reply that was cut at the limit is reported as complete", setting)
    return Found("obeyed")


def _usage(seen: Seen) -> Found:
    answer = seen.answer("plain")
    assert answer is not None
    if answer.usage.uncounted:
        setting = "what makes the server count, such as `body: {usage: {include: true}}`, in its api block"
        lack = "no token counts: costs are unknown, and `--budget` estimates them"
        return Found(lack, "" if seen.is_ours else setting)
    counts = f"{answer.usage.input_tokens} tokens in, {answer.usage.output_tokens} out"
    reasoning = answer.usage.reasoning_tokens
    return Found(f"{counts}, {reasoning} of them reasoning" if reasoning else counts)


def _context(seen: Seen) -> Found:
    stated, of_row = seen.server.context, seen.settings.context
    if stated is None:
        row = f"{of_row} tokens by the row" if of_row else "`context: N` in the row would state it"
        return Found(f"not stated by the server; {row}")
    if of_row and of_row > stated:
        more = "a larger `max_model_len` in its serve block" if seen.is_ours else "start the server with more"
        setting = f"{more}, or `context: {stated}` in its row"
        return Found(f"{stated} tokens, but the model can do {of_row} by the row", setting)
    longest = max((reading.request.estimated_tokens for reading in seen.replies.values()), default=0)
    if seen.server.server == "ollama" and longest > stated:
        return Found(
            f"{stated} tokens, fewer than a question with its reply takes: Ollama cuts it without an error",
            "start it with a larger OLLAMA_CONTEXT_LENGTH, or set a smaller `max_tokens` in the row",
        )
    return Found(f"{stated} tokens")


def _sampled(seen: Seen) -> Found:
    if error := seen.error("sampled"):
        return _of_setting(error, "`unsupported: [seed]` in its api block")
    return Found("accepted")


def _greedy(seen: Seen) -> Found:
    if error := seen.error("greedy"):
        return _of_setting(error, "`unsupported: [temperature]` in its api block")
    first, second = seen.answer("greedy"), seen.answer("again")
    if not first or not second:
        return Found("not known: no reply")
    if first.reply == second.reply:
        return Found("equal")
    setting = "`concurrency: 1` in its row, where batches make the difference"
    return Found("they differ: one sample a task is a matter of luck", setting)


def _of_setting(error: str, setting: str) -> Found:
    """Returns a refusal with the setting that it names; with the usual one where no rule explains it."""
    if named := re.search(r"`(?:unsupported|max_\w+)[^`]*`[^;]* block", error):
        return Found(error, named[0])
    return Found(error, setting if setting in error or re.match(r"4(?:00|22)\b", error) else "")


CHECKS: Final[Mapping[str, tuple[Callable[[Seen], Found], set[str]]]] = {
    "who answers": (_who, {"plain"}),
    "reasoning": (_reasoning, {"plain"}),
    "stop strings": (_stop, {"stop"}),
    "system role": (_system, {"plain", "system"}),
    "reply limit": (_limit, {"limit"}),
    "usage": (_usage, {"plain"}),
    "context length": (_context, set()),
    "temperature and seed": (_sampled, {"sampled"}),
    "two greedy answers": (_greedy, {"greedy", "again"}),
}
"""By name: what looks, and at the replies to which questions. A run's first replies stand for `plain` and
`limit`."""


def free_findings(seen: Seen) -> list[str]:
    """Returns what a run finds in its server's list and in a reply, each with the setting that fixes it."""
    found = {name: look(seen) for name, (look, needed) in CHECKS.items() if needed <= seen.replies.keys()}
    return [f"{name}: {each.seen}: {each.setting}" for name, each in found.items() if each.setting]


def probed(model_id: str) -> str:
    """Returns the name under which the cache keeps what `probe` asked of a model."""
    return f"{model_id} (probe)"


async def probe(
    model: "OpenModel", *, may_ask: Callable[[], bool] = lambda: True
) -> tuple[dict[str, Found], str]:
    """Asks an opened model the small questions one by one; those that `may_ask` does not allow are left out.

    Returns:
        What the checks found, by their names, and the body of one reply as it came, without keys.

    Raises:
        ModelUnavailableError: the plain question has no answer, so that nothing can be said of the others.
    """
    model.server = await model.config.server_info(model.fetch)
    plain = await _ask(model, "plain")
    if not plain.answer:
        raise _api.ModelUnavailableError(plain.error)
    replies, left_out = {"plain": plain}, {"stop"} if model.kind == "instruct" else {"system"}
    if "stop" in model.config.unsupported:  # chat servers are sent none by a run
        left_out |= {"stop"}
    any_name = await model.any_name_error() if may_ask() else ""
    wanted = [name for name in QUESTIONS if name not in left_out]
    for name in wanted[1:]:
        if may_ask():
            replies[name] = await _ask(model, name)
    seen = Seen(model.config, model.kind, model.server, model.settings, replies, any_name)
    unasked = set(wanted) - replies.keys()
    found = {
        name: Found("not asked", "a larger `--budget`") if unasked & needed else look(seen)
        for name, (look, needed) in CHECKS.items()
    }
    return found, model.secrets.scrub_message(remove_keys(json.dumps(plain.body, ensure_ascii=False)))


async def _ask(model: "OpenModel", name: str) -> Reading:
    """Asks a question once, unless its reply was kept by an earlier call; reads it however it comes.

    Raises:
        ServerUnreachableError: the server does not reply at all.
    """
    request, cache, stats = _request(model, name), model.cache, model.stats
    key = model.cache_key(request, raw=name)  # kept apart from the replies of runs
    if kept := cache and cache.get(key):
        stats.from_cache += 1
        reply, seconds = HttpReply(200, kept.reply.text.encode(), {}), 0.0
    else:
        began = time.monotonic()
        reply = await model.fetch(request.path, request.body, seconds=model.config.timeout_seconds)
        seconds = time.monotonic() - began
    error, answer, body = "", None, dict[str, Any]()
    with contextlib.suppress(_api.Malformed, _api.EndpointError):
        body = json_object(reply)
    try:
        try:
            answer = await model.read_reply(request, reply)
        except _api.OtherModel as other:
            error = str(other)
            known = model.config.model_copy(update={"served_as": (other.served,)})
            answer = known.read(request, body)
    except _api.Malformed as failure:
        error = str(model.useless_error(failure) if name == "plain" else failure)
    except _api.Retryable as failure:
        error = f"{failure}; probe again later"
    except _api.EndpointError as failure:
        error = str(failure)
    if not kept and reply.status == 200:
        if answer is None:
            stats.count_lost_reply(request.asked_tokens)
        else:
            timed = replace(answer, seconds=seconds)
            stats.count_answer(timed, request.asked_tokens, is_cut_by_context=False)
            if cache is not None and not answer.is_passing:
                text = Reply(text=reply.body.decode("utf-8", "replace"))
                cache.put(key, probed(model.id), _api.Answer(text, Usage(requests=1), seconds, ""))
    return Reading(request, body, answer, model.secrets.scrub_message(error))


def _request(model: "OpenModel", name: str) -> Request:
    """Returns the request as a run would send it, without the settings that are not asked about."""
    sampling, settings = QUESTIONS[name]
    system = (_api.Message("system", _SYSTEM),) if name == "system" else ()
    prompt = (
        _api.Completion(_TEXT) if model.kind == "base" else _api.Chat((*system, _api.Message("user", _TASK)))
    )
    request = model.request(prompt, sampling)
    unasked = _OPTIONAL - settings - model.config.body.keys()
    body = {field: value for field, value in request.body.items() if field not in unasked}
    if name != "limit":
        return replace(request, body=body)
    body |= dict.fromkeys(body.keys() & _LIMIT_FIELDS, 1)  # without what the row adds for reasoning
    return replace(request, body=body, sampling=sampling)
