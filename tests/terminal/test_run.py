"""`triathlon run` as a person sees it: in terminals of several sizes, with two models, one of which fails."""

import re
from typing import Any

import pytest

from support.terminal import CTRL_C, Terminal
from support.terminal_place import SUITES, Place, assert_in_order

ERROR = "Incorrect API key provided"
RUN = ("run", "--suites", SUITES, "--limit", "6")
AT_80 = ["model", "done", "open", "tokens/s", "in flight", "time left"]
AT_110 = [*AT_80, "USD", "limit", "replies"]


def words(terminal: Terminal) -> str:
    """All that was printed, with line breaks as blanks."""
    return " ".join(terminal.text.split())


@pytest.mark.parametrize(
    ("columns", "rows", "headings"),
    [
        (80, 24, AT_80),
        pytest.param(110, 40, AT_110, marks=pytest.mark.slow),
        pytest.param(200, 50, [*AT_110, "cached"], marks=pytest.mark.slow),
    ],
)
def test_panel_shows_whole_names_and_headings(
    place: Place, columns: int, rows: int, headings: list[str]
) -> None:
    """While it runs: each model's row with whole names; behind the run nothing of the panel is left.

    Each error is printed with its time above the panel, when it happens, and at the end.
    """
    with place.open(*RUN, columns=columns, rows=rows) as terminal:
        terminal.wait_for(lambda: "time left" in terminal.screen and "stopped" in terminal.screen)
        terminal.wait_for(lambda: re.search(r" \d+ s\b", terminal.screen) is not None)
        shown = terminal.screen
        assert terminal.finish() == 2, terminal.text
    (heading,) = [line for line in shown.splitlines() if line.startswith("model ")]
    assert re.split(r"  +", heading) == headings
    (good,) = [line for line in shown.splitlines() if line.startswith("good-model-instruct ")]
    assert re.fullmatch(r"good-model-instruct +\d+/12 +\d+ +\d+ +\d+ +(\d+ (s|min)|\?).*", good)
    assert re.search(r"^broken-model +0/12 +12 +– +0 +stopped", shown, re.MULTILINE)
    assert "…" not in shown
    assert_in_order(terminal)
    assert len(re.findall(r"^model ", terminal.text, re.MULTILINE)) == 1, "the final table stands there once"
    assert re.search(r"^good-model-instruct +12/12 ", terminal.screen, re.MULTILINE)
    assert "12 units finished, 12 open" in terminal.screen
    assert words(terminal).count(ERROR) == 2, terminal.text
    for line in (r"^\d\d:\d\d:\d\d broken-model: ", r"^not finished: broken-model: "):
        assert re.search(line, terminal.text, re.MULTILINE)


def test_replies_from_the_cache_are_counted(measured: Place) -> None:
    """At 80 columns the final table says where the lines of a second run come from."""
    shown = measured.see(
        *("run", "--models", "good-model-instruct", "--suites", "evolved/core-seeds", "--limit", "2"),
        *("--results", "second"),
    )
    table = re.search(r"^model (.*)\ngood-model-instruct (.*)$", shown.screen, re.MULTILINE)
    assert table, shown.screen
    cells = dict(zip(table[1].split(), table[2].split(), strict=True))
    assert (cells["done"], cells["replies"], cells["cached"]) == ("2/2", "0", "2")


@pytest.mark.parametrize(
    "environment", [{"TERM": "dumb"}, pytest.param({"NO_COLOR": "1"}, marks=pytest.mark.slow)]
)
def test_plain_lines_where_the_terminal_or_its_user_wants_them(
    place: Place, environment: dict[str, Any]
) -> None:
    """No escape sequence at all; lines with their time; each error once, and once more at the end."""
    with place.open(*RUN, **environment) as terminal:
        assert terminal.finish() == 2, terminal.text
    assert b"\x1b" not in terminal.output
    assert re.search(r"^\d\d:\d\d:\d\d preparing the sandbox$", terminal.text, re.MULTILINE)
    finished = r"^\d\d:\d\d:\d\d good-model-instruct  12/12 done  "
    assert re.search(finished, terminal.text, re.MULTILINE)
    assert words(terminal).count(ERROR) == 2


@pytest.mark.slow
@pytest.mark.parametrize(("columns", "rows"), [(40, 10), (12, 5)])
def test_a_small_window_is_enough(place: Place, columns: int, rows: int) -> None:
    """Names are folded and columns left out; nothing breaks."""
    with place.open(*RUN, columns=columns, rows=rows) as terminal:
        assert terminal.finish() == 2, terminal.text
    assert "Traceback" not in terminal.text
    assert "12unitsfinished,12open" in "".join(terminal.text.split())


def test_a_window_that_changes_its_size(place: Place) -> None:
    with place.open(*RUN, columns=110, rows=40) as terminal:
        terminal.wait_for(lambda: "limit" in terminal.screen and "stopped" in terminal.screen)
        terminal.resize(60, 20)
        terminal.wait_for(
            lambda: re.search(r"^model .*time left$", terminal.screen, re.MULTILINE) is not None
        )
        terminal.resize(110, 40)
        terminal.wait_for("limit")
        assert terminal.finish() == 2, terminal.text
    assert "12 units finished, 12 open" in terminal.screen


def test_ctrl_c_once_ends_in_order(place: Place) -> None:
    """It says that it stops, keeps what is finished, and leaves a screen that one can go on typing on."""
    with place.open(*RUN, "--models", "good-model-instruct") as terminal:
        terminal.wait_for("time left")
        terminal.press(CTRL_C)
        terminal.wait_for("Ctrl-C")
        assert terminal.finish() in (0, 1), terminal.text
    assert re.search(r"^\d\d:\d\d:\d\d Ctrl-C", terminal.text, re.MULTILINE)
    assert_in_order(terminal)
    assert re.search(r"^\d+ units finished, \d+ open", terminal.screen, re.MULTILINE)
