"""Which questions a run says that it does not ask: those of programs whose libraries are not installed."""

from types import SimpleNamespace
from typing import Any, cast

import pytest

from triathlon_runner.cli._run import notices
from triathlon_runner.schedule import RunPlan, Work


def said_of(left_out: dict[str, str]) -> str:
    """What is said of a suite that leaves these programs out."""
    settings: dict[str, Any] = {"questions": {"count": 3070, "left_out_programs": left_out}}
    row = SimpleNamespace(id="m", serve=None, api=None)
    work = SimpleNamespace(row=row, suite_id="runtime/dreval", settings=settings, asks_for_copies=False)
    return "\n".join(notices(RunPlan(work={"m": [cast("Work", work)]})))


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
