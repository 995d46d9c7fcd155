"""The golden site, compared whole; `PYTHONPATH=tests .venv/bin/python -m support.golden` writes it again."""

import difflib
import json
from collections.abc import Mapping

import pytest

from support.golden import HOSTILE, HOSTILE_MODEL, golden_site, shown, stored


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, bytes]:
    """Built once."""
    return golden_site(tmp_path_factory.mktemp("golden"))


def test_no_page_changes_unseen(site: Mapping[str, bytes]) -> None:
    """Every page is as it was last accepted; where one is not, the difference is shown line by line.

    Meant so? `PYTHONPATH=tests .venv/bin/python -m support.golden`, then read the diff of tests/site/golden.
    """
    found, expected = shown(site), stored()
    differences = [
        line
        for path in sorted({*found, *expected})
        for line in difflib.unified_diff(
            expected.get(path, "").splitlines(), found.get(path, "").splitlines(), path, f"{path}, now", n=1
        )
    ]
    assert not differences, "\n".join(line[:300] for line in differences[:200])


def test_nothing_hostile_became_markup(site: Mapping[str, bytes]) -> None:
    """The golden site has hostile names, replies and tasks on it, and none of them unescaped."""
    pages = {
        path: content.decode() for path, content in site.items() if path.endswith((".html", ".xml", ".svg"))
    }
    text_of_all = "".join(pages.values())
    assert "&lt;script&gt;alert" in text_of_all and "&lt;img src=x" in text_of_all
    for path, text in pages.items():
        assert "<script>alert" not in text and "<img src=x" not in text, path
        assert "javascript:alert" not in text, path
    assert HOSTILE in "\n".join(content.decode() for path, content in site.items() if path.endswith(".json"))
    rows = json.loads(site["data/loop-core.json"])["rows"]
    assert HOSTILE_MODEL in {row["model"] for row in rows}
