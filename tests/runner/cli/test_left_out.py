"""Which questions a run says that it does not ask: those of programs whose libraries are not installed."""

from io import StringIO
from types import SimpleNamespace
from typing import Any, cast

import pytest

from triathlon_runner.cli._run import say_left_out
from triathlon_runner.schedule import RunPlan, Work
from triathlon_runner.terminal import Screen


def said_of(left_out: dict[str, str]) -> str:
    """What is printed of a suite that leaves these programs out."""
    settings: dict[str, Any] = {"questions": {"count": 3070, "left_out_programs": left_out}}
    work = cast("Work", SimpleNamespace(suite_id="runtime/dreval", settings=settings))
    output = StringIO()
    say_left_out(RunPlan(work={"m": [work]}), Screen(width=500, file=output))
    return output.getvalue()


def test_programs_that_lack_a_library_are_named() -> None:
    """With their number of questions and what installs the libraries; others are not counted here."""
    said = said_of({"D/117": "needs bs4, not installed here", "D/3": "no input with a question"})
    assert said.startswith(
        "runtime/dreval asks 3070 questions, not all that its data set has: D/117 needs bs4"
    )
    assert "pip install 'triathlon-leaderboard[official]'" in said
    assert "D/3" not in said


@pytest.mark.parametrize("left_out", [{}, {"core/12": "no input with a question"}])
def test_programs_without_a_question_are_no_news(left_out: dict[str, str]) -> None:
    """They are so by the rules that choose questions, on every machine."""
    assert said_of(left_out) == ""
