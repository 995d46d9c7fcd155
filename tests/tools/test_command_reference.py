"""docs/commands.md says what the commands say."""

from pathlib import Path

import yaml

from command_reference import PAGE, reference

ROOT = Path(__file__).parents[2]


def test_the_reference_is_that_of_the_commands() -> None:
    """It is generated, and changes with the commands: `make docs` writes it anew."""
    assert PAGE.read_text() == reference()


def test_the_docs_list_every_page() -> None:
    """A page of docs/ that no menu names would not be found; one that is named has to be there."""
    pages = yaml.safe_load((ROOT / "mkdocs.yml").read_text())["nav"]
    named = [path for page in pages for path in page.values()]
    assert sorted(named) == sorted(path.name for path in (ROOT / "docs").glob("*.md"))
