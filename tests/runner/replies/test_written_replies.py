"""Replies in the forms of public bug reports, in our own words: from the server's message to the outcome."""

import json
from pathlib import Path
from typing import Any

import pytest

from support.virtual_server import CONFIG
from triathlon_runner.llm import Chat, Completion, Message, Sampling
from triathlon_runner.replies import extract_program

CASES = [
    json.loads(line)
    for line in Path(__file__).with_name("written_replies.jsonl").read_text("utf-8").splitlines()
]
PROMPT = 'def add(a, b):\n    """Sum of two numbers.\n\n    >>> add(1, 2)\n    3\n    """\n'


def outcome(program: str) -> str:
    """What executing the program shows."""
    names: dict[str, Any] = {"__name__": "program"}
    try:
        exec(compile(program, "program", "exec"), names)
        right = names["add"](1, 2) == 3 and names["add"](-4, 4) == 0
    except (Exception, SystemExit):
        return "crashed"
    return "passed" if right else "failed"


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_a_reply_has_the_outcome_that_it_should(case: dict[str, Any]) -> None:
    """Reasoning, wrappers, end tokens, fences, several blocks, bodies alone, parts of a message, cuts."""
    is_base = case["kind"] == "base"
    body: dict[str, Any] = {"finish_reason": case.get("finish", "stop"), "index": 0}
    if is_base:
        body["text"] = case["text"]
    else:
        body["message"] = {"role": "assistant", "content": case["text"]}
        if case.get("reasoning"):
            body["message"][case["reasoning_field"]] = case["reasoning"]
    prompt = Completion(PROMPT) if is_base else Chat((Message("user", PROMPT),))
    request = CONFIG.request(prompt, Sampling(1024))
    usage = {"prompt_tokens": 90, "completion_tokens": 40}
    reply = CONFIG.read(request, {"model": "m", "choices": [body], "usage": usage}).reply
    extracted = extract_program(reply, entry_point="add", prompt=PROMPT, completes=is_base)
    found = extracted.outcome or outcome(extracted.program)
    assert found == case["expected"], extracted
