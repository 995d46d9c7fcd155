"""Results that another version of extraction and grading judged: marked, and brought up to date."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from support.small_run import SmallRun
from triathlon_runner.engine_version import ENGINE_VERSION
from triathlon_runner.memo import python_version
from triathlon_runner.records import EvolvedRecord

Line = dict[str, Any]
SEEDS, LOOP = "evolved/core-seeds", "loop/core"


def lines(small: SmallRun, suite: str) -> Path:
    return small.results / "runs/m" / f"{suite}.jsonl"


def manifest(small: SmallRun, suite: str) -> dict[str, object]:
    path = small.results / "runs/m" / f"{suite}.manifest.json"
    found: dict[str, object] = json.loads(path.read_text())
    return found


def judged_by_another_version(
    small: SmallRun, suite: str, *, outcome: str | None = None
) -> dict[str, object]:
    """As if version 0 had judged the file, and had given the first line this outcome."""
    first, *rest = lines(small, suite).read_text().splitlines()
    was: dict[str, object] = json.loads(first)
    if outcome is not None:
        first = json.dumps({**was, "outcome": outcome})
        lines(small, suite).write_text("\n".join([first, *rest]) + "\n")
    found = manifest(small, suite)
    counted: dict[str, int] = {}
    for line in lines(small, suite).read_text().splitlines():
        name = json.loads(line)["outcome"]
        counted[name] = counted.get(name, 0) + 1
    changed = {"engine_versions": [0], "outcomes": counted, "bytes": lines(small, suite).stat().st_size}
    (small.results / "runs/m" / f"{suite}.manifest.json").write_text(json.dumps({**found, **changed}))
    return was


def test_results_of_another_version_are_marked(small: SmallRun) -> None:
    """`results list` and `verify` say which version judged a file, and what brings it up to date."""
    judged_by_another_version(small, SEEDS)
    states = {
        row["suite"]: row["state"] for row in json.loads(small.call("results", "list", "--json").output)
    }
    assert "graded by version unknown" in states[SEEDS] and "verify --update" in states[SEEDS]
    assert states[LOOP] == "current"
    result = small.call("verify", "--suites", SEEDS)
    assert result.exit_code == 0 and "verify --update" in result.output


def test_update_rewrites_verdicts_and_keeps_replies(small: SmallRun) -> None:
    """The stored replies are graded anew; usage and seconds stay, and the old file lies in the archive."""
    was = judged_by_another_version(small, SEEDS, outcome="timed_out")
    old = lines(small, SEEDS).read_bytes()
    result = small.call("verify", "--update", "--suites", SEEDS)
    assert result.exit_code == 0, result.output
    assert "1 line changed, 0 units open again" in result.output
    assert json.loads(lines(small, SEEDS).read_text().splitlines()[0]) == was
    found = manifest(small, SEEDS)
    assert found["engine_versions"] == [ENGINE_VERSION] and "timed_out" not in str(found["outcomes"])
    (archived,) = (small.results / "archive").rglob("*.jsonl")
    assert archived.read_bytes() == old and archived.with_suffix(".manifest.json").exists()
    assert small.call("verify").exit_code == 0
    assert small.run().exit_code == 0  # nothing is open, so nobody is asked: the server is gone


def test_update_without_a_changed_verdict_changes_no_line(small: SmallRun) -> None:
    """Where all verdicts hold, the manifest alone is brought up to date."""
    judged_by_another_version(small, LOOP)
    old = lines(small, LOOP).read_bytes()
    assert small.call("verify", "--update").exit_code == 0
    assert lines(small, LOOP).read_bytes() == old and not (small.results / "archive").exists()
    assert manifest(small, LOOP)["engine_versions"] == [ENGINE_VERSION]


def test_update_leaves_this_versions_files_alone(small: SmallRun) -> None:
    """A line that was changed by hand is no matter of versions: it stays as it is, and does not follow."""
    first, *rest = lines(small, SEEDS).read_text().splitlines()
    lines(small, SEEDS).write_text(
        "\n".join([json.dumps({**json.loads(first), "outcome": "timed_out"}), *rest, ""])
    )
    before = lines(small, SEEDS).read_bytes()
    result = small.call("verify", "--update", "--suites", SEEDS)
    assert result.exit_code == 1 and "stored 'timed_out'" in result.output
    assert lines(small, SEEDS).read_bytes() == before


def test_a_reply_to_another_question_is_not_used(small: SmallRun) -> None:
    """Where the judgement now leads to a question that nobody asked, the unit is open again."""
    path = lines(small, LOOP)
    records = [json.loads(line) for line in path.read_text().splitlines()]
    place = next(n for n, one in enumerate(records) if one["sustained_loops"] >= 2)
    records[place]["loops"][1]["prompt"] += " As an older version asked."
    path.write_text("".join(json.dumps(one) + "\n" for one in records))
    judged_by_another_version(small, LOOP)
    cost_before = manifest(small, LOOP)["cost_usd"]
    result = small.call("verify", "--update", "--suites", LOOP)
    assert result.exit_code == 0, result.output
    assert "1 unit open again" in result.output
    left = [json.loads(line) for line in path.read_text().splitlines()]
    assert len(left) == len(records) - 1
    found = manifest(small, LOOP)
    assert found["open_units"] == 1 and found["cost_usd"] != cost_before
    requests = sum(one["usage"]["requests"] for one in left)
    assert isinstance(found["usage"], dict) and found["usage"]["requests"] == requests


def test_what_cannot_be_judged_is_not_updated(small: SmallRun) -> None:
    """A file that is only partly graded again stays whole as it was, with the reason."""
    judged_by_another_version(small, SEEDS)
    path = lines(small, SEEDS)
    path.write_text(path.read_text().replace('"task_id":"', '"task_id":"gone/', 1))
    before = path.read_bytes()
    result = small.call("verify", "--update", "--suites", SEEDS)
    assert result.exit_code == 1 and "not brought up to date" in result.output
    assert path.read_bytes() == before and manifest(small, SEEDS)["engine_versions"] == [0]


def regraded(small: SmallRun, edit: Callable[[Line], object], **fields: object) -> tuple[int, Line]:
    """Exit code and report of `verify` once a line was edited and the manifest has these fields."""
    first, *rest = lines(small, SEEDS).read_text().splitlines()
    line = json.loads(first)
    edit(line)
    lines(small, SEEDS).write_text("\n".join([json.dumps(line), *rest, ""]))
    path = small.results / "runs/m" / f"{SEEDS}.manifest.json"
    path.write_text(json.dumps({**manifest(small, SEEDS), **fields}))
    result = small.call("verify", "--suites", SEEDS, "--json")
    (report,) = json.loads(result.stdout)["files"]
    return result.exit_code, report


def wrongly_failed(line: Line) -> None:
    failing = {"index": 3, "input": "(1,)", "expected": "2", "got": "3"}
    line["verdict"] |= {"outcome": "failed", "passed": 3, "failing": failing}
    line["outcome"] = "failed"


@pytest.mark.parametrize(
    ("edit", "fields", "differing"),
    [
        (lambda line: line["verdict"].update(detail="stderr: a warning"), {}, None),
        (wrongly_failed, {}, "mismatches"),
        (wrongly_failed, {"python_versions": []}, "mismatches"),
        (wrongly_failed, {"python_versions": ["3.98"]}, "differing"),
    ],
    ids=["wording", "same-python", "unknown-python", "other-python"],
)
def test_what_follows_is_outcome_and_score(
    small: SmallRun, edit: Callable[[Line], object], fields: Line, differing: str | None
) -> None:
    """Words are not compared; what another Python graded otherwise is listed apart, with both versions."""
    code, report = regraded(small, edit, **fields)
    assert code == (differing is not None)
    places = {kind: [one["what"] for one in report[kind]] for kind in ("mismatches", "differing")}
    for kind, whats in places.items():
        assert bool(whats) is (kind == differing), places
    if differing == "differing":
        assert report["graded_under"] == "3.98" and "score pass@1" in places[differing]
        said = " ".join(small.call("verify", "--suites", SEEDS).output.split())
        assert f"differs under Python {python_version()} (graded under 3.98)" in said
        assert "follows but for 1 unit" in said and "DO NOT FOLLOW" not in said


@pytest.mark.parametrize(
    ("indices", "follows"),
    [((3,), True), ((7, 7, 7), False), ((7, 8, 9), True), ((None, 3), True), ((None, None, None), False)],
)
def test_a_program_that_draws_random_numbers_is_named(
    small: SmallRun, monkeypatch: pytest.MonkeyPatch, indices: tuple[int | None, ...], follows: bool
) -> None:
    """A unit that differs is graded again: what varies each time is no contradiction, but is named."""
    attempts = iter(indices)
    task_id = json.loads(lines(small, SEEDS).read_text().splitlines()[0])["task_id"]

    async def regrade(record: EvolvedRecord, *_: object) -> EvolvedRecord:
        if record.task_id != task_id:
            return record
        index = next(attempts)
        line = record.model_dump(mode="json", by_alias=True)
        if index is None:
            line["verdict"] |= {"outcome": "passed", "passed": line["verdict"]["total"], "failing": None}
            line["outcome"] = "passed"
        else:
            line["verdict"] |= {"passed": index, "failing": line["verdict"]["failing"] | {"index": index}}
        return EvolvedRecord.model_validate_json(json.dumps(line))

    monkeypatch.setattr("triathlon_runner.cli._verify.replayed", regrade)
    _, report = regraded(small, wrongly_failed, outcomes={"failed": 1, "passed": 1})
    assert (not report["mismatches"], next(attempts, "none left")) == (follows, "none left"), report
    varies = [note for note in report["notes"] if "varies from one execution to the next" in note]
    assert len(varies) == (len(set(indices)) > 1)
