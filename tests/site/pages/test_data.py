"""The page of the data files: what it links is there; the card of our own problems."""

import re
from pathlib import Path

from support.site import build_small


def test_files_and_commands_are_linked(tmp_path: Path) -> None:
    """Every format of `triathlon export` stands there with its command; what is linked is a file."""
    build_small(tmp_path)
    site = tmp_path / "_site"
    page = (site / "data.html").read_text()
    for name in ("every-eval-ever", "hf-eval-results", "evalplus", "inspect"):
        assert f"<code>triathlon export {name} --out exported</code>" in page
    links = set(re.findall(r'href="(data/[^"]+)"', page))
    assert links >= {
        "data/loop-core.csv",
        "data/overall-core.json",
        "data/scores.parquet",
        "data/core/problems.jsonl",
    }
    assert [path for path in links if not (site / path).is_file()] == []
    card = (site / "core.html").read_text()
    assert "<h2>Known limits</h2>" in card and "<table>" in card
