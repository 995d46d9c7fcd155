"""From bytes to an answer."""

import json
import re
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from support.virtual_server import VirtualServer, model_behind
from support.virtual_time import run_virtually
from triathlon_runner.llm import Answer, Chat, Completion, EndpointError, Message, OpenAI, Sampling
from triathlon_runner.llm._api import OtherModel, Retryable
from triathlon_runner.llm.openai_chat import check_model, is_related
from triathlon_runner.llm.provider import HttpReply
from triathlon_runner.records import Finish
from triathlon_runner.terminal import visible

CONFIG = OpenAI(base_url="http://127.0.0.1:1/v1", model="org/Model-7B", served_as=("alias",))
CHAT = Chat((Message("user", "q"),))


def read(body: Any, prompt: Chat | Completion = CHAT, max_tokens: int = 8, status: int = 200) -> Answer:
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()

    async def reading() -> Answer:
        model = model_behind(VirtualServer().send, CONFIG)
        request = model.request(prompt, Sampling(max_tokens, stop=("[/ANSWER]", "never")))
        return await model.read_reply(request, HttpReply(status, raw, {}))

    return run_virtually(reading())[0]


def chat(content: Any, finish: str | None = "stop", **message: Any) -> dict[str, Any]:
    choice = {"index": 0, "finish_reason": finish, "message": {"content": content, **message}}
    return {"model": "Model-7B", "choices": [choice], "usage": {"prompt_tokens": 3, "completion_tokens": 2}}


@pytest.mark.parametrize(
    ("reasons", "max_tokens", "meant"),
    [
        (["stop", "eos", "tool_calls"], 8, Finish.STOP),
        (["length", "MAX_TOKENS", "model_length", "incomplete"], 8, Finish.LENGTH),
        (["context_length_exceeded"], 8, Finish.CONTEXT_OVERFLOW),
        (["content_filter", "SAFETY", "SPII", "content_filter: OTHER"], 8, Finish.REFUSED),
        (["guardrail_intervened", "content_filtered"], 8, Finish.REFUSED),
        ([None, "a_new_word"], 2, Finish.LENGTH),
        ([None, "a_new_word"], 3, Finish.STOP),
    ],
)
def test_finish_reasons(reasons: list[str | None], max_tokens: int, meant: Finish) -> None:
    """Every server's word for why it stopped becomes one of ours; without one the count of tokens decides."""
    assert {read(chat("x", reason), max_tokens=max_tokens).reply.finish for reason in reasons} == {meant}


NO_COUNTS = [
    None,
    {},
    {"prompt_tokens": 0, "completion_tokens": None},
    {"input_tokens": 3, "output_tokens": 2},
    {"prompt_tokens": 3},
    {"prompt_tokens": 3, "completion_tokens": 0},
    {"prompt_tokens": 3, "completion_tokens": -50},
    {"prompt_tokens": 2**60, "completion_tokens": 2},
    {"prompt_tokens": True, "completion_tokens": 2},
]


@pytest.mark.parametrize("usage", NO_COUNTS)
def test_usage_that_counts_nothing(usage: dict[str, Any] | None) -> None:
    """No question has zero tokens: such a reply costs an unknown sum, not nothing."""
    found = read({**chat("x"), "usage": usage})
    assert (found.usage.requests, found.usage.uncounted) == (1, 1)


@pytest.mark.parametrize(
    ("reasoning", "total", "output"),
    [(1, None, 2), (1, 5, 2), (1, 6, 3), (500, 505, 502), (500, 5, 502), (0, 900, 2), (1, 900, 3)],
)
def test_usage(reasoning: int, total: int | None, output: int) -> None:
    """Tokens are those that the server counted; reasoning that it leaves out of the completion's is added."""
    body = chat("x")
    body["usage"] |= {"total_tokens": total, "completion_tokens_details": {"reasoning_tokens": reasoning}}
    usage = read(body).usage
    assert (usage.requests, usage.uncounted, usage.input_tokens) == (1, 0, 3)
    assert (usage.output_tokens, usage.reasoning_tokens) == (output, reasoning)


def without_message(finish: str) -> dict[str, Any]:
    """As Gemini replies where it refuses."""
    return {**chat(None), "choices": [{"index": 0, "finish_reason": finish}]}


PARTS = [
    {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]},
    {"type": "text", "text": "one "},
    {"type": "output_text", "text": "two"},
    "junk",
]
SECOND = {**chat("second")["choices"][0], "index": 1}
TEXT = {"model": "Model-7B", "choices": [{"index": 0, "finish_reason": "stop", "text": "    return 1\n"}]}
NO_TEXT = {**TEXT, "choices": [{"finish_reason": "stop", "text": None}]}


@pytest.mark.parametrize(
    ("body", "text", "reasoning", "finish"),
    [
        (chat("<think>b</think>answer", reasoning_content="a"), "answer", "a\nb", Finish.STOP),
        (chat("answer", reasoning="a"), "answer", "a", Finish.STOP),
        (chat("<think>b</think>YES\n</think>"), "<think>b</think>YES\n</think>", "", Finish.STOP),
        (chat("answer", thinking="a", reasoning=None), "answer", "a", Finish.STOP),
        (chat(PARTS), "one two", "hm", Finish.STOP),
        (chat(None, "length", reasoning="hm"), "", "hm", Finish.LENGTH),
        (chat(None, "length"), "", "", Finish.LENGTH),
        (without_message("content_filter: PROHIBITED_CONTENT"), "", "", Finish.REFUSED),
        (without_message("length"), "", "", Finish.LENGTH),
        (chat(None, refusal="I can't help."), "I can't help.", "", Finish.REFUSED),
        ({**chat("x"), "choices": [SECOND, *chat("first")["choices"]]}, "first", "", Finish.STOP),
        (chat("a = 1\n[/ANSWER] and more", "length"), "a = 1\n", "", Finish.STOP),
        ({**chat("x"), "model": "alias"}, "x", "", Finish.STOP),
        (TEXT, "    return 1\n", "", Finish.STOP),
        (json.dumps(chat("MARK")).replace("MARK", "a\\ud800b").encode(), "a\ufffdb", "", Finish.STOP),
    ],
    ids=range(15),
)
def test_what_a_reply_says(body: Any, text: str, reasoning: str, finish: Finish) -> None:
    """Reasoning stays out of the answer; stop strings are applied here; half a character is replaced."""
    reply = read(body, Completion("def f():\n") if body is TEXT else CHAT).reply
    assert (reply.text, reply.reasoning, reply.finish) == (text, reasoning, finish)


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (without_message("stop"), "without a message"),
        (chat("", "network_error"), "broke off the reply"),
        ({"object": "error", "message": "the engine is gone"}, "the server said 'the engine is gone'"),
        (
            {"choices": None, "base_resp": {"status_code": 1008, "status_msg": "insufficient balance"}},
            "used up",
        ),
        ({"choices": [], "why": "nothing left"}, "without choices, .*nothing left"),
        (b"event: message_start\ndata: {}\n\n", "streams its replies"),
        (b": PROCESSING\n\ndata: {}\n\n", "streams its replies"),
    ],
    ids=str,
)
def test_what_is_no_reply(body: Any, why: str) -> None:
    """A choice without a message, a reply that broke off, an error of any form in words, a stream."""
    with pytest.raises((Retryable, EndpointError), match=why):
        read(body)


def test_reasoning_that_met_the_limit_as_an_error() -> None:
    """OpenAI replies with 400 then: the reply was cut, and what it cost is unknown, not nothing."""
    error = {"error": {"message": "Could not finish the message because max_tokens was reached."}}
    cut = read(error, status=400)
    assert (cut.reply.finish, cut.usage.uncounted) == (Finish.LENGTH, 1)


def test_a_completion_without_a_text_is_asked_again() -> None:
    assert read(NO_TEXT, Completion("x")).is_empty and not read(TEXT, Completion("x")).is_empty


SAME = """
gpt-4o gpt-4o-2024-08-06
mistral-large-latest mistral-large-2411
claude-sonnet-4-0 claude-sonnet-4-20250514
Qwen/Qwen2.5-Coder-7B qwen2.5-coder-7b
deepseek/deepseek-r1:free deepseek/deepseek-r1
deepseek/deepseek-r1:nitro deepseek/deepseek-r1:floor
command-r command-r-08-2024
w/smol-hf w/smol-hf@main
models/gemini-2.0-flash gemini-2.0-flash-001
"""
OTHERS = """
qwen:instruct qwen:text
gpt-4 gpt-4o
gpt-4 gpt-3.5
qwen-7b qwen-72b
llama3:8b llama3:70b
"""


def test_names() -> None:
    """Dates, build numbers, folders and case may differ; anything else is another model."""
    for pairs, same in ((SAME, True), (OTHERS, False)):
        for pair in pairs.split("\n")[1:-1]:
            assert is_related(*pair.split()) is same, pair


def is_answer_or_named(body: Any) -> bool:
    try:
        found = read(body)
    except (Retryable, EndpointError):
        return True
    return isinstance(found.reply.text, str) and isinstance(found.reply.finish, Finish)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@given(first=json_values, second=json_values, raw=st.binary(max_size=64))
def test_any_json_and_any_bytes(first: Any, second: Any, raw: bytes) -> None:
    message = {"content": first, "reasoning": second}
    bodies = [
        {"model": first, "choices": second, "error": first},
        {"model": "Model-7B", "choices": [{"finish_reason": first, "message": second}], "usage": first},
        {"model": "Model-7B", "choices": [{"finish_reason": "stop", "message": message}], "usage": second},
        raw,
    ]
    assert all(is_answer_or_named(body) for body in bodies)


@pytest.mark.parametrize(
    "name", ["evil\x1b[2J\nred", "a, b: c", "1.0", "\u202e\x9b\x7f", 'say "hi"', "名\u2028"]
)
def test_a_name_to_be_pasted(name: str) -> None:
    """The advice of another model's name is one line and YAML, whatever the name holds."""
    with pytest.raises(OtherModel) as caught:
        check_model(CONFIG, name)
    shown = visible(str(caught.value))
    assert "\n" not in shown
    pasted = re.search(r"`(served_as: .*)` to the api block", shown)
    assert pasted and yaml.safe_load(pasted[1]) == {"served_as": [name]}
