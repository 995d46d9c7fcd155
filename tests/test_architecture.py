"""docs/architecture.md and CONTRIBUTING.md name files and folders that exist."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = ("docs/architecture.md", "CONTRIBUTING.md")
PLACES = (ROOT, ROOT / "runner/triathlon_runner", ROOT / "site/triathlon_site")


def named_paths() -> list[str]:
    """What stands in backticks and looks like a path: it has a slash inside or at its end, or ends in .py."""
    texts = [(ROOT / page).read_text("utf-8").replace("```", "") for page in PAGES]
    words = [word for text in texts for word in re.findall(r"`([^`]+)`", text)]
    paths = [word for word in words if re.fullmatch(r"[\w./-]+(/|\.py|\.yaml|\.csv|\.md)", word)]
    return sorted(set(paths) - {"_site/", "results/", "suites.yaml"})  # a user's, not the project's


@pytest.mark.parametrize("path", named_paths())
def test_a_named_path_exists(path: str) -> None:
    assert any((place / path).exists() for place in PLACES)
