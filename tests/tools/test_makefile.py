"""Targets of the Makefile that take a folder."""

import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_a_folder_without_recordings_is_refused(tmp_path: Path) -> None:
    """Not a success that graded nothing; the message says which folders are looked for."""
    command = ["make", "--assume-old=setup", "recorded", f"DIR={tmp_path}"]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.returncode == 2
    assert f"loop/, evolved-* or cruxeval/ at DIR, got '{tmp_path}'" in result.stderr


def test_every_target_has_a_rule() -> None:
    """`make NAME` of a name that is only declared would end well and do nothing."""
    text = (ROOT / "Makefile").read_text()
    declared = re.search(r"^\.PHONY: (.*)$", text, re.MULTILINE)
    assert declared is not None
    assert set(declared[1].split()) == set(re.findall(r"^([a-z-]+):.*## ", text, re.MULTILINE))
