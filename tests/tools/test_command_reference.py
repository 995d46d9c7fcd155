"""docs/commands.md says what the commands say."""

import os
import subprocess
import sys
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[2]


def test_the_reference_is_that_of_the_commands() -> None:
    """It is generated, and changes with the commands: `make docs` writes it anew."""
    tools = os.environ | {"PYTHONPATH": str(ROOT / "tools")}
    command = [sys.executable, "-c", "import command_reference; print(command_reference.reference(), end='')"]
    found = subprocess.run(command, env=tools, capture_output=True, text=True, check=True)
    assert (ROOT / "docs/commands.md").read_text() == found.stdout


def test_the_docs_list_every_page() -> None:
    """A page of docs/ that no menu names would not be found; one that is named has to be there."""
    pages = yaml.safe_load((ROOT / "mkdocs.yml").read_text())["nav"]
    named = [path for page in pages for path in page.values()]
    assert sorted(named) == sorted(path.name for path in (ROOT / "docs").glob("*.md"))
