"""Results that another version of extraction and grading judged: marked, and brought up to date."""

import json
from collections import Counter
from collections.abc import Callable
from copy import deepcopy
from typing import Any

import pytest

from support.small_run import RUN, SmallRun
from triathlon_runner.engine_version import ENGINE_VERSION
from triathlon_runner.memo import python_version
from triathlon_runner.records import EvolvedRecord

Line = dict[str, Any]
SEEDS, LOOP = "evolved/core-seeds", "loop/core"


def judged_by_another_version(small: SmallRun, suite: str, **fields: object) -> Line:
    """As if version 0 had judged the file, with these fields in the first line; returns what that was."""
    was = small.records(suite)[0]
    if fields:
        small.edit(suite, **fields)
    counted = Counter(record["outcome"] for record in small.records(suite))
    small.edit_manifest(suite, engine_versions=[0], outcomes=counted, bytes=small.lines(suite).stat().st_size)
    return was


def test_update_rewrites_verdicts_and_keeps_replies(small: SmallRun) -> None:
    """Stored replies are graded anew, usage and seconds stay; the old file lies in the archive."""
    was = judged_by_another_version(small, SEEDS, outcome="timed_out")
    judged_by_another_version(small, LOOP)
    state = small.listed()[SEEDS]["state"]
    assert "graded by version unknown" in state and "verify --update" in state
    old, old_loop = small.lines(SEEDS).read_bytes(), small.lines(LOOP).read_bytes()
    small.expect("verify --update", 0, "1 line changed, 0 units open again", "!graded by version")
    assert small.records(SEEDS)[0] == was
    found = small.facts(SEEDS)
    assert found["engine_versions"] == [ENGINE_VERSION] and "timed_out" not in str(found["outcomes"])
    assert small.lines(LOOP).read_bytes() == old_loop
    assert small.facts(LOOP)["engine_versions"] == [ENGINE_VERSION]
    (archived,) = (small.results / "archive").rglob("*.jsonl")
    assert archived.read_bytes() == old and archived.with_suffix(".manifest.json").exists()
    small.expect("verify", 0)
    small.expect(RUN, 0)  # nothing is open, so nobody is asked: the server is gone


def test_a_reply_to_another_question_is_not_used(small: SmallRun) -> None:
    """Where the judgement now leads to a question that nobody asked, the unit is open again."""
    records = small.records(LOOP)
    place = next(n for n, record in enumerate(records) if record["sustained_loops"] >= 2)
    records[place]["loops"][1]["prompt"] += " As an older version asked."
    small.write(LOOP, records)
    judged_by_another_version(small, LOOP)
    cost_before = small.facts(LOOP)["cost_usd"]
    small.expect(f"verify --update --suites {LOOP}", 0, "1 unit open again")
    left, found = small.records(LOOP), small.facts(LOOP)
    assert len(left) == len(records) - 1
    assert found["open_units"] == 1 and found["cost_usd"] != cost_before
    assert found["usage"]["requests"] == sum(record["usage"]["requests"] for record in left)


def regraded(small: SmallRun, edit: Callable[[Line], object], **fields: object) -> tuple[int, Line]:
    """Exit code and report of `verify` once a line was edited and the manifest has these fields."""
    first, *rest = small.records(SEEDS)
    edit(first)
    small.write(SEEDS, [first, *rest])
    small.edit_manifest(SEEDS, **fields)
    result = small.call("verify", "--suites", SEEDS, "--json")
    (report,) = json.loads(result.stdout)["files"]
    return result.exit_code, report


def wrongly_failed(line: Line, index: int = 3) -> None:
    failing = {"index": index, "input": "(1,)", "expected": "2", "got": "3"}
    line["verdict"] |= {"outcome": "failed", "passed": index, "failing": failing}
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
    assert [kind for kind in ("mismatches", "differing") if report[kind]] == [differing] * code
    if differing == "mismatches":
        assert ("'failed'", "'passed'") in [(one["stored"], one["expected"]) for one in report[differing]]
    if differing == "differing":
        assert report["graded_under"] == "3.98"
        assert "score pass@1" in [one["what"] for one in report[differing]]
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
    attempts, passed = iter(indices), small.records(SEEDS)[0]

    async def regrade(record: EvolvedRecord, *_: object) -> EvolvedRecord:
        if record.task_id != passed["task_id"]:
            return record
        line = deepcopy(passed)
        if (index := next(attempts)) is not None:
            wrongly_failed(line, index)
        return EvolvedRecord.model_validate_json(json.dumps(line))

    monkeypatch.setattr("triathlon_runner.cli._verify.replayed", regrade)
    _, report = regraded(small, wrongly_failed, outcomes={"failed": 1, "passed": 1})
    assert (not report["mismatches"], next(attempts, "none left")) == (follows, "none left"), report
    varies = [note for note in report["notes"] if "varies from one execution to the next" in note]
    assert len(varies) == (len(set(indices)) > 1)
