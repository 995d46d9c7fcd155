"""Reading results: what counts, what is noticed, what is taken from the cache."""

import json
import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from support.results import FakeModel, FakeSuite, fake_records, write_file, write_results
from support.site import entries
from triathlon_runner.engine_version import ENGINE_VERSION
from triathlon_runner.errors import UserError
from triathlon_runner.records import Outcome, UnitRecord, Usage
from triathlon_runner.suites import SuiteEntry
from triathlon_site.evidence import EvidenceExtractor
from triathlon_site.load import AggregateCache, Results, read_results
from triathlon_site.render import installed_environment

SEEDS = entries(["evolved/core-seeds"])
MODEL = FakeModel("m", 0.5)


class NoExtracts(EvidenceExtractor):
    """Counts how often a file was read."""

    def __init__(self) -> None:
        super().__init__(installed_environment(), {})
        self.calls = 0
        self.parents: set[str] = set()

    def __call__(
        self,
        records: Sequence[UnitRecord],
        model: str,
        suite: str,
        parents: Mapping[str, UnitRecord],
        *,
        private: bool = False,
    ) -> dict[str, str]:
        self.calls += 1
        self.parents |= set(parents)
        return {}


@pytest.fixture
def lines(tmp_path: Path) -> Path:
    records = list(fake_records(MODEL, FakeSuite(SEEDS[0], tasks=6)))
    return write_file(tmp_path / "results", MODEL.id, SEEDS[0].id, records)


def read(
    tmp_path: Path, extractor: NoExtracts | None = None, suites: Sequence[SuiteEntry] = SEEDS
) -> Results:
    cache = AggregateCache(tmp_path / "cache")
    return read_results(tmp_path / "results", suites, cache, extractor or NoExtracts())


def change_manifest(lines: Path, **fields: object) -> None:
    """Of the results that these lines are."""
    path = lines.with_name("core-seeds.manifest.json")
    path.write_text(json.dumps(json.loads(path.read_text()) | fields))


def said_by(results: Results) -> list[tuple[object, ...]]:
    """All that was read, comparable."""
    return [
        (
            file.model,
            file.suite,
            file.sha256,
            file.manifest,
            file.frame.to_dict("records"),
            {
                name: (p.clusters, p.numerators.tolist(), p.denominators.tolist())
                for name, p in file.metrics.items()
            },
        )
        for file in results.files
    ]


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


def changed(line: str, **fields: object) -> str:
    return json.dumps(json.loads(line) | fields)


BAD_LINES: dict[str, tuple[Callable[[list[str]], list[str]], int, str, int]] = {
    "broken": (
        lambda lines: [*lines[:2], '{"schema": 1, "suite": ', *lines[3:], ""],
        3,
        'expected a JSON object, got \'{"schema": 1, "suite":\'; delete the line, and ',
        5,
    ),
    "torn": (lambda lines: lines, 6, "the line was cut before its end; the next run makes its unit again", 5),
    "of another schema": (
        lambda lines: [changed(lines[0], schema=2), *lines[1:], ""],
        1,
        "expected schema 1, got 2: another version wrote it; update the program",
        5,
    ),
    "doubled": (lambda lines: [*lines, lines[0], ""], 7, "the other is line 1;", 6),
    "of another model": (
        lambda lines: [lines[0], changed(lines[1], model="other"), *lines[2:], ""],
        2,
        "a line of model 'other' in the folder of 'm'",
        5,
    ),
}
"""What is done to six lines, the number of the line that is named, what is said of it, lines that count."""


@pytest.mark.parametrize("kind", BAD_LINES)
def test_a_bad_line_is_named_and_left_out(tmp_path: Path, lines: Path, kind: str) -> None:
    """File and line stand in the notice, also where it happens to parse; the other lines count."""
    change, number, said, count = BAD_LINES[kind]
    lines.write_text("\n".join(change(lines.read_text().splitlines())))
    found = read(tmp_path)
    ((line, message),) = notices(found)
    assert line == number and said in message
    assert found.notices[0].file == "runs/m/evolved/core-seeds.jsonl"
    assert len(found.files[0].tasks) == count


def test_lines_of_another_protocol_are_not_mixed_in(tmp_path: Path, lines: Path) -> None:
    """The manifest's protocol counts; lines made under another are left out and said to be."""
    first, *rest = lines.read_text().splitlines()
    lines.write_text("\n".join([changed(first, protocol="older"), *rest, ""]))
    found = read(tmp_path)
    assert len(found.files[0].tasks) == 5
    assert "1 lines were made under another protocol" in found.notices[0].message


def test_a_missing_manifest_is_noticed(tmp_path: Path, lines: Path) -> None:
    """The results count, but nobody knows under which conditions they were made."""
    lines.with_name("core-seeds.manifest.json").unlink()
    found = read(tmp_path)
    assert len(found.files[0].tasks) == 6
    assert "no manifest beside it: its lines count" in found.notices[0].message
    assert "results archive --models m --suites evolved/core-seeds" in found.notices[0].message


CHANGES = {
    "seconds": (-1.0, "seconds: expected a number greater than or equal to 0, got -1.0"),
    "sample": (-1, "sample: expected a number greater than or equal to 0, got -1"),
    "usage": ({"requests": -1}, "usage.requests: expected a number greater than or equal to 0, got -1"),
    "sustained_loops": (99, "sustained_loops: expected 0 to 10, got 99"),
    "max_loops": (0, "max_loops: expected a number greater than or equal to 1, got 0"),
    "similarity": (1.5, "similarity: expected a number less than or equal to 1, got 1.5"),
}


@pytest.mark.parametrize("field", CHANGES)
def test_a_number_that_cannot_be_is_no_result(tmp_path: Path, field: str) -> None:
    """One such line would lift a score above its scale: it is named and left out, the others count."""
    suite = entries(["loop/core"])[0]
    records = list(fake_records(MODEL, FakeSuite(suite, tasks=4)))
    path = write_file(tmp_path / "results", MODEL.id, suite.id, records)
    value, said = CHANGES[field]
    content = path.read_text().splitlines()
    line = json.loads(content[1]) | {"sustained_loops": 0, field: value}
    path.write_text("\n".join([content[0], json.dumps(line), *content[2:], ""]))
    found = read(tmp_path, suites=[suite])
    ((number, message),) = notices(found)
    assert number == 2 and f"({said}); delete the line" in message
    assert len(found.files[0].tasks) == 3


@pytest.mark.parametrize("number", ["NaN", "1e999"])
def test_what_is_no_number_is_no_result(tmp_path: Path, lines: Path, number: str) -> None:
    """JSON has no such numbers, yet parsers take them; one would make every sum over it nothing."""
    lines.write_text(lines.read_text().replace('"seconds":0.5', f'"seconds":{number}', 1))
    assert "seconds: expected a finite number" in read(tmp_path).notices[0].message
    assert len(read(tmp_path).files[0].tasks) == 5


MANIFESTS = {
    "schema_version": (7, "it has schema 7, this version of the program reads 1"),
    "model": ("other", "it is that of 'other' on 'evolved/core-seeds'"),
    "suite": ("loop/core", "it is that of 'm' on 'loop/core'"),
    "ended": ("yesterday", "ended: expected a date (ISO 8601), got 'yesterday'"),
    "open_units": (-1, "open_units: expected a number greater than or equal to 0"),
    "cost_usd": (float("inf"), "cost_usd: expected a finite number"),
    "novel": (1, "novel: Extra inputs are not permitted"),
    "settings": ({"sampling": 5}, "settings: sampling: expected a mapping"),
}


@pytest.mark.parametrize("field", MANIFESTS)
def test_a_manifest_that_tells_of_something_else_is_not_used(tmp_path: Path, lines: Path, field: str) -> None:
    """The results count, under conditions that nobody knows; it is said why."""
    value, said = MANIFESTS[field]
    change_manifest(lines, **{field: value})
    found = read(tmp_path)
    assert len(found.notices) == 1
    assert found.notices[0].message.startswith(f"its manifest cannot be used: {said}")
    assert "; its lines count" in found.notices[0].message and "results archive" in found.notices[0].message
    assert found.files[0].manifest is None and len(found.files[0].tasks) == 6


def test_lines_that_are_gone_are_missed(tmp_path: Path, lines: Path) -> None:
    """A file cut between two lines parses; the manifest knows how many there were."""
    content = lines.read_text().splitlines(keepends=True)
    lines.write_text("".join(content[:4]))
    message = (
        "its manifest counts 6 units, lines in the file: 4; some were lost; `triathlon run`, or `import` of"
        " an imported log, makes what is missing"
    )
    assert notices(read(tmp_path)) == [(None, message)]
    lines.unlink()
    assert notices(read(tmp_path)) == [(None, "'core-seeds.jsonl' is not beside it: its results are missing")]


def test_more_tasks_than_the_suite_has_are_noticed(tmp_path: Path, lines: Path) -> None:
    """A task of another data set would count among the suite's own."""
    change_manifest(lines, tasks_in_suite=5)
    assert "6 tasks, but its manifest says that the suite has 5" in read(tmp_path).notices[0].message


@pytest.mark.parametrize("place", ["runs/@/evolved/core-seeds.jsonl", "runs/m/evolved/@.jsonl"])
def test_a_name_that_is_no_text_is_noticed(tmp_path: Path, lines: Path, place: str) -> None:
    """From a file system of another encoding: such a name fits no page, no key and no feed."""
    path = Path(os.fsdecode(os.fsencode(tmp_path / "results" / place).replace(b"@", b"caf\xe9")))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.hardlink_to(lines)
    (notice,) = read(tmp_path).notices
    assert notice.message == "its name is not UTF-8; not counted" and "caf\ufffd" in notice.file
    assert str(notice).encode()


@pytest.mark.parametrize("kind", ["folder", "pipe"])
def test_what_is_no_file_is_named_and_left_out(tmp_path: Path, lines: Path, kind: str) -> None:
    """In place of the results, or of the manifest: a pipe would be waited for, a folder end the build."""
    make: dict[str, Callable[[Path], object]] = {"folder": Path.mkdir, "pipe": os.mkfifo}
    manifest = lines.with_name("core-seeds.manifest.json")
    manifest.unlink()
    make[kind](manifest)
    assert "its manifest cannot be used: it is no plain" in read(tmp_path).notices[0].message
    lines.unlink()
    make[kind](lines)
    assert any("not counted" in notice.message and not notice.line for notice in read(tmp_path).notices)
    assert not read(tmp_path).files


@pytest.mark.parametrize(
    "place", ["evolved/core-seeds.jsonl", "evolved", "", "evolved/core-seeds.manifest.json"]
)
def test_no_link_is_followed(tmp_path: Path, lines: Path, place: str) -> None:
    """In place of a file, a suite's folder or a model's: a notice names it, and nothing behind it is read."""
    secret = tmp_path / "secret"
    shutil.copytree(lines.parents[1], secret)
    (secret / "evolved/core-seeds.jsonl").write_text("hunter2\n")
    (secret / "evolved/core-seeds.manifest.json").write_text("hunter2\n")
    (secret / "skipped.txt").write_text("hunter2\n")
    link = lines.parents[1] / place if place else lines.parents[1]
    shutil.rmtree(link) if link.is_dir() else link.unlink()
    link.symlink_to(secret / place)
    found = read(tmp_path)
    assert found.notices and "hunter2" not in repr((found.notices, found.skipped))
    assert any(
        notice.file == link.relative_to(tmp_path / "results").as_posix() and "a link" in notice.message
        for notice in found.notices
    )
    assert "manifest" in place or not found.files


def test_an_unknown_suite_is_noticed(tmp_path: Path, lines: Path) -> None:
    """A file of a suite that this version does not know is left out by name."""
    lines.with_name("future.jsonl").write_text("{}\n")
    found = read(tmp_path)
    assert "suite 'evolved/future' is unknown: no suites.yaml beside models.yaml" in found.notices[0].message


def test_a_doubled_line_of_private_tasks(tmp_path: Path, lines: Path) -> None:
    """Its unit would not be made again: the other line has it. Only `verify` may say what is wrong."""
    change_manifest(lines, private=True)
    lines.write_text(lines.read_text() + lines.read_text().splitlines(keepends=True)[0])
    ((line, message),) = notices(read(tmp_path))
    assert line == 7 and message.endswith("`triathlon verify` says it, and what to do")


def test_why_a_model_was_skipped_is_kept(tmp_path: Path, lines: Path) -> None:
    """skipped.txt holds the runner's reason."""
    folder = tmp_path / "results" / "runs" / "keyless"
    folder.mkdir()
    (folder / "skipped.txt").write_text("no key in OPENAI_API_KEY\n")
    assert read(tmp_path).skipped == {"keyless": "no key in OPENAI_API_KEY"}


def test_only_changed_files_are_read_again(tmp_path: Path, lines: Path) -> None:
    """The second build reads nothing; a changed line, or manifest, is read again."""
    first, second, third = NoExtracts(), NoExtracts(), NoExtracts()
    before = read(tmp_path, first)
    again = read(tmp_path, second)
    lines.write_text("".join(line + "\n" for line in lines.read_text().splitlines()[:-1]))
    read(tmp_path, third)
    assert (first.calls, second.calls, third.calls) == (1, 0, 1)
    assert said_by(before) == said_by(again)


def test_a_file_of_another_time_is_read_again(tmp_path: Path, lines: Path) -> None:
    """Size and time of the last change tell; results of the same name in another folder are others."""
    extractor = NoExtracts()
    read(tmp_path, extractor)
    os.utime(lines, (1_700_000_000, 1_700_000_000))
    read(tmp_path, extractor)
    assert extractor.calls == 2
    (tmp_path / "results").rename(tmp_path / "elsewhere")
    read_results(tmp_path / "elsewhere", SEEDS, AggregateCache(tmp_path / "cache"), extractor)
    assert extractor.calls == 3


def test_half_an_aggregate_is_read_over(tmp_path: Path, lines: Path) -> None:
    """Cut anywhere, nothing but zeros, as a power cut leaves a file, or with one byte changed."""
    before = said_by(read(tmp_path))
    (path,) = (tmp_path / "cache").rglob("aggregate.pickle")
    whole = path.read_bytes()
    cut = [whole[:size] for size in range(0, len(whole), 97)]
    changed = [
        whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :] for place in range(0, len(whole), 197)
    ]
    for content in (*cut, *changed, whole[:-1], bytes(len(whole))):
        path.write_bytes(content)
        assert said_by(read(tmp_path)) == before
        assert path.read_bytes() == whole


def test_a_row_a_unit_says_how_it_ended(tmp_path: Path) -> None:
    """Each metric over the unit alone, tokens and seconds; with several samples, a row each."""
    (suite,) = entries(["loop/core"])
    records = list(fake_records(MODEL, FakeSuite(suite, tasks=4, samples=2)))
    write_file(tmp_path / "results", MODEL.id, suite.id, records)
    (file,) = read(tmp_path, suites=[suite]).files
    assert file.frame["task"].tolist() == [record.task_id for record in records]
    assert file.frame["sample"].tolist() == [record.sample for record in records]
    for metric in suite.metrics:
        scores = [metric.score([record]) for record in records]
        assert file.frame[metric.id].tolist() == pytest.approx(scores, abs=0, nan_ok=True)
    assert file.usage == sum((record.usage for record in records), Usage())
    assert file.seconds == pytest.approx(sum(record.seconds for record in records))
    assert sum(file.outcomes.values()) == len(file.tasks) == len(records)


def test_a_cache_that_cannot_be_written_is_the_users_to_mend(tmp_path: Path, lines: Path) -> None:
    """A file where the folder should be; the message names it and the way out."""
    (tmp_path / "cache").write_text("")
    with pytest.raises(UserError, match=r"cannot write to the cache .*cache.*TRIATHLON_CACHE"):
        read(tmp_path)


def test_evidence_has_the_seeds_of_what_it_shows(tmp_path: Path, lines: Path) -> None:
    """Evolved problems are read with the model's own results on their seeds; where these change, again."""
    both = entries(["evolved/core-seeds", "evolved/core-difficult"])
    records = list(fake_records(MODEL, FakeSuite(both[1], tasks=4)))
    write_file(tmp_path / "results", MODEL.id, both[1].id, records)
    extractor = NoExtracts()
    read(tmp_path, extractor, both)
    assert extractor.calls == 2
    assert extractor.parents == {parent for one in records for parent in getattr(one, "parents", ())} != set()
    lines.write_text(lines.read_text().replace('"seconds":0.5', '"seconds":0.6'))
    read(tmp_path, extractor, both)
    assert extractor.calls == 4


def verdict_of(line: dict[str, Any], **change: object) -> dict[str, Any]:
    return {"verdict": {**line["verdict"], **change}}


def wrong_path(statement: dict[str, Any]) -> dict[str, Any]:
    return {**statement, "path": {**statement["path"], "correct": False}}


SEEDS_ID, LOOP_ID, RUNTIME_ID = "evolved/core-seeds", "loop/core", "runtime/core"
CONTRADICTIONS: dict[str, tuple[str, Callable[[dict[str, Any]], dict[str, Any]], str]] = {
    "outcome": (
        SEEDS_ID,
        lambda _: {"outcome": "timed_out"},
        "outcome: 'timed_out', but its verdict says 'passed'",
    ),
    "verdict": (
        SEEDS_ID,
        lambda line: verdict_of(line, outcome="failed"),
        "outcome: 'passed', but its verdict says 'failed'",
    ),
    "count": (
        SEEDS_ID,
        lambda line: verdict_of(line, passed=3),
        "outcome: 'passed', but its verdict counts 3 of 12 tests",
    ),
    "no verdict": (SEEDS_ID, lambda _: {"verdict": None}, "outcome: 'passed' without a verdict"),
    "loops": (
        LOOP_ID,
        lambda _: {"sustained_loops": 9},
        "sustained_loops: 9, but 10 of its loops passed",
    ),
    "end of loops": (
        LOOP_ID,
        lambda _: {"outcome": "failed"},
        "outcome: 'failed', but 10 of 10 loops passed",
    ),
    "answers": (
        RUNTIME_ID,
        lambda _: {"outcome": "failed"},
        "outcome: 'failed', but every answer is right",
    ),
    "an answer": (
        RUNTIME_ID,
        lambda line: {"output": {**line["output"], "correct": False}},
        "output.outcome: 'passed', but `correct` says False",
    ),
    "an answer about a statement": (
        RUNTIME_ID,
        lambda line: {"statements": [line["statements"][0], wrong_path(line["statements"][1])]},
        "statements[1].path.outcome: 'passed', but `correct` says False",
    ),
}
STRONGEST = FakeModel("m", 50.0, 1.0)
"""Everything it says is right."""


@pytest.mark.parametrize("case", CONTRADICTIONS)
def test_a_changed_outcome_is_no_result(tmp_path: Path, case: str) -> None:
    """An outcome that its own evidence does not bear out is named with file and line, and not counted."""
    suite_id, change, said = CONTRADICTIONS[case]
    suite = entries([suite_id])[0]
    path = write_file(tmp_path / "results", "m", suite.id, list(fake_records(STRONGEST, FakeSuite(suite, 4))))
    content = path.read_text().splitlines()
    line = json.loads(content[2])
    path.write_text("\n".join([*content[:2], json.dumps(line | change(line)), content[3], ""]))
    found = read(tmp_path, suites=[suite])
    ((number, message),) = notices(found)
    assert number == 3 and message.startswith(said) and "; it does not count; delete the line" in message
    assert len(found.files[0].tasks) == 3


@pytest.mark.parametrize("versions", [[], [0], [ENGINE_VERSION + 1], [0, ENGINE_VERSION]], ids=str)
def test_verdicts_of_another_version_are_noticed(tmp_path: Path, lines: Path, versions: list[int]) -> None:
    """Results that another version of extraction and grading judged count, with a warning."""
    change_manifest(lines, engine_versions=versions)
    found = read(tmp_path)
    assert len(found.files[0].tasks) == 6
    ((line, message),) = notices(found)
    assert line is None and message.startswith("graded by version") and "verify --update" in message


def test_an_unfinished_run_counts_what_is_there(tmp_path: Path, lines: Path) -> None:
    """A killed run's manifest counts what there was before: the lines are counted, the rest is open."""
    change_manifest(lines, ended="", outcomes={}, open_units=9)
    found = read(tmp_path)
    assert not found.notices
    assert (found.files[0].units, found.files[0].open_units) == (6, 3)


def test_a_line_that_does_not_count_leaves_its_unit_open(tmp_path: Path) -> None:
    """Its manifest says that nothing is open, and one line was cut since."""
    suite = entries(["evolved/core-seeds"])[0]
    write_results(tmp_path / "results", [STRONGEST], [FakeSuite(suite, 4)])
    (path,) = (tmp_path / "results/runs").rglob("*.jsonl")
    path.write_bytes(path.read_bytes()[:-20])
    found = read(tmp_path, suites=[suite])
    assert [(file.units, file.open_units) for file in found.files] == [(3, 1)]


def test_repeats_are_of_the_same_tasks(tmp_path: Path) -> None:
    """A task with fewer samples than the others is left out: it would move the mean of some samples only."""
    records = list(fake_records(MODEL, FakeSuite(SEEDS[0], tasks=6)))
    passed = [record.model_copy(update={"outcome": Outcome.PASSED}) for record in records]
    failed = passed[-1].model_copy(update={"outcome": Outcome.FAILED})
    again = [record.model_copy(update={"sample": 1}) for record in passed[:2]]
    write_file(tmp_path / "results", MODEL.id, SEEDS[0].id, [*passed[:-1], failed, *again])
    (file,) = read(tmp_path).files
    assert file.repeats["pass@1"] == (1.0, 1.0)
