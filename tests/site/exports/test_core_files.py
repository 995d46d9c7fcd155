"""Our own problems as a file of the site, described in Croissant."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from triathlon_runner.datasets import core
from triathlon_site.exports import core_files

URL = "https://board.example/"
REQUIRED = ("@context", "@type", "conformsTo", "name", "description", "license", "url", "version")
"""Of a data set by Croissant 1.0, with `creator`, `datePublished` and `distribution`."""


def _files(url: str = "") -> tuple[str, dict[str, Any]]:
    lines, metadata = core_files(url)
    assert (lines.path, metadata.path) == ("data/core/problems.jsonl", "data/core/croissant.json")
    return lines.content, json.loads(metadata.content)


def test_every_prompt_is_there_with_its_canary() -> None:
    """A line a problem of every set; no reference and no input is handed out."""
    lines, _ = _files()
    rows = [json.loads(line) for line in lines.splitlines()]
    problems = [problem for name in core.SETS for problem in core.problems(name)]
    assert [row["task_id"] for row in rows] == [problem.task_id for problem in problems]
    assert {row["canary"] for row in rows} == {core.CANARY}
    for row, problem in zip(rows, problems, strict=True):
        assert row["prompt"] == problem.prompt and row["inputs"] == len(problem.inputs)
        assert not {"reference", "test"} & row.keys()


@pytest.mark.parametrize(
    ("url", "address"), [("", "problems.jsonl"), (URL, f"{URL}data/core/problems.jsonl")]
)
def test_the_metadata_are_complete(url: str, address: str) -> None:
    """What Croissant requires is there, the hash is the file's, and every field is one of its lines."""
    lines, metadata = _files(url)
    assert all(metadata[name] for name in (*REQUIRED, "creator", "datePublished"))
    assert metadata["conformsTo"] == "http://mlcommons.org/croissant/1.0"
    (file,) = metadata["distribution"]
    assert file["contentUrl"] == address
    assert file["sha256"] == hashlib.sha256(lines.encode()).hexdigest()
    (records,) = metadata["recordSet"]
    columns = [field["source"]["extract"]["column"] for field in records["field"]]
    assert columns == list(json.loads(lines.splitlines()[0]))
    assert {field["source"]["fileObject"]["@id"] for field in records["field"]} == {file["@id"]}


@pytest.mark.filterwarnings(
    "ignore::DeprecationWarning", "ignore::SyntaxWarning"
)  # of rdflib and jsonpath-rw
def test_mlcroissant_reads_it(tmp_path: Path) -> None:
    """MLCommons' own package finds no error in the metadata and reads every line by them."""
    mlcroissant = pytest.importorskip("mlcroissant", reason="needs mlcroissant: pip install -e '.[dev]'")
    for page in core_files():
        target = tmp_path / page.path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(page.bytes)
    found = mlcroissant.Dataset(jsonld=str(tmp_path / "data/core/croissant.json"))
    assert not found.metadata.issues.errors
    rows = list(found.records("problems"))
    lines, _ = _files()
    assert len(rows) == len(lines.splitlines()) > 500
    first = json.loads(lines.splitlines()[0])
    assert rows[0]["problems/prompt"].decode() == first["prompt"]
    assert rows[0]["problems/level"] == first["level"]
