"""`triathlon probe`: each fault of a server is one finding, with the setting of the row that fixes it."""

import asyncio
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from support.model_server import ModelServer, Script, model_server_process
from support.opened import opened
from support.server_replies import Asked, Half, Raw, Response, Said, Status, too_many
from support.small_run import SmallRun
from triathlon_runner.cli import _here
from triathlon_runner.llm import (
    Anthropic,
    EndpointError,
    Found,
    Limits,
    ModelKind,
    ModelSettings,
    ReplyCache,
    probe,
)
from triathlon_runner.models_yaml import Registry
from triathlon_runner.schedule import Control, ModelOpener

MODEL = "scripted"
LISTED: dict[str, Any] = {"GET /v1/models": {"data": [{"id": MODEL, "max_model_len": 4096}]}}
LIMITS = Limits(attempts=1, first_wait=0.01, first_contact_seconds=0.2, outage_seconds=0.5)


def good(asked: Asked) -> Said:
    """A whole reply within the limit, or one that is cut there and says so."""
    texts = [asked.prompt, *(each["content"] for each in asked.body.get("messages", []))]
    limit = asked.body.get("max_tokens", asked.body.get("max_completion_tokens", 99))
    said = Said("def double(x):\n    return 2 * x", input_tokens=sum(map(len, texts)), output_tokens=12)
    return replace(said, text="def", finish="length", output_tokens=limit) if limit < 12 else said


def refusing(name: str, **error: Any) -> Script:
    def answer(asked: Asked) -> Response:
        refusal = Status(400, f"Unsupported parameter: {name!r} is not supported with this model.", **error)
        return refusal if name in asked.body else good(asked)

    return answer


def with_reply(**changes: Any) -> Script:
    return lambda asked: replace(good(asked), **changes)


def has_system(asked: Asked) -> bool:
    return any(each["role"] == "system" for each in asked.body.get("messages", []))


def no_system(asked: Asked) -> Response:
    return Status(400, "System role not supported") if has_system(asked) else good(asked)


def with_default_system(asked: Asked) -> Said:
    """A server whose chat template has a long system prompt of its own, which another one replaces."""
    return replace(good(asked), input_tokens=good(asked).input_tokens + (not has_system(asked)) * 300)


def counting(asked: Asked) -> Said:
    return replace(good(asked), text=f"{asked.number}")


def hiding(asked: Asked) -> Said:
    """A service that counts reasoning and shows none."""
    said = good(asked)
    counts = {"prompt_tokens": said.input_tokens, "completion_tokens": said.output_tokens}
    usage = {**counts, "completion_tokens_details": {"reasoning_tokens": 1}}
    return replace(said, changes={"usage": usage})


async def probed(
    script: Script, may_ask: Callable[[], bool] = lambda: True, paths: Any = LISTED, **row: Any
) -> tuple[dict[str, Found], str, ModelServer]:
    async with opened(script, paths=paths, limits=LIMITS, **row) as (server, model):
        return *(await probe(model, may_ask=may_ask)), server


def findings(checks: dict[str, Found]) -> dict[str, Found]:
    return {name: found for name, found in checks.items() if found.setting}


OTHER_LIST = {"GET /v1/models": {"data": [{"id": "x", "max_model_len": 9}]}}
HARMONY = "<|channel|>analysis<|message|>"
ROOM = "reasoning_max_tokens: 8192"
LARGE, LARGE_VLLM = ({"settings": ModelSettings(engine, context=8192)} for engine in ("", "vllm"))
VLLM = {"settings": ModelSettings(engine="vllm")}
FAULTS: list[tuple[str, Script, dict[str, Any], str, str]] = [
    # check, server, row, what is seen, setting
    ("reasoning", with_reply(text="<think>hm</think>42"), {}, "leaks into the text with '<think>'", ROOM),
    ("reasoning", with_reply(text=f"{HARMONY}hm"), {}, HARMONY, ROOM),
    ("reasoning", with_reply(reasoning="hm"), {}, "in a field of its own", ROOM),
    ("reasoning", with_reply(text="", finish="length"), {}, "not shown, and takes", ROOM),
    ("reasoning", hiding, {}, "not shown, and takes", ROOM),
    ("reasoning", with_reply(text="<ponder>hm</ponder>42"), {}, "begins with '<ponder>'", "CONTRIBUTING"),
    ("reasoning", with_reply(reasoning="hm"), VLLM, "field of its own", "a `max_tokens`"),
    ("stop strings", refusing("stop"), {"kind": "base"}, "refuses 'stop'", "unsupported: [stop]"),
    ("system role", no_system, {}, "role `system`", "system_prompt: merge"),
    ("system role", with_reply(input_tokens=10), {}, "not read", "system_prompt: merge"),
    ("reply limit", with_reply(output_tokens=300), {}, "not obeyed: 300", "max_tokens_field"),
    ("reply limit", with_reply(finish="stop"), {}, "reported as complete", "`max_tokens`"),
    ("usage", with_reply(changes={"usage": None}), {}, "no token counts", "body:"),
    ("context length", good, LARGE, "4096 tokens, but the model can do 8192", "context: 4096"),
    ("context length", good, LARGE_VLLM, "can do 8192", "`max_model_len`"),
    ("temperature and seed", refusing("seed"), {}, "refuses 'seed'", "unsupported: [seed]"),
    ("two greedy answers", counting, {}, "differ", "concurrency: 1"),
    ("who answers", with_reply(model="other-7b"), {}, "answered by 'other-7b'", "served_as"),
    ("who answers", good, {"paths": OTHER_LIST}, "answers to any name", "served_as"),
]
SAID = {"type": "message", "model": MODEL, "content": [{"type": "text", "text": "42"}]}
FEW, MANY = (
    {**SAID, "stop_reason": "max_tokens", "usage": {"input_tokens": count, "output_tokens": 1}}
    for count in (20, 30)
)
WELL: list[tuple[Script, dict[str, Any]]] = [
    (good, {}),
    (good, {"kind": "base"}),
    (with_reply(text="<think>hm</think>42"), {"reasoning_max_tokens": 8192}),
    (refusing("seed"), {"unsupported": ("seed",)}),
    (refusing("max_tokens"), {"max_tokens_field": "max_completion_tokens"}),
    (no_system, {"settings": ModelSettings(merges_system=True)}),
    (with_reply(changes={"usage": None}), VLLM),
    (with_reply(reasoning="hm"), {"settings": ModelSettings("vllm", max_tokens=8192)}),
    (with_reply(text="[ANSWER]\nYES\n[/ANSWER]"), {}),
    (with_reply(text="<answer>YES</answer>"), {}),
    (with_reply(text="[YES]"), {}),
    (with_default_system, {}),
    (with_reply(model="other-7b"), {"served_as": ("other-7b",)}),
    (good, {"paths": {"GET /v1/models": {"data": [{"id": MODEL}]}}}),
    (lambda _: Raw(b'{"object": "error", "message": "content_filter", "code": 400}'), {}),
    (good, {"of": Anthropic, "paths": LISTED | {"POST /v1/messages": [FEW, MANY, FEW]}}),
]


@pytest.mark.parametrize(
    ("check", "server", "row", "seen", "setting"), [*FAULTS, *(("", *each, "", "") for each in WELL)]
)
async def test_a_fault_is_one_finding(
    check: str, server: Script, row: dict[str, Any], seen: str, setting: str
) -> None:
    """It names the row's setting, and no other check is led astray by it; ten questions at most.

    A good server has none, nor one whose row has the setting for its fault.
    """
    checks, _, model_server = await probed(server, **row)
    found = [(name, each.seen, each.setting) for name, each in findings(checks).items()]
    assert [name for name, *_ in found] == ([check] if check else []), checks
    assert all(seen in saw and setting in advice for _, saw, advice in found)
    assert len(model_server.requests) <= 10


def every_fault(asked: Asked) -> Response:
    """All faults at once that do not exclude each other."""
    if has_system(asked):
        return Status(400, "System role not supported")
    for name in ("temperature", "seed"):
        if name in asked.body:
            return Status(400, f"Unsupported parameter: {name!r}", param=name)
    text = f"<think>hm {asked.number}</think>" + 9 * "very long "
    return Said(text, changes={"usage": None}, model="other-7b")


async def test_every_fault_at_once() -> None:
    checks, raw, server = await probed(every_fault, settings=ModelSettings(context=8192))
    assert checks.keys() - findings(checks) == {"stop strings"}, "a run sends a chat server none"
    assert "temperature" in checks["temperature and seed"].setting
    assert "very long" in raw
    assert len(server.requests) <= 10


@pytest.mark.parametrize(
    ("kind", "script", "says"),
    [
        ("instruct", lambda _: Status(404, "model not found"), "does not know the model"),
        ("base", lambda _: Status(404, "model not found"), "does not know the model"),
        ("instruct", refusing("max_tokens"), "`max_tokens_field: max_completion_tokens`"),
        ("instruct", lambda _: Raw(b"<html>hello</html>"), "base_url and provider in the model's row"),
        ("instruct", lambda _: Raw(b'{"error": "overloaded"}'), "said 'overloaded'; probe again later"),
        ("instruct", with_reply(model="other", changes={"choices": []}), "a reply without choices"),
        ("instruct", lambda _: Status(400, "odd"), "look at the model's row, or ask who runs the server$"),
        ("instruct", lambda _: too_many(7200.0), "asks us to wait 2 h 0 min"),
    ],
)
async def test_no_answer(kind: ModelKind, script: Script, says: str) -> None:
    """Without an answer to the plainest question nothing is said about the rest, but what fixes that."""
    with pytest.raises(EndpointError, match=says):
        await probed(script, kind=kind)


async def test_the_budget_ends_the_questions() -> None:
    """What could not be asked is said to be open."""
    left = iter([True, True, True])
    checks, _, server = await probed(good, may_ask=lambda: next(left, False))
    assert len(server.requests) == 3
    assert checks["two greedy answers"].seen == "not asked"


@pytest.mark.parametrize(("budget", "asked"), [(0.0, 0), (1e-6, 1)])
async def test_a_budget_that_is_used_up(tmp_path: Path, budget: float, asked: int) -> None:
    """No question waits for ever, be it the first one or one that is tried again: that is the error."""
    control = Control(budget)
    async with ModelServer(lambda _: Half(), paths=LISTED) as server, asyncio.timeout(30):
        api = {"base_url": server.base_url, "model": MODEL}
        row = {"name": "m", "kind": "instruct", "api": api, "price": {"input": 1, "output": 2}}
        registry = Registry.model_validate({"models": [{"id": id, **row} for id in ("a", "b")]})
        with ReplyCache(tmp_path / "c.sqlite") as replies:
            opener = ModelOpener(registry, replies, tmp_path, lambda line: None, control=control)
            results = [await _here._probe(each, opener, control) for each in registry.models]
    assert all("is used up" in result["error"] for result in results)
    assert server.count == asked


@pytest.mark.parametrize("unusable", [b'{"error": "overloaded"}', b"<html>hello</html>"])
async def test_an_unusable_reply_is_not_kept(tmp_path: Path, unusable: bytes) -> None:
    """A server that was busy, or another one, when it was first probed is asked again by the next call."""
    first = iter([Raw(unusable)])

    def script(asked: Asked) -> Response:
        return next(first, None) or good(asked)

    with ReplyCache(tmp_path / "replies.sqlite") as cache:
        async with opened(script, paths=LISTED, limits=LIMITS, cache=cache) as (server, model):
            with pytest.raises(EndpointError):
                await probe(model)
            assert not findings((await probe(model))[0])
            assert len(server.requests) == 1 + 6
            await probe(model)
            assert len(server.requests) == 1 + 6, "good replies are kept"


async def test_lost_replies_count() -> None:
    """A reply that never came whole may be charged for: the cost that is shown contains it."""
    replies = iter([Half(), Half()])
    async with opened(lambda asked: next(replies, good(asked)), paths=LISTED, limits=LIMITS) as (_, model):
        await probe(model)
        assert (model.stats.answered, model.stats.lost) == (6, 2)
        assert model.stats.estimated_input_tokens > 0


def test_exit_codes_and_output(tmp_path: Path) -> None:
    """0 all well, 1 findings, 2 no answer or a user's error; --json has the same."""
    place = SmallRun(tmp_path)
    options = ("probe", "--model", MODEL, "--json", "--price", "1,2", "--budget", "1", "--base-url")
    with model_server_process("runner.llm.test_probe:good") as url:
        well = place.call(*options, url)
        again = place.call("probe", "--model", MODEL, "--base-url", url)
    with model_server_process("runner.llm.test_probe:every_fault") as url:
        faults = place.call("probe", "--model", MODEL, "--base-url", url, "--ask-again")
    nobody = place.call("probe", "--model", MODEL, "--base-url", "http://127.0.0.1:9/v1")
    assert (well.exit_code, again.exit_code, faults.exit_code, nobody.exit_code) == (0, 0, 1, 2), well.output
    (result,) = json.loads(well.stdout)
    assert result["answered"] == 6 and result["usd"] > 0
    assert {check["finding"] for check in result["checks"]} == {False}
    assert "6 replies of an earlier call, which --ask-again replaces" in again.output
    assert "system_prompt: merge" in faults.output
    assert "refused the connection" in nobody.output
    assert "expected --models, or --model and --base-url" in str(place.call("probe").exception)
