"""`triathlon probe`: asks a server at most ten small questions and makes the checks of `_checks.py`."""

import contextlib
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from triathlon_runner.llm._api import (
    Chat,
    Completion,
    EndpointError,
    Malformed,
    Message,
    ModelUnavailableError,
    OtherModel,
    Retryable,
    Sampling,
)
from triathlon_runner.llm._checks import CHECKS, LIMIT_FIELDS, QUESTIONS, Found, Reading, SmallQuestion
from triathlon_runner.llm._errors import json_object
from triathlon_runner.llm._model import OpenModel
from triathlon_runner.llm._server_info import any_name_error, lists_model
from triathlon_runner.llm.provider import Request
from triathlon_runner.pasted_keys import remove_keys

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


@dataclass(frozen=True, slots=True)
class Report:
    """What the checks found, by their names."""

    found: Mapping[str, Found]
    raw: str
    """The body of one reply as it came, without keys."""

    @property
    def has_findings(self) -> bool:
        return any(found.setting for found in self.found.values())


async def probe(model: OpenModel, *, may_ask: Callable[[], bool] = lambda: True) -> Report:
    """Asks the small questions one by one and makes the checks.

    Args:
        model: The model, opened and not yet identified.
        may_ask: Asked before each question; those that it does not allow are left out.

    Raises:
        ModelUnavailableError: the plain question has no answer, so that nothing can be said of the others.
    """
    prober = _Prober(model)
    endpoint = model.endpoint
    server = await endpoint.learn_server()
    plain, refused = await prober.read("plain"), ""
    if not plain.answer and (other := re.search(r"`max_tokens_field: (\w+)`", plain.error)):
        refused, prober.limit_field = plain.error, other[1]
        plain = await prober.read("plain")
    if not plain.answer:
        raise ModelUnavailableError(plain.error)
    replies = {"plain": plain}
    is_listed = lists_model(server, endpoint.config)
    is_any = not is_listed and may_ask() and await endpoint.answers_to_any_name(model.kind)
    wanted = dict.fromkeys(name for check in CHECKS for name in check.questions if prober.can_ask(name))
    for name in wanted:
        if name not in replies and may_ask():
            replies[name] = await prober.read(name)
    any_name = any_name_error(server, endpoint.config) if is_any else ""
    seen = replace(endpoint.seen(model.kind, replies), refused_limit=refused, any_name=any_name)
    found = {}
    for check in CHECKS:
        unasked = wanted.keys() & set(check.questions) - replies.keys()
        found[check.name] = Found("not asked", "a larger `--budget`") if unasked else check.look(seen)
    return Report(
        found, endpoint.secrets.scrub_message(remove_keys(json.dumps(plain.body, ensure_ascii=False)))
    )


class _Prober:
    """Asks single questions, and reads their replies however they come."""

    def __init__(self, model: OpenModel) -> None:
        self._model, self._endpoint = model, model.endpoint
        self.limit_field = ""
        """Name of the token limit where the row's was refused."""

    def can_ask(self, name: str) -> bool:
        """Whether a question makes sense for this row."""
        config, chats = self._endpoint.config, self._model.kind == "instruct"
        if name == "stop":
            return "stop" not in config.unsupported and config.provider != "anthropic"
        return {"system": chats, "completion": chats and config.provider == "openai"}.get(name, True)

    async def read(self, name: str) -> Reading:
        """Asks a question once.

        Raises:
            ServerUnreachableError: the server does not reply at all.
        """
        asked, endpoint = QUESTIONS[name], self._endpoint
        request = self._request(asked)
        reply, seconds = await self._model.raw_reply(request, asked.number)
        error, answer, body = "", None, dict[str, Any]()
        with contextlib.suppress(Malformed, EndpointError):
            body = json_object(reply)
        try:
            answer = await endpoint.read_reply(request, reply)
        except OtherModel as other:
            error = str(other)
            known = endpoint.config.model_copy(update={"served_as": (other.served,)})
            answer = known.read(request, body)
        except (Retryable, EndpointError) as failure:
            error = str(failure)
        if seconds is not None and reply.status == 200:
            endpoint.count_probe(request, answer, seconds)
        return Reading(request, body, answer, endpoint.secrets.scrub_message(error))

    def _request(self, asked: SmallQuestion) -> Request:
        """Returns the request as a run would send it, without the settings that are not asked about."""
        endpoint, is_base = self._endpoint, self._model.kind == "base"
        completes = asked.completes or is_base
        system = (Message("system", _SYSTEM),) if asked.system else ()
        prompt = Completion(_TEXT) if completes else Chat((*system, Message("user", _TASK)))
        seed = 7 if "seed" in asked.settings else None
        stop = (_STOP,) if "stop" in asked.settings else ()
        sampling = Sampling(asked.tokens, asked.temperature, 0.95 if asked.temperature else 1.0, stop, seed)
        request = endpoint.request(prompt, sampling)
        body = {
            name: value
            for name, value in request.body.items()
            if name not in _OPTIONAL or name in asked.settings or name in endpoint.config.body
        }
        if stop and not completes:  # a run sends chat servers none
            body["stop"] = list(stop)
        for name in LIMIT_FIELDS.keys() & body.keys():
            if asked.tokens == 1:  # without what the row adds for reasoning
                body[name] = 1
                request = replace(request, sampling=replace(sampling, max_tokens=1))
            body[self.limit_field or name] = body.pop(name)
        return replace(request, body=body)
