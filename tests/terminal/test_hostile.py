"""What servers, files and models say reaches the terminal as text: it moves, colours and hides nothing."""

import re
import shutil
import sys
import unicodedata
from pathlib import Path
from typing import Any

import pytest

from support.server_scripts import HOSTILE
from support.site import json_lines, write_lines
from support.terminal import Terminal
from support.terminal_place import Place

pytestmark = pytest.mark.slow

OURS = re.compile(r"\x1b\[([0-9;]*m|\?25[hl]|2K|\d*A)")
"""What our own tables and panel write: bold and dim, the cursor, erased lines, lines up."""
ROWS = """
models:
  - {{id: hostile, name: Hostile, api: {{base_url: "{url}", model: hostile}}}}
  - {{id: liar, name: Liar, api: {{base_url: "{url}", model: liar}}}}
"""


def assert_harmless(terminal: Terminal) -> None:
    """No control or invisible character was written that is not our own."""
    rest = OURS.sub("", terminal.output.decode())
    strange = {one for one in rest if unicodedata.category(one) in {"Cc", "Cf"} and one not in "\r\n"}
    assert not strange, rest


def joined(terminal: Terminal) -> str:
    return "".join(terminal.text.split())


@pytest.mark.parametrize("environment", [{}, pytest.param({"TERM": "dumb"}, marks=pytest.mark.slow)])
def test_a_servers_words(tmp_path: Path, url: str, environment: dict[str, Any]) -> None:
    """An error text and a model's name show their control characters, markup and emoji names as they are."""
    place = Place(tmp_path, url, ROWS)
    run = ("run", "--suites", "evolved/core-seeds", "--limit", "1")
    shown = r"wrong\x1b[2J\x1b[H\x1b]0;title\x07\x9b31m\u202etxt.exe\u2066[boldred]key[/boldred]:boom:"
    with place.open(*run, columns=200, **environment) as terminal:
        assert terminal.finish() == 2
    assert joined(terminal).replace("\\\\", "\\").count(shown) >= 2
    assert r'served_as:["wrong\u001b[2J' in joined(terminal)
    assert_harmless(terminal)


@pytest.fixture
def edited(tmp_path: Path, url: str, measured: Place) -> Place:
    """A copy of measured results in which a task and a model's folder have hostile names."""
    place = Place(tmp_path, url)
    shutil.copytree(measured.root / "results", tmp_path / "results")
    shutil.copytree(measured.root / "results", tmp_path / "before")
    runs = tmp_path / "results/runs"
    lines = runs / "good-model-instruct/evolved/core-seeds.jsonl"
    first, *rest = json_lines(lines)
    write_lines(lines, [first | {"task_id": HOSTILE}, *rest])
    folder = HOSTILE.replace("/", "")
    shutil.copytree(runs / "good-model-instruct", runs / folder)
    return place


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("results", "diff", "before", "results"), 1),
        (("results", "list", "--no-check"), 0),
        pytest.param(("verify",), 1, marks=pytest.mark.slow),
        (("build",), 0),
        (("scores", "--json"), 0),
    ],
)
def test_words_in_files(edited: Place, arguments: tuple[str, ...], code: int) -> None:
    """Ids and folders' names are shown by the commands that read them, and do nothing."""
    terminal = edited.see(*arguments, code=code, columns=200)
    assert_harmless(terminal)


def test_a_traceback_quotes_without_effect(tmp_path: Path) -> None:
    """An error of our own keeps its traceback; what it quotes is escaped there, too."""
    program = tmp_path / "broken.py"
    program.write_text(
        "from triathlon_runner.cli import app, run_app\n"
        "@app.command()\n"
        "def other() -> None: ...\n"
        "@app.command()\n"
        f"def fail() -> None: raise LookupError({HOSTILE!r})\n"
        "run_app()\n"
    )
    with Terminal([sys.executable, str(program), "fail"], columns=200) as terminal:
        assert terminal.finish() == 1
    assert "Traceback" in terminal.text
    assert_harmless(terminal)
