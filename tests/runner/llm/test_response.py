"""From bytes to an answer."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from support.virtual_server import VirtualServer, model_behind, run_virtually
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


REPLIES = json.loads(Path(__file__).with_name("replies.json").read_text())


@pytest.mark.parametrize("case", REPLIES, ids=lambda case: case["case"])
def test_what_a_reply_says(case: dict[str, Any]) -> None:
    """Why the model stopped, tokens, text and reasoning, whatever the server's form; else what is wrong.

    `whole` is the body of a case, or else `message`, `finish_reason` and `body` change one that says "x".
    """
    message, finish = case.get("message", {"content": "x"}), case.get("finish_reason", "stop")
    usage = {"prompt_tokens": 3, "completion_tokens": 2}
    choices = [{"index": 0, "finish_reason": finish, "message": message}]
    body = {"model": "Model-7B", "choices": choices, "usage": usage, **case.get("body", {})}
    prompt = Completion("def f():\n") if "completion" in case else CHAT
    try:
        whole = case.get("whole", body)
        raw = whole.encode() if isinstance(whole, str) else whole
        answer = read(raw, prompt, case.get("max_tokens", 8), case.get("status", 200))
    except (Retryable, EndpointError) as error:
        assert re.search(case["error"], str(error))
    else:
        found = {**vars(answer.reply), **vars(answer.usage), "is_empty": answer.is_empty}
        assert found | case["means"] == found


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
