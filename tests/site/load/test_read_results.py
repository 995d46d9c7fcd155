"""Reading results: what counts, what is noticed, what is taken from the cache."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from support.results import FakeModel, FakeSuite, fake_records, write_file
from support.site import entries
from triathlon_runner.records import UnitRecord
from triathlon_site.load import AggregateCache, Results, read_results

SEEDS = entries(["evolved/core-seeds"])
MODEL = FakeModel("m", 0.5)


class NoExtracts:
    """Counts how often a file was read."""

    fingerprint = "none"

    def __init__(self) -> None:
        self.calls = 0
        self.parents: set[str] = set()

    def __call__(
        self, records: Sequence[UnitRecord], model: str, suite: str, parents: Mapping[str, UnitRecord]
    ) -> dict[str, str]:
        self.calls += 1
        self.parents |= set(parents)
        return {}


@pytest.fixture
def lines(tmp_path: Path) -> Path:
    records = list(fake_records(MODEL, FakeSuite(SEEDS[0], tasks=6)))
    return write_file(tmp_path / "results", MODEL.id, SEEDS[0].id, records)


def read(tmp_path: Path, extractor: NoExtracts | None = None) -> Results:
    return read_results(
        tmp_path / "results", SEEDS, AggregateCache(tmp_path / "cache"), extractor or NoExtracts()
    )


def notices(results: Results) -> list[tuple[int | None, str]]:
    return [(notice.line, notice.message) for notice in results.notices]


def test_every_good_line_counts(tmp_path: Path, lines: Path) -> None:
    """Six lines, six tasks, no notice; sums are those of the metric."""
    found = read(tmp_path)
    assert len(found.files[0].tasks) == 6
    assert not found.notices
    parts = found.files[0].metrics["pass@1"]
    assert sum(parts.numerators) == sum(task.outcome == "passed" for task in found.files[0].tasks)
    assert sum(parts.denominators) == 6


def test_a_broken_line_is_named_and_left_out(tmp_path: Path, lines: Path) -> None:
    """File and line stand in the notice; the other lines count."""
    content = lines.read_text().splitlines()
    content[2] = '{"schema": 1, "suite": '
    lines.write_text("\n".join(content) + "\n")
    found = read(tmp_path)
    assert notices(found) == [(3, "not a JSON object")]
    assert found.notices[0].file == "runs/m/evolved/core-seeds.jsonl"
    assert len(found.files[0].tasks) == 5


def test_a_torn_last_line_is_never_a_result(tmp_path: Path, lines: Path) -> None:
    """A line without its end is left out even where it happens to parse."""
    lines.write_text(lines.read_text().rstrip("\n"))
    found = read(tmp_path)
    assert notices(found) == [(6, "the line was cut before its end; the next run asks again")]
    assert len(found.files[0].tasks) == 5


def test_an_unknown_schema_is_said_to_be_one(tmp_path: Path, lines: Path) -> None:
    """A newer runner's line is not called broken."""
    content = lines.read_text().splitlines()
    content[0] = json.dumps(json.loads(content[0]) | {"schema": 2})
    lines.write_text("\n".join(content) + "\n")
    assert notices(read(tmp_path)) == [(1, "schema 2 is unknown; this version reads schema 1")]


def test_the_first_of_two_equal_units_counts(tmp_path: Path, lines: Path) -> None:
    """A unit that stands twice is counted once and noticed."""
    content = lines.read_text()
    lines.write_text(content + content.splitlines()[0] + "\n")
    found = read(tmp_path)
    assert found.notices[0].line == 7 and "stands in line 1 already" in found.notices[0].message
    assert len(found.files[0].tasks) == 6


def test_lines_of_another_protocol_are_not_mixed_in(tmp_path: Path, lines: Path) -> None:
    """The manifest's protocol counts; lines made under another are left out and said to be."""
    content = lines.read_text().splitlines()
    content[0] = json.dumps(json.loads(content[0]) | {"protocol": "older"})
    lines.write_text("\n".join(content) + "\n")
    found = read(tmp_path)
    assert len(found.files[0].tasks) == 5 and found.files[0].other_protocols == 1
    assert "1 lines were made under another protocol" in found.notices[0].message


def test_a_line_of_another_model_is_refused(tmp_path: Path, lines: Path) -> None:
    """A line in the wrong folder would give a model somebody else's results."""
    content = lines.read_text().splitlines()
    content[1] = json.dumps(json.loads(content[1]) | {"model": "other"})
    lines.write_text("\n".join(content) + "\n")
    assert notices(read(tmp_path)) == [(2, "a line of model 'other' in the folder of 'm'")]


def test_a_missing_manifest_is_noticed(tmp_path: Path, lines: Path) -> None:
    """The results count, but nobody knows under which conditions they were made."""
    lines.with_name("core-seeds.manifest.json").unlink()
    found = read(tmp_path)
    assert len(found.files[0].tasks) == 6
    assert "no manifest beside it" in found.notices[0].message


def test_an_unknown_suite_is_noticed(tmp_path: Path, lines: Path) -> None:
    """A file of a suite that this version does not know is left out by name."""
    lines.with_name("future.jsonl").write_text("{}\n")
    found = read(tmp_path)
    assert "suite 'evolved/future' is unknown" in found.notices[0].message


def test_why_a_model_was_skipped_is_kept(tmp_path: Path, lines: Path) -> None:
    """skipped.txt holds the runner's reason."""
    folder = tmp_path / "results" / "runs" / "keyless"
    folder.mkdir()
    (folder / "skipped.txt").write_text("no key in OPENAI_API_KEY\n")
    assert [(one.model, one.reason) for one in read(tmp_path).skipped] == [
        ("keyless", "no key in OPENAI_API_KEY")
    ]


def test_only_changed_files_are_read_again(tmp_path: Path, lines: Path) -> None:
    """The second build reads nothing; a changed line, or manifest, is read again."""
    first, second, third = NoExtracts(), NoExtracts(), NoExtracts()
    before = read(tmp_path, first)
    again = read(tmp_path, second)
    lines.write_text("".join(line + "\n" for line in lines.read_text().splitlines()[:-1]))
    read(tmp_path, third)
    assert (first.calls, second.calls, third.calls) == (1, 0, 1)
    assert before == again


def test_a_spoilt_cache_is_read_over(tmp_path: Path, lines: Path) -> None:
    """A cache entry that does not parse costs time, not results."""
    before = read(tmp_path)
    for path in (tmp_path / "cache").rglob("aggregate"):
        path.write_text("{")
    assert read(tmp_path) == before


def test_evidence_has_the_seeds_of_what_it_shows(tmp_path: Path, lines: Path) -> None:
    """Evolved problems are read with the model's own results on their seeds; where these change, again."""
    both = entries(["evolved/core-seeds", "evolved/core-difficult"])
    records = list(fake_records(MODEL, FakeSuite(both[1], tasks=4)))
    write_file(tmp_path / "results", MODEL.id, both[1].id, records)
    extractor, cache = NoExtracts(), AggregateCache(tmp_path / "cache")
    read_results(tmp_path / "results", both, cache, extractor)
    assert extractor.calls == 2
    assert extractor.parents == {parent for one in records for parent in getattr(one, "parents", ())} != set()
    lines.write_text(lines.read_text().replace('"seconds":0.5', '"seconds":0.6'))
    read_results(tmp_path / "results", both, cache, extractor)
    assert extractor.calls == 4
