"""Reasoning is never taken for the answer."""

import pytest

from triathlon_runner.llm.openai_chat import content_text, reasoning_field


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
