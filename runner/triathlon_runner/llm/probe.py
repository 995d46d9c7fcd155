"""How a server behaves: one table of checks, and the small questions whose replies they look at.

`triathlon probe` asks the questions, at most nine; a run makes the checks that are `free` on the server's
list and its first replies. A new check is one entry of `CHECKS`, and of `QUESTIONS` where it needs one.
"""

import contextlib
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

from triathlon_runner.llm._api import (
    Answer,
    Chat,
    Completion,
    EndpointError,
    Malformed,
    Message,
    ModelKind,
    ModelSettings,
    ModelUnavailableError,
    OtherModel,
    Retryable,
    Sampling,
)
from triathlon_runner.llm._errors import json_object
from triathlon_runner.llm.openai_chat import content_text
from triathlon_runner.llm.provider import ApiConfig, Request, ServerInfo, estimated_tokens
from triathlon_runner.pasted_keys import remove_keys
from triathlon_runner.records import Finish
from triathlon_runner.replies import markers_in, unknown_marker

if TYPE_CHECKING:
    from triathlon_runner.llm._model import OpenModel

_STOP: Final = "[/DONE]"
_TASK: Final = (
    "Write a Python function `double(x)` that returns twice x. Think about it first. End with the line"
    f" {_STOP} behind the function."
)
_TEXT: Final = "def double(x):\n    "
_SYSTEM: Final = (
    "You are a programmer who answers in short sentences and writes Python without comments. You think about"
    " a task before you answer, and you say nothing that you were not asked for."
)
"""Longer than what chat templates put in its place: equal numbers of tokens mean that it is not read."""
_OPTIONAL: Final = ("temperature", "top_p", "seed", "stop")
LIMIT_FIELDS: Final = {"max_tokens": "max_completion_tokens", "max_completion_tokens": "max_tokens"}
"""Names of the token limit, each with the other."""
_COINCIDENCE: Final = 64
"""Tokens of a limit from which on a whole reply that has as many is no coincidence."""


@dataclass(frozen=True, slots=True)
class SmallQuestion:
    """A small question; of the optional settings it has only those that are named."""

    settings: tuple[str, ...] = ()
    tokens: int = 48
    number: int = 0
    """Makes an equal question another one to the cache."""
    system: bool = False
    temperature: float = 0.0


QUESTIONS: Final[Mapping[str, SmallQuestion]] = {
    "plain": SmallQuestion(tokens=128),
    "greedy": SmallQuestion(("temperature", "top_p")),
    "again": SmallQuestion(("temperature", "top_p"), number=1),
    "sampled": SmallQuestion(("temperature", "top_p", "seed"), temperature=0.8),
    "system": SmallQuestion(tokens=16, system=True),
    "stop": SmallQuestion(("stop",), tokens=128),
    "limit": SmallQuestion(tokens=1),
}
"""With the second try of a refused token limit and the question for a model that nobody has: at most nine."""


@dataclass(frozen=True, slots=True)
class Reading:
    """A reply as it is looked at: what it says, its text before markup was split off, or its error."""

    request: Request
    body: Mapping[str, Any] = field(default_factory=dict)
    answer: Answer | None = None
    error: str = ""
    """In words, with the row's setting to change; beside a reply where that is by another name."""

    @property
    def text(self) -> str:
        """The answer with all markup, as the server wrote it."""
        for choice in self.body.get("choices") or [self.body]:
            message = choice.get("message") or choice
            return content_text(message.get("content") or message.get("text"))[0] or ""
        return ""


@dataclass(frozen=True, slots=True)
class Seen:
    """All that the checks look at."""

    config: ApiConfig
    kind: ModelKind
    server: ServerInfo
    settings: ModelSettings
    replies: Mapping[str, Reading]
    refused_limit: str = ""
    """Why the token limit was refused under the name that the row gives it."""
    any_name: str = ""
    """That the server answers to any name, in words; empty where it lists the model, or refuses others."""

    def answer(self, question: str) -> Answer | None:
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

    def __str__(self) -> str:
        return f"{self.seen}: {self.setting}" if self.setting else self.seen


@dataclass(frozen=True, slots=True)
class Check:
    """One line of the table."""

    name: str
    look: Callable[[Seen], Found]
    questions: tuple[str, ...] = ()
    free: bool = False
    """Whether a run makes it of the server's list and its first replies, which stand for its questions."""


def _who(seen: Seen) -> Found:
    if seen.any_name:
        return Found(seen.any_name, "ask for a listed name, or add `served_as: [NAME]` to its api block")
    reading = seen.replies["plain"]
    if "served_as" in reading.error:
        return Found(reading.error, "the right name in `model`, or `served_as`, in its api block")
    served = str(reading.body.get("model") or "")
    parts = {
        "answers as": repr(served) if served else "",
        "server": seen.server.name,
        "weights": seen.server.digest,
        "quantization": seen.server.quantization,
    }
    stated = ", ".join(f"{name} {value}" for name, value in parts.items() if value)
    is_known = seen.server.digest or seen.server.quantization
    missing = "" if is_known else "; weights and quantization not stated"
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
    if not markers and not answer.reply.reasoning:
        return Found("none in the text")
    what = f"leaks into the text with {markers}" if markers else "in a field of its own"
    if not answer.reply.reasoning or seen.config.reasoning_max_tokens:
        return Found(f"{what}; it is split off here")
    return Found(
        f"{what}, and takes its tokens from the answer's", "`reasoning_max_tokens: 8192` in its api block"
    )


def _stop(seen: Seen) -> Found:
    if error := seen.error("stop"):
        return _of_setting(error, "`unsupported: [stop]` in its api block")

    def is_nothing(answer: Answer | None) -> bool:
        return answer is not None and not answer.reply.text.strip() and answer.reply.finish is Finish.STOP

    answer = seen.answer("stop")
    if answer and answer.reply.reasoning and is_nothing(answer) and not is_nothing(seen.answer("plain")):
        return Found(
            "they end the reply inside its reasoning; chat servers are sent none here, replies are cut here",
            "`unsupported: [stop]` in its api block says so of this server",
        )
    return Found("accepted" if answer else "none are sent")


def _system(seen: Seen) -> Found:
    setting = "`system_prompt: merge` in its row"
    if seen.kind == "base":
        return Found("base models are asked without one")
    if error := seen.error("system"):
        return Found(error, setting)
    with_it, without = seen.answer("system"), seen.answer("plain")
    if seen.settings.merges_system:
        return Found("stands before the user's text, as the row says")
    # Fewer tokens are no sign: some chat templates have a long system prompt of their own, which it replaces.
    if with_it and without and 0 < with_it.usage.input_tokens == without.usage.input_tokens:
        return Found("not read: the question has as many tokens with it as without", setting)
    return Found("accepted")


def _limit(seen: Seen) -> Found:
    if error := seen.error("limit"):
        return Found(f"a limit of one token is refused: {error}", "`reasoning_max_tokens` in its api block")
    reading, answer = seen.replies["limit"], seen.answer("limit")
    if seen.refused_limit:
        return _of_setting(seen.refused_limit, "`max_tokens_field` in its api block")
    if answer is None:
        return Found("not known: no reply")
    limit, written = reading.request.sampling.max_tokens, answer.usage.output_tokens
    if not written:
        estimate = estimated_tokens(answer.reply.text, answer.reply.reasoning)
        written = estimate if estimate > 3 * limit + 5 else 0
    name = next((name for name in LIMIT_FIELDS if name in reading.request.body), "max_tokens")
    if written > limit:
        return Found(
            f"not obeyed: {written} tokens where {limit} were allowed as {name!r}",
            f"`max_tokens_field: {LIMIT_FIELDS[name]}` in its api block",
        )
    if answer.reply.finish is Finish.STOP and (limit == 1 or written == limit >= _COINCIDENCE):
        return Found(
            "a reply that was cut at the limit is reported as complete",
            "a `max_tokens` in its row that no answer reaches",
        )
    return Found("obeyed")


def _usage(seen: Seen) -> Found:
    answer = seen.answer("plain")
    assert answer is not None
    if answer.usage.uncounted:
        return Found(
            "no token counts: costs are unknown, and `--budget` estimates them",
            "what makes the server count, such as `body: {usage: {include: true}}`, in its api block",
        )
    counts = f"{answer.usage.input_tokens} tokens in, {answer.usage.output_tokens} out"
    reasoning = answer.usage.reasoning_tokens
    return Found(f"{counts}, {reasoning} of them reasoning" if reasoning else counts)


def _context(seen: Seen) -> Found:
    stated, of_row = seen.server.context, seen.settings.context
    if stated is None:
        row = f"{of_row} tokens by the row" if of_row else "`context: N` in the row would state it"
        return Found(f"not stated by the server; {row}")
    if of_row and of_row > stated:
        return Found(
            f"{stated} tokens, but the model can do {of_row} by the row",
            f"start the server with more, or `context: {stated}` in its row",
        )
    longest = max((reading.request.estimated_tokens for reading in seen.replies.values()), default=0)
    if seen.server.server == "ollama" and longest > stated:
        return Found(
            f"{stated} tokens, fewer than a question with its reply takes: Ollama cuts it without an error",
            "start it with a larger OLLAMA_CONTEXT_LENGTH, or set a smaller `max_tokens` in the row",
        )
    return Found(f"{stated} tokens")


def _greedy(seen: Seen) -> Found:
    if error := seen.error("greedy"):
        return _of_setting(error, "`unsupported: [temperature]` in its api block")
    first, second = seen.answer("greedy"), seen.answer("again")
    if not first or not second:
        return Found("not known: no reply")
    if first.reply == second.reply:
        return Found("equal")
    return Found(
        "they differ: one sample a task is a matter of luck",
        "`concurrency: 1` in its row, where batches make the difference",
    )


def _sampled(seen: Seen) -> Found:
    if error := seen.error("sampled"):
        return _of_setting(error, "`unsupported: [seed]` in its api block")
    return Found("accepted")


def _of_setting(error: str, setting: str) -> Found:
    """Returns a refusal with the setting that its message names, else with the usual one."""
    named = re.search(r"`(?:unsupported|max_\w+)[^`]*`[^;]* block", error)
    return Found(error, named[0] if named else setting)


CHECKS: Final = (
    Check("who answers", _who, ("plain",), free=True),
    Check("reasoning", _reasoning, ("plain",), free=True),
    Check("stop strings", _stop, ("plain", "stop")),
    Check("system role", _system, ("plain", "system")),
    Check("reply limit", _limit, ("limit",), free=True),
    Check("usage", _usage, ("plain",), free=True),
    Check("context length", _context, free=True),
    Check("temperature and seed", _sampled, ("sampled",)),
    Check("two greedy answers", _greedy, ("greedy", "again")),
)


def free_findings(seen: Seen) -> list[str]:
    """Returns what a run finds in its server's list and in a reply, each with the setting that fixes it."""
    free = (check for check in CHECKS if check.free and seen.replies.keys() >= set(check.questions))
    found = ((check.name, check.look(seen)) for check in free)
    return [f"{name}: {each}" for name, each in found if each.setting]


@dataclass(frozen=True, slots=True)
class Report:
    """What the checks found, by their names."""

    found: Mapping[str, Found]
    raw: str
    """The body of one reply as it came, without keys."""

    @property
    def has_findings(self) -> bool:
        return any(found.setting for found in self.found.values())


async def probe(model: "OpenModel", *, may_ask: Callable[[], bool] = lambda: True) -> Report:
    """Asks the small questions one by one and makes the checks.

    Args:
        model: The model, opened and not yet identified.
        may_ask: Asked before each question; those that it does not allow are left out.

    Raises:
        ModelUnavailableError: the plain question has no answer, so that nothing can be said of the others.
    """
    refused, limit_field = "", ""
    await model.learn_server()
    plain = await _ask(model, "plain")
    if not plain.answer and (other := re.search(r"`max_tokens_field: (\w+)`", plain.error)):
        refused, limit_field = plain.error, other[1]
        plain = await _ask(model, "plain", limit_field)
    if not plain.answer:
        raise ModelUnavailableError(plain.error)
    replies = {"plain": plain}
    any_name = await model.any_name_error() if may_ask() else ""
    wanted = dict.fromkeys(name for check in CHECKS for name in check.questions if _can_ask(model, name))
    for name in wanted:
        if name not in replies and may_ask():
            replies[name] = await _ask(model, name, limit_field)
    seen = replace(model.seen(replies), refused_limit=refused, any_name=any_name)
    found = {}
    for check in CHECKS:
        unasked = wanted.keys() & set(check.questions) - replies.keys()
        found[check.name] = Found("not asked", "a larger `--budget`") if unasked else check.look(seen)
    return Report(found, model.secrets.scrub_message(remove_keys(json.dumps(plain.body, ensure_ascii=False))))


def _can_ask(model: "OpenModel", name: str) -> bool:
    """Whether a question makes sense for this row."""
    config = model.config
    if name == "stop":
        return "stop" not in config.unsupported and config.provider != "anthropic"
    return name != "system" or model.kind == "instruct"


async def _ask(model: "OpenModel", name: str, limit_field: str = "") -> Reading:
    """Asks a question once, and reads its reply however it comes.

    Args:
        model: The model.
        name: Of the question.
        limit_field: Name of the token limit where the row's was refused.

    Raises:
        ServerUnreachableError: the server does not reply at all.
    """
    request = _request(model, QUESTIONS[name], limit_field)
    reply, seconds = await model.raw_reply(request, QUESTIONS[name].number)
    error, answer, body = "", None, dict[str, Any]()
    with contextlib.suppress(Malformed, EndpointError):
        body = json_object(reply)
    try:
        answer = await model.read_reply(request, reply)
    except OtherModel as other:
        error = str(other)
        known = model.config.model_copy(update={"served_as": (other.served,)})
        answer = known.read(request, body)
    except (Retryable, EndpointError) as failure:
        error = str(failure)
    if seconds is not None and reply.status == 200:
        if answer is None:
            model.stats.count_lost_reply(request.asked_tokens)
        else:
            model.count(request, replace(answer, seconds=seconds))
    return Reading(request, body, answer, model.secrets.scrub_message(error))


def _request(model: "OpenModel", asked: SmallQuestion, limit_field: str) -> Request:
    """Returns the request as a run would send it, without the settings that are not asked about."""
    completes = model.kind == "base"
    system = (Message("system", _SYSTEM),) if asked.system else ()
    prompt = Completion(_TEXT) if completes else Chat((*system, Message("user", _TASK)))
    seed = 7 if "seed" in asked.settings else None
    stop = (_STOP,) if "stop" in asked.settings else ()
    sampling = Sampling(asked.tokens, asked.temperature, 0.95 if asked.temperature else 1.0, stop, seed)
    request = model.request(prompt, sampling)
    unasked = {*_OPTIONAL} - {*asked.settings, *model.config.body}
    body = {name: value for name, value in request.body.items() if name not in unasked}
    if stop and not completes:  # a run sends chat servers none
        body["stop"] = list(stop)
    for name in LIMIT_FIELDS.keys() & body.keys():
        if asked.tokens == 1:  # without what the row adds for reasoning
            body[name] = 1
            request = replace(request, sampling=replace(sampling, max_tokens=1))
        body[limit_field or name] = body.pop(name)
    return replace(request, body=body)
