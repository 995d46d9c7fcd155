"""What stands beside a run's files: statements that they were graded again, and findings about the server."""

import hashlib
import json
from pathlib import Path

import pytest

from support.site import MODELS, build_small, change, judged_again, page_text, small_results
from triathlon_runner.engine_version import ENGINE_VERSION
from triathlon_runner.errors import UserError
from triathlon_site.load import Notice

SUITE = "loop/core"
LETTER = 'title="measured, graded again here: where it comes from">m✓</a>'
RECEIPT = f"by engine {ENGINE_VERSION}, as <code>runs/weak/verified.json</code> says; that the replies"


@pytest.fixture
def results(tmp_path: Path) -> Path:
    return small_results(tmp_path / "results", MODELS[1:])


def state(results: Path, *, model: str = "weak", engine: int = ENGINE_VERSION) -> Path:
    """Writes the statement about one suite of a model into the folder of `weak`."""
    path = results / "runs/weak/verified.json"
    path.write_text(judged_again(results, model, SUITE, engine))
    return path


def built(results: Path) -> tuple[str, str, tuple[Notice, ...]]:
    """The board of the suite, the page of `weak`, and what is said of files."""
    report = build_small(results.parent)
    site = results.parent / "_site"
    return page_text(site / "loop.html"), page_text(site / "models/weak.html"), report.notices


def test_a_file_that_a_statement_names_is_marked(results: Path) -> None:
    """On the board and in the receipt, and nothing else. What a run found of the server is in its receipt."""
    state(results)
    found = ["reasoning: leaks into the text with '<think>': `reasoning_max_tokens: 8192` in its api block"]
    change(results / "runs/weak/runtime/core.manifest.json", findings=found)
    board, page, notices = built(results)
    site = results.parent / "_site"
    assert board.count(LETTER) > 0 and not notices
    assert board.count("m✓</a>") == board.count('href="models/weak.html#receipt-loop-core" title="measured')
    assert page.count("<dt>Graded again here</dt>") == 1 and RECEIPT in page
    assert "m✓" not in page_text(site / "evolved.html")
    heading = "Behaviour of its server, as the run saw it"
    assert page.count(heading) == 1 and "leaks into the text with &#39;&lt;think&gt;&#39;" in page
    other = page_text(site / "models/middle.html")
    assert "Graded again" not in other and heading not in other


def test_a_file_that_changed_afterwards_is_not_marked(results: Path) -> None:
    """The notice names file, both hashes and the command; with it, a strict build fails."""
    state(results)
    path = results / f"runs/weak/{SUITE}.jsonl"
    before = hashlib.sha256(path.read_bytes()).hexdigest()
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[::-1]))
    after = hashlib.sha256(path.read_bytes()).hexdigest()
    board, page, (notice,) = built(results)
    assert LETTER not in board and "<dt>Graded again" not in page and "changed since" in page
    assert notice.file == f"runs/weak/{SUITE}.jsonl"
    assert f"expected SHA-256 '{before}' (verified.json), got '{after}'" in notice.message
    assert "writes it anew, with the folder runs/weak of these results as DIR" in notice.message
    with pytest.raises(UserError, match="changed since it was graded again"):
        build_small(results.parent, strict=True)


@pytest.mark.parametrize(
    ("spoil", "got"),
    [
        ("another engine's", ""),
        ("a check that failed", ""),
        ("another model's", f"runs/middle/{SUITE}.jsonl"),
        ("damaged", "got {'_type': 'x'}"),
        ("a folder", "got 'no plain file'"),
    ],
)
def test_a_statement_that_cannot_be_used_marks_nothing(results: Path, spoil: str, got: str) -> None:
    """The notice says what was expected, what came and what to do; a good one says which engine judged."""
    model = "middle" if spoil == "another model's" else "weak"
    path = state(results, model=model, engine=ENGINE_VERSION + (spoil == "another engine's"))
    if spoil == "damaged":
        path.write_text('{"_type": "x"}')
    elif spoil == "a folder":
        path.unlink()
        path.mkdir()
    elif spoil == "a check that failed":
        predicate = json.loads(path.read_text())["predicate"]
        change(path, predicate=predicate | {"result": "FAILED", "passedTests": [], "failedTests": [SUITE]})
    board, page, notices = built(results)
    assert "m✓" not in board
    expected = f"<dt>Graded again by engine {ENGINE_VERSION + 1}</dt>"
    assert page.count("<dt>Graded again") == page.count(expected) == (spoil == "another engine's")
    assert len(notices) == bool(got)
    for notice in notices:
        assert notice.file == "runs/weak/verified.json" and got in notice.message
        expected = "expected the statement of `triathlon submit check` about the results of 'weak'"
        assert expected in notice.message and "writes it anew" in notice.message
