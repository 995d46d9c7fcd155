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
from triathlon_runner.errors import UserError

PAGE: Final = Path(__file__).parents[3] / "docs" / "evolve.md"
ADDRESS: Final = "http://127.0.0.1:11434/v1"


def _blocks(language: str, text: str) -> list[str]:
    """The blocks of a language, without the indentation of the list that they stand in."""
    blocks = re.findall(rf"( *)```{language}\n(.*?)```", text, re.DOTALL)
    return [re.sub(f"^{indent}", "", block, flags=re.MULTILINE) for indent, block in blocks]


class _Reader:
    """Somebody who follows the page; without the official data on our own seeds."""

    def __init__(self, root: Path, url: str, seeds: str) -> None:
        self.root = root
        self.text = PAGE.read_text(encoding="utf-8")
        if seeds == "core-seeds":
            text = re.sub("evolved/humaneval(?!-)", "evolved/core-seeds", self.text)
            self.text = text.replace("humaneval-", "own-")
        for block in _blocks("yaml", self.text):
            name = block.removeprefix("# ").partition("\n")[0]
            (root / name).write_text(block.replace(ADDRESS, url))

    def follow(self) -> list[str]:
        """Runs all commands of the page; returns what each of ours said."""
        said = []
        for command in (line for block in _blocks("console", self.text) for line in block.splitlines()):
            words = shlex.split(command)
            if words[0] == "triathlon":
                said.append(SmallRun(self.root).expect(shlex.join(words[1:]), 0))
            else:
                subprocess.run(words, cwd=self.root, check=True)
        return said

    def sections(self, board: str) -> dict[str, str]:
        """The text of the board's sections about evolved sets, by a word of their titles."""
        page = (self.root / "_site" / board).read_text(encoding="utf-8")
        page = re.sub(r"<(style|script|svg).*?</\1>", "", page, flags=re.DOTALL)
        text = " ".join(re.sub(r"<[^>]*>", " ", page).split())
        titles = "(Drops|problem by problem|Composition|Decomposition)"
        return dict(re.findall(rf"{titles}(?:, [a-z ]+)? (?=[A-Z])(.*?) CSV", text))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("seeds", "script", "board"),
    [
        pytest.param("humaneval", "humaneval", "evolved-official.html", marks=pytest.mark.official),
        ("core-seeds", "answer", "evolved.html"),
    ],
)
def test_from_seeds_to_a_board(tmp_path: Path, seeds: str, script: str, board: str) -> None:
    """The sets are columns of their seeds' board, with drops, pairs, composition and decomposition."""
    if seeds == "humaneval":
        official_store()
    with model_server_process(f"support.evolver_replies:{script}") as url:
        reader = _Reader(tmp_path, url, seeds)
        evolved, *_ = reader.follow()
    assert "new/decompose.jsonl: 0 accepted, 0 refused, 4 await a decision" in evolved
    for row in re.findall(r"^- .*", evolved, re.MULTILINE):
        (tmp_path / "suites.yaml").write_text(f"{row}\n")
        read_catalogue(tmp_path / "suites.yaml")
    sections = reader.sections(board)
    assert "On the same seeds 50.0 2 models 50.0 2 models 25.0 2 models" in sections["Drops"]
    assert "strong 0 : 0 of 2, p 1 0 : 0 of 2, p 1 0 : 0 of 4, p 1" in sections["problem by problem"]
    assert "small 2 : 0 of 2, p 0.5 2 : 0 of 2, p 0.5 2 : 0 of 4, p 0.5" in sections["problem by problem"]
    for table in ("Composition", "Decomposition"):
        assert re.search(r"strong 2 [\d ]+ 100\.0 2 of 2", sections[table]), sections[table]
        assert re.search(r"small 2 [\d ]+ 0\.0 0 of 2", sections[table]), sections[table]


@pytest.mark.parametrize("seeds", ["evolved/nothing", "evolved/mine", "loop/core", "evolved/core-seeds@x"])
def test_seeds_that_are_none_are_named(tmp_path: Path, seeds: str) -> None:
    """They must be a set of the discipline that is built in or listed above, so never the set itself."""
    row = f"- {{id: mine, title: Mine, problems: p.jsonl, seeds: {seeds}}}\n"
    (tmp_path / "suites.yaml").write_text(row)
    with pytest.raises(UserError, match=f"line 1: expected seeds: to name a set .*; got '{seeds}'"):
        read_catalogue(tmp_path / "suites.yaml")
