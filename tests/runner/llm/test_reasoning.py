"""Reasoning is never taken for the answer."""

import pytest

from triathlon_runner.llm.openai_chat import content_text, reasoning_field, split_reasoning


@pytest.mark.parametrize(
    ("text", "answer", "reasoning"),
    [
        ("plain answer", "plain answer", ""),
        ("<think>why</think>\n\nanswer", "answer", "why"),
        ("<think>\nwhy\n</think>answer", "answer", "why"),
        ("why, without an opening tag\n</think>\nanswer", "answer", "why, without an opening tag"),
        ("<think>never closed", "", "never closed"),
        ("<think></think>answer", "answer", ""),
        ("<think>a</think>x\n<think>b</think>\ny", "x\n\ny", "a\nb"),
        ("Sure.\n<think>a</think>\nanswer", "Sure.\n\nanswer", "a"),
        ("start</think><think>more</think>answer", "answer", "start\nmore"),
        ("<thinking>a</thinking>answer", "answer", "a"),
        ("<seed:think>a</seed:think>answer", "answer", "a"),
        ("◁think▷a◁/think▷answer", "answer", "a"),
        ("    return 1\n", "    return 1\n", ""),
        ("s = '<think>'\nt = 1", "s = '<think>'\nt = 1", ""),
        ("s = '<think>a</think>'", "s = '<think>a</think>'", ""),
        ("", "", ""),
    ],
)
def test_splits(text: str, answer: str, reasoning: str) -> None:
    """Tagged text is reasoning, also unclosed or without its opening tag; tags inside a line are content."""
    assert split_reasoning(text) == (answer, reasoning)


@pytest.mark.parametrize("name", ["reasoning_content", "reasoning"])
def test_field(name: str) -> None:
    """A server's own field for reasoning is read under either of its names."""
    assert reasoning_field({"content": "x", name: "because"}) == "because"
    assert reasoning_field({"content": "x", name: None}) == ""


def test_content_parts() -> None:
    """A message whose content is a list of parts gives its texts and, apart, its thoughts."""
    parts = [
        {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]},
        {"type": "text", "text": "one "},
        {"type": "text", "text": "two"},
        "junk",
    ]
    assert content_text(parts) == ("one two", "hm")
    assert content_text(None) == (None, "")
