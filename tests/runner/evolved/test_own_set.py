"""docs/evolve.md, command by command: from seeds to a board on which the user's own evolved sets stand."""

import re
import shlex
import subprocess
from pathlib import Path
from typing import Final

import pytest

from support.model_server import model_server_process
from support.official_data import official_store
from support.small_run import SmallRun
from triathlon_runner.catalogue import read_catalogue

PAGE: Final = Path(__file__).parents[3] / "docs" / "evolve.md"
ADDRESS: Final = "http://127.0.0.1:11434/v1"


def _blocks(language: str, text: str) -> list[str]:
    """The blocks of a language, without the indentation of the list that they stand in."""
    blocks = re.findall(rf"( *)```{language}\n(.*?)```", text, re.DOTALL)
    return [re.sub(f"^{indent}", "", block, flags=re.MULTILINE) for indent, block in blocks]


def _follow(root: Path, url: str, page: str) -> list[str]:
    """Writes the files of the page, runs all its commands, and returns what each of ours said."""
    for block in _blocks("yaml", page):
        name = block.removeprefix("# ").partition("\n")[0]
        (root / name).write_text(block.replace(ADDRESS, url))
    said = []
    for command in "".join(_blocks("console", page)).splitlines():
        words = shlex.split(command)
        if words[0] == "triathlon":
            said.append(SmallRun(root).expect(shlex.join(words[1:]), 0))
        else:
            subprocess.run(words, cwd=root, check=True)
    return said


@pytest.mark.slow
@pytest.mark.parametrize("is_official", [False, pytest.param(True, marks=pytest.mark.official)])
def test_from_seeds_to_a_board(tmp_path: Path, is_official: bool) -> None:
    """The sets are columns of their seeds' board, with drops, pairs, composition and decomposition.

    Without the official data the page is followed on our own seeds.
    """
    page, board = PAGE.read_text(encoding="utf-8"), "evolved-official.html"
    if is_official:
        official_store()
    else:
        page = re.sub("evolved/humaneval(?!-)", "evolved/core-seeds", page).replace("humaneval-", "own-")
        board = "evolved.html"
    with model_server_process("support.evolver_replies:answer") as url:
        evolved, *_ = _follow(tmp_path, url, page)
    assert "new/decompose.jsonl: 0 accepted, 0 refused, 4 await a decision" in evolved
    for row in re.findall(r"^- .*", evolved, re.MULTILINE):
        (tmp_path / "suites.yaml").write_text(f"{row}\n")
        read_catalogue(tmp_path / "suites.yaml")
    shown = re.sub(
        r"<(style|script|svg).*?</\1>|<[^>]*>", " ", (tmp_path / "_site" / board).read_text(), flags=re.DOTALL
    )
    text = " ".join(shown.split())
    assert "On the same seeds 50.0 2 models 50.0 2 models 25.0 2 models" in text
    assert "strong 0 : 0 of 2, p 1 0 : 0 of 2, p 1 0 : 0 of 4, p 1" in text
    assert "small 2 : 0 of 2, p 0.5 2 : 0 of 2, p 0.5 2 : 0 of 4, p 0.5" in text
    for row in (r"strong 2 [\d ]+ 100\.0 2 of 2", r"small 2 [\d ]+ 0\.0 0 of 2"):
        assert len(re.findall(row, text)) == 2, text  # of Composition and of Decomposition
