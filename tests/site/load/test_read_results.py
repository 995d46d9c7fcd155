"""Reading results: what counts, what is noticed, what is taken from the cache."""

import json
import os
import shutil
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest

from support.case_files import rows
from support.results import FakeModel, FakeSuite, fake_records, write_file
from support.site import change, entries
from triathlon_runner.engine_version import ENGINE_VERSION
from triathlon_runner.errors import UserError
from triathlon_runner.records import Outcome, UnitRecord, Usage
from triathlon_runner.store import ResultsFile
from triathlon_runner.suites import SuiteEntry
from triathlon_site.evidence import Evidence, EvidenceExtractor
from triathlon_site.load import AggregateCache, Results, code_fingerprint, read_results
from triathlon_site.render import installed_environment

HERE = Path(__file__).parent
SEEDS = entries(["evolved/core-seeds"])
MODEL = FakeModel("m", 0.5)
STRONGEST = FakeModel("m", 50.0, 1.0)
"""Everything it says is right."""


class NoExtracts(EvidenceExtractor):
    """Counts how often a file was read, and what seeds were read with it."""

    def __init__(self) -> None:
        super().__init__(installed_environment(), {})
        self.calls = 0
        self.parents: set[str] = set()

    def __call__(self, *read: Any, **_: Any) -> Evidence:
        self.calls += 1
        self.parents |= set(read[-1])
        return Evidence({}, (), {})


@pytest.fixture
def lines(tmp_path: Path) -> Path:
    return made(tmp_path, list(fake_records(MODEL, FakeSuite(SEEDS[0], tasks=6))))


@pytest.fixture
def manifest(lines: Path) -> Path:
    return lines.with_name("core-seeds.manifest.json")


def made(tmp_path: Path, records: Sequence[UnitRecord]) -> Path:
    return write_file(tmp_path / "results", MODEL.id, records[0].suite, records)


def read(root: Path, extractor: NoExtracts | None = None, suites: Sequence[SuiteEntry] = SEEDS) -> Results:
    return read_results(root / "results", suites, AggregateCache(root / "cache"), extractor or NoExtracts())


def notices(results: Results) -> list[tuple[int | None, str]]:
    return [(notice.line, notice.message) for notice in results.notices]


def test_every_good_line_counts(tmp_path: Path, lines: Path, manifest: Path) -> None:
    """Also behind the byte order mark of some editors, and beside a file of older versions."""
    for path in (lines, manifest):
        path.write_text(path.read_text(), encoding="utf-8-sig")
    (lines.parents[1] / "skipped.txt").write_text("no key in OPENAI_API_KEY\n")
    found = read(tmp_path)
    assert len(found.files[0].tasks) == 6 and found.files[0].manifest and not found.notices


BAD_LINES = {row["kind"]: row for row in rows(HERE / "bad_lines.csv")}
"""The number of the line of six that is changed and named, its text or changed fields, what is said of it."""


@pytest.mark.parametrize("kind", BAD_LINES)
def test_a_bad_line_is_named_and_left_out(tmp_path: Path, lines: Path, manifest: Path, kind: str) -> None:
    """By file and line; the others count. Of private tasks only `verify` may say what is wrong."""
    case = BAD_LINES[kind]
    number, new, said = int(case["line"]), json.loads(case["changed"]), case["said"]
    content = lines.read_text().splitlines()
    if new == "torn":
        lines.write_text("\n".join(content))
    else:
        old = json.loads(content[number % 6 - 1])
        written = new if isinstance(new, str) else json.dumps(old | new)
        content[slice(number - 1, number) if number else slice(5, 6)] = [written]
        lines.write_text("\n".join([*content, ""]))
    found = read(tmp_path)
    ((line, message),) = notices(found)
    assert (line or 0) == number and said in message
    assert found.notices[0].file == "runs/m/evolved/core-seeds.jsonl"
    (file,), lost = found.files, int(kind != "doubled")
    assert (len(file.tasks), file.open_units) == (6 - lost, lost)
    change(manifest, private=True)
    ((line, message),) = notices(read(tmp_path))
    assert (line or 0) == number
    assert not line or message.endswith("`triathlon verify` says it, and what to do")


@pytest.mark.parametrize("case", rows(HERE / "impossible_values.csv"), ids=str)
def test_what_cannot_be_is_no_result(tmp_path: Path, case: dict[str, str]) -> None:
    """A number beyond its scale, or an outcome that its own evidence does not bear out."""
    said = case["said"]
    (entry,) = entries([case["suite"]])
    path = made(tmp_path, list(fake_records(STRONGEST, FakeSuite(entry, 4))))
    content = path.read_text().splitlines()
    line = place = json.loads(content[2])
    *folders, name = case["field"].split(".")
    for folder in folders:
        place = place[int(folder)] if folder.isdecimal() else place[folder]
    place[name] = json.loads(case["value"])
    path.write_text("\n".join([*content[:2], json.dumps(line), content[3], ""]))
    found = read(tmp_path, suites=[entry])
    ((number, message),) = notices(found)
    assert number == 3 and said in message and "; delete the line" in message
    assert said.startswith("(") or (message.startswith(said) and "; it does not count" in message)
    assert len(found.files[0].tasks) == 3


@pytest.mark.parametrize("case", rows(HERE / "other_manifests.csv"), ids=str)
def test_a_manifest_of_something_else_is_not_used(
    tmp_path: Path, manifest: Path, case: dict[str, str]
) -> None:
    """The results count, under conditions that nobody knows; it is said why, and what to do."""
    if case["field"]:
        change(manifest, **{case["field"]: json.loads(case["value"])})
    else:
        manifest.unlink()
    found = read(tmp_path)
    ((_, message),) = notices(found)
    assert message.removeprefix("its manifest cannot be used: ").startswith(case["said"])
    assert "lines without a fault count" in message
    assert "results archive --models m --suites evolved/core-seeds" in message
    assert found.files[0].manifest is None and len(found.files[0].tasks) == 6


def test_what_a_manifest_contradicts_counts_with_a_warning(tmp_path: Path, manifest: Path) -> None:
    """Of a killed run, whose manifest counts what was there before, the lines count and the rest is open."""
    whole = manifest.read_text()
    contradictions: list[tuple[dict[str, Any], str, int]] = [
        ({"tasks_in_suite": 5}, "6 tasks, but its manifest says that the suite has 5", 0),
        ({"engine_versions": [0, ENGINE_VERSION]}, "graded by version", 0),
        ({"ended": "", "outcomes": {}, "open_units": 9}, "", 3),
    ]
    for fields, said, missing in contradictions:
        manifest.write_text(whole)
        change(manifest, **fields)
        found = read(tmp_path)
        assert [message.startswith(said) for _, message in notices(found)] == [True] * bool(said)
        assert "graded" not in said or "verify --update" in found.notices[0].message
        assert (found.files[0].units, found.files[0].open_units) == (6, missing)


def test_lines_that_are_gone_are_missed(tmp_path: Path, lines: Path) -> None:
    """A file cut between two lines parses; the manifest knows how many there were: the others are open."""
    content = lines.read_text().splitlines(keepends=True)
    lines.write_text("".join(content[:4]))
    found = read(tmp_path)
    ((_, message),) = notices(found)
    assert message.startswith("its manifest counts 6 units, lines in the file: 4; some were lost; `triathlon")
    assert (found.files[0].units, found.files[0].open_units) == (4, 2)
    lines.unlink()
    assert notices(read(tmp_path)) == [(None, "'core-seeds.jsonl' is not beside it: its results are missing")]


@pytest.mark.parametrize("place", ["runs/@/evolved/core-seeds.jsonl", "runs/m/evolved/@.jsonl"])
def test_a_name_that_is_no_text_is_noticed(tmp_path: Path, lines: Path, place: str) -> None:
    """Such a name fits no page, no key and no feed. A file of an unknown suite is left out by name, too."""
    lines.with_name("future.jsonl").write_text("{}\n")
    path = Path(os.fsdecode(os.fsencode(tmp_path / "results" / place).replace(b"@", b"caf\xe9")))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.hardlink_to(lines)
    unknown, no_text = sorted(read(tmp_path).notices, key=lambda notice: "UTF-8" in notice.message)
    assert no_text.message == "its name is not UTF-8; not counted" and "caf\ufffd" in no_text.file
    assert str(no_text).encode()
    assert "suite 'evolved/future' is unknown: no suites.yaml beside models.yaml" in unknown.message


@pytest.mark.parametrize("make", [Path.mkdir, os.mkfifo])
def test_what_is_no_file_is_named_and_left_out(
    tmp_path: Path, lines: Path, manifest: Path, make: Callable[[Path], object]
) -> None:
    """In place of the results, or of the manifest: a pipe would be waited for, a folder end the build."""
    manifest.unlink()
    make(manifest)
    assert "its manifest cannot be used: it is no plain" in read(tmp_path).notices[0].message
    lines.unlink()
    make(lines)
    assert any("not counted" in notice.message and not notice.line for notice in read(tmp_path).notices)
    assert not read(tmp_path).files


@pytest.mark.parametrize(
    "place", ["evolved/core-seeds.jsonl", "evolved", "", "evolved/core-seeds.manifest.json"]
)
def test_no_link_is_followed(tmp_path: Path, lines: Path, place: str) -> None:
    """In place of a file, a suite's folder or a model's: a notice names it, and nothing behind it is read."""
    secret = tmp_path / "secret"
    shutil.copytree(lines.parents[1], secret)
    for name in ("evolved/core-seeds.jsonl", "evolved/core-seeds.manifest.json"):
        (secret / name).write_text("hunter2\n")
    link = lines.parents[1] / place if place else lines.parents[1]
    shutil.rmtree(link) if link.is_dir() else link.unlink()
    link.symlink_to(secret / place)
    found = read(tmp_path)
    name = link.relative_to(tmp_path / "results").as_posix()
    assert any(notice.file == name and "a link" in notice.message for notice in found.notices)
    assert "hunter2" not in repr(found.notices)
    assert "manifest" in place or not found.files


def test_only_changed_files_are_read_again(tmp_path: Path, lines: Path) -> None:
    """The second build reads nothing; a changed line or time is read again, as are results elsewhere."""
    extractor = NoExtracts()
    before = read(tmp_path, extractor)
    assert repr(before.files) == repr(read(tmp_path, extractor).files) and extractor.calls == 1
    lines.write_text("".join(line + "\n" for line in lines.read_text().splitlines()[:-1]))
    read(tmp_path, extractor)
    os.utime(lines, (1_700_000_000, 1_700_000_000))
    read(tmp_path, extractor)
    assert extractor.calls == 3
    (tmp_path / "results").rename(tmp_path / "elsewhere")
    read_results(tmp_path / "elsewhere", SEEDS, AggregateCache(tmp_path / "cache"), extractor)
    assert extractor.calls == 4


def test_a_changed_file_of_a_package_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tables and prompts, too: pages are made of them; compiled code is none of it."""
    (tmp_path / "__pycache__").mkdir()
    monkeypatch.setattr("triathlon_runner.__path__", [str(tmp_path)])
    prints = set()
    for name in ("a.py", "fields.csv", "solve.txt", "__pycache__/a.pyc"):
        (tmp_path / name).write_text(name)
        prints.add(code_fingerprint.__wrapped__())
    assert len(prints) == 3


def test_two_builds_at_once_end_well(tmp_path: Path, lines: Path) -> None:
    """Both write the same aggregates, also over a damaged one; what they leave in the cache is whole."""
    both = Barrier(2)

    class AtOnce(NoExtracts):
        def __call__(self, *read: Any, **_: Any) -> Evidence:
            both.wait(10)
            return super().__call__(*read)._replace(files={"1.js": "x" * 99_999})

    for _ in range(9):
        with ThreadPoolExecutor(2) as pool:
            first, second = pool.map(lambda _: read(tmp_path, AtOnce()), range(2))
        late = NoExtracts()
        assert repr(first.files) == repr(second.files) == repr(read(tmp_path, late).files) and not late.calls
        (path,) = (tmp_path / "cache").rglob("1.js")
        assert [*(tmp_path / "cache").glob("*/*")] == [path.parent]
        path.unlink()


def test_half_an_aggregate_is_read_over(tmp_path: Path, lines: Path) -> None:
    """Cut anywhere, nothing but zeros, as a power cut leaves a file, or with one byte changed."""
    before = repr(read(tmp_path).files)
    (path,) = (tmp_path / "cache").rglob("aggregate.pickle")
    whole = path.read_bytes()
    path.unlink()
    assert repr(read(tmp_path).files) == before and path.read_bytes() == whole
    cut = [whole[:size] for size in range(0, len(whole), 97)]
    flipped = [whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :] for at in range(0, len(whole), 197)]
    for content in (*cut, *flipped, whole[:-1], bytes(len(whole))):
        path.write_bytes(content)
        assert repr(read(tmp_path).files) == before
        assert path.read_bytes() == whole
    shutil.rmtree(tmp_path / "cache")
    (tmp_path / "cache").write_text("")
    with pytest.raises(UserError, match=r"cannot write to the cache .*cache.*TRIATHLON_CACHE"):
        read(tmp_path)


def test_a_row_a_unit_says_how_it_ended(tmp_path: Path) -> None:
    """Each metric over the unit alone, tokens and seconds; with several samples, a row each."""
    (suite,) = entries(["loop/core"])
    records = list(fake_records(MODEL, FakeSuite(suite, tasks=4, samples=2)))
    made(tmp_path, records)
    (file,) = read(tmp_path, suites=[suite]).files
    assert file.columns.task == [record.task_id for record in records]
    assert file.columns.sample.tolist() == [record.sample for record in records]
    for metric in suite.metrics:
        scores = [metric.score([record]) for record in records]
        assert file.columns.scores[metric.id].tolist() == pytest.approx(scores, abs=0, nan_ok=True)
    assert file.usage == sum((record.usage for record in records), Usage())
    assert file.seconds == pytest.approx(sum(record.seconds for record in records))
    assert sum(file.outcomes.values()) == len(file.tasks) == len(records)


def test_the_largest_counts_have_a_sum(tmp_path: Path) -> None:
    """Each line's are such as a line may have: together they end at the largest that is read exactly."""
    (suite,) = entries(["loop/core"])
    most = Usage(requests=2**53, input_tokens=2**53, output_tokens=2**53)
    records = fake_records(MODEL, FakeSuite(suite, tasks=4))
    path = made(tmp_path, [record.model_copy(update={"usage": most}) for record in records])
    (file,) = read(tmp_path, suites=[suite]).files
    assert file.usage == most == most + most
    scanned = ResultsFile(path, suite.record)
    scanned.scan()
    assert scanned.usage == most


def test_evidence_has_the_seeds_of_what_it_shows(tmp_path: Path, lines: Path) -> None:
    """Evolved problems are read with the model's own results on their seeds; where these change, again."""
    both = entries(["evolved/core-seeds", "evolved/core-difficult"])
    records = list(fake_records(MODEL, FakeSuite(both[1], tasks=4)))
    made(tmp_path, records)
    extractor = NoExtracts()
    read(tmp_path, extractor, both)
    assert extractor.calls == 2
    assert extractor.parents == {parent for one in records for parent in getattr(one, "parents", ())} != set()
    lines.write_text(lines.read_text().replace('"seconds":0.5', '"seconds":0.6'))
    read(tmp_path, extractor, both)
    assert extractor.calls == 4


def test_repeats_are_of_the_same_tasks(tmp_path: Path) -> None:
    """A task with fewer samples than the others is left out: it would move the mean of some samples only."""
    records = list(fake_records(MODEL, FakeSuite(SEEDS[0], tasks=6)))
    passed = [record.model_copy(update={"outcome": Outcome.PASSED}) for record in records]
    failed = passed[-1].model_copy(update={"outcome": Outcome.FAILED})
    again = [record.model_copy(update={"sample": 1}) for record in passed[:2]]
    made(tmp_path, [*passed[:-1], failed, *again])
    (file,) = read(tmp_path).files
    assert file.repeats["pass@1"] == (1.0, 1.0)
