"""LiveCodeBench's outputs: reported with a receipt, since nothing of them can be graded here."""

import csv
import hashlib
import shutil
from pathlib import Path
from typing import Any

import pytest

from support.import_place import ImportPlace, write_json, write_lines
from support.site import build_small, page_text

PUBLISHED = Path(__file__).parents[3] / "results/published"
ADDRESS = "https://example.org/outputs/eval_all.json"


@pytest.fixture
def place(tmp_path: Path) -> ImportPlace:
    """A results folder with the published tables."""
    shutil.copytree(PUBLISHED, tmp_path / "results/published")
    return ImportPlace(tmp_path)


def rows() -> list[dict[str, Any]]:
    """Two invented questions with two programs each; three of the four passed."""
    return [
        {
            "question_id": "1873_A",
            "contest_date": "2023-08-21T00:00:00",
            "output_list": ["Here it is.", "Like this."],
            "code_list": ["print(1)", "print(2)"],
            "graded_list": [True, False],
            "pass@1": 0.5,
        },
        {
            "question_id": "abc300_b",
            "contest_date": "2024-02-03T00:00:00",
            "code_list": ["print(3)", "print(4)"],
            "graded_list": [True, True],
            "pass@1": 1.0,
        },
    ]


def bring(place: ImportPlace, log: Path, *options: str, model: str = "Some Model", code: int = 0) -> str:
    """All that the command says."""
    return place.bring("livecodebench", log, "--model", model, "--address", ADDRESS, *options, code=code)


def write(place: ImportPlace, content: object) -> Path:
    return write_json(place.root / "eval_all.json", content)


def table(place: ImportPlace) -> list[dict[str, str]]:
    with (place.results / "published/livecodebench.csv").open(newline="") as lines:
        return list(csv.DictReader(lines))


def test_pass_at_1_is_reported_with_its_receipt(place: ImportPlace) -> None:
    """The mean over the questions of the share that passed; file, hash and address stand beside it."""
    log = write(place, rows())
    said = bring(place, log)
    assert "pass@1 75.0 % (2 questions, 4 samples, contests from 2023-08-21 to 2024-02-03)" in said
    assert "nothing was graded" in said
    (row,) = table(place)
    figures = row["model"], row["pass_at_1"], row["questions"], row["samples"]
    assert figures == ("Some Model", "75", "2", "4")
    assert row["sha256"] == hashlib.sha256(log.read_bytes()).hexdigest()
    assert (row["file"], row["address"]) == ("eval_all.json", ADDRESS)
    assert not (place.results / "imported").exists()


def test_other_lines_of_the_sources_stay(place: ImportPlace) -> None:
    """A second model adds its row; the list of sources gets one line and keeps the bytes of the others."""
    before = (PUBLISHED / "sources.csv").read_text()
    bring(place, write(place, rows()))
    lines = write_lines(place.root / "lines.jsonl", *rows()[:1])
    bring(place, lines, model="Other, Model")
    assert [row["pass_at_1"] for row in table(place)] == ["75", "50"]
    after = (place.results / "published/sources.csv").read_text()
    assert after.startswith(before) and after.removeprefix(before).count("\n") == 1
    said = bring(place, lines, code=1)
    assert "has a row of 'Some Model' already; delete it or use another --model" in said


def test_the_site_shows_it_as_published(place: ImportPlace) -> None:
    """A ranking among the published ones with an interval, and the receipts below it."""
    bring(place, write(place, rows()))
    build_small(place.root)
    page = page_text(place.root / "_site/published/livecodebench.html")
    assert "Published, not measured here" in page and "Some Model" in page and "75.0" in page
    assert ADDRESS in page and "<td>2023-08-21</td><td>2024-02-03</td>" in page
    assert (place.root / "_site/data/published-livecodebench.csv").is_file()
    assert "published/livecodebench.html" in (place.root / "_site/published.html").read_text()


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"graded_list": [1, 0]}, "expected verdicts (true or false) in graded_list, got [1, 0]"),
        ({"code_list": ["x"]}, "expected 2 programs in code_list or output_list, as many as verdicts, got 1"),
        ({"question_id": None}, "entry 1: expected question_id, each once, got None"),
        ({"question_id": "abc300_b"}, "entry 2: expected question_id, each once, got 'abc300_b'"),
    ],
    ids=str,
)
def test_other_shapes_are_refused(place: ImportPlace, change: dict[str, Any], says: str) -> None:
    """What was expected and what came is said, and no table is written."""
    first, second = rows()
    assert says in bring(place, write(place, [first | change, second]), code=1)
    assert not (place.results / "published/livecodebench.csv").exists()


def test_a_figure_needs_its_source(place: ImportPlace) -> None:
    """Without a web address, with a suite, or outside a clone the command says what it expects."""
    log = write(place, rows())
    assert "expected --model" in place.bring("livecodebench", log, "--model", "m", code=1)
    wrong = place.bring("livecodebench", log, "--model", "m", "--address", "here", code=1)
    assert "expected the web address of the outputs at --address, got 'here'" in wrong
    assert "leave --suite and --recorded out" in bring(place, log, "--suite", "evolved/core-seeds", code=1)
    assert "expected the published tables" in bring(place, log, "--results", "elsewhere", code=1)
    other = place.bring("evalplus", log, "--suite", "evolved/core-seeds", "--address", ADDRESS, code=1)
    assert "expected --address with livecodebench alone, got 'evalplus'" in other
