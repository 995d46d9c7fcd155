"""No reply takes time that grows faster than it: steps are counted on a text and on one twice as long."""

from pathlib import Path

import pytest

from support.case_files import sections
from support.steps import steps_of
from triathlon_runner.records import Reply
from triathlon_runner.replies import extract_program, split_reasoning, visible_text

TEXTS = {"FENCE": "```python\n", "F": "def f(x):\n    return x + 1\n"}
SHAPES = sections(Path(__file__).with_name("linear_shapes.txt"))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("way", ["markup", "answer", "completion", "as written"])
def test_twice_the_text_takes_twice_the_steps(shape: str, way: str) -> None:
    """A little more is allowed for what a short text spares."""

    def steps(size: int) -> int:
        text = eval(SHAPES[shape], {**TEXTS, "n": size})
        if way == "markup":
            return steps_of(lambda: (split_reasoning(text), visible_text(text)))
        options = {"completes": way == "completion", "as_written": way == "as written"}
        return steps_of(
            lambda: extract_program(Reply(text=text), entry_point="f", prompt="def f(x):\n", **options)
        )

    short, long = steps(220), steps(440)
    assert long <= 2.4 * short + 2_000, (short, long)
