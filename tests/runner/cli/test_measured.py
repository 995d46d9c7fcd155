"""Commands that look at results: dry run, verify, results list, archive, compact, diff, on one small run."""

import json

import pytest

from support.small_run import SmallRun
from triathlon_runner import catalogue
from triathlon_runner.store import read_records, recorded_files

SEEDS, LOOP = "evolved/core-seeds", "loop/core"


def test_run_says_what_it_did(finished: SmallRun) -> None:
    """The summary has each model's replies, cost and limit, and the log every unit."""
    said = (finished.root / "first.txt").read_text()
    assert "6 units finished, 0 open" in said
    assert "USD spent in this run" in said
    events = [json.loads(line) for line in (finished.root / "run.log").read_text().splitlines()]
    assert sum(event["event"] == "unit" for event in events) == 6
    assert (events[-1]["event"], events[-1]["exit_code"]) == ("end", 0)


def test_a_finished_run_asks_nobody(finished: SmallRun) -> None:
    """Run again without any server, also as a dry run, it ends with 0 and leaves every byte."""
    before = {path: path.read_bytes() for path in finished.results.rglob("*") if path.is_file()}
    dry = finished.run("--dry-run")
    assert (dry.exit_code, dry.output.count("done")) == (0, 3), dry.output
    assert finished.run().exit_code == 0
    assert {path: path.read_bytes() for path in finished.results.rglob("*") if path.is_file()} == before


def test_dry_run_estimates_the_rest(finished: SmallRun) -> None:
    """A larger run is estimated from the observed lengths, in requests, tokens, dollars and width."""
    code, said = finished.says("run", "--suites", LOOP, "--limit", "12", "--dry-run")
    assert code == 0, said
    assert all(word in said for word in ("2 units of this model", "USD", "±"))


def test_verify(finished: SmallRun) -> None:
    """Everything that a run wrote follows from its evidence; `--tasks` grades the units of a task alone."""
    task = finished.records(SEEDS)[0]["task_id"]
    for options, said in (
        ((), "6 units in 3 files"),
        (("--suites", SEEDS, "--tasks", task), "1 unit in 1 file"),
    ):
        code, output = finished.says("verify", *options)
        assert code == 0 and said in output, output


def test_list(finished: SmallRun) -> None:
    """Every file is listed with its state."""
    assert {
        suite: (row["units"], row["open"], row["state"]) for suite, row in finished.listed().items()
    } == dict.fromkeys((LOOP, "runtime/core", SEEDS), (2, 0, "current"))


def test_archive_outdated(small: SmallRun) -> None:
    """Results of another revision are listed as such, archived when told, and still listed."""
    rows = small.root / "models.yaml"
    rows.write_text(rows.read_text().replace("model: scripted", "model: scripted, revision: v2"))
    states = [row["state"] for row in small.listed().values()]
    assert all(state.startswith("made with another model: revision") for state in states)
    assert small.says("results", "archive", "--outdated", "--suites", LOOP)[0] == 0
    assert not small.lines(LOOP).exists()
    states = [row["state"] for row in small.listed("--no-check").values()]
    assert len(states) == 3 and sum(state.startswith("archived") for state in states) == 1


@pytest.mark.parametrize("suite", [LOOP, SEEDS, "runtime/core"])
def test_results_without_texts(small: SmallRun, suite: str) -> None:
    """What is kept of a verified file gives the same scores and holds no text; its receipt says from what."""
    code, said = small.says("results", "compact", "--suites", suite)
    assert code == 0, said
    (kept,) = recorded_files(small.results)
    (entry,) = catalogue.select([suite])
    whole = list(read_records(small.lines(suite), entry.record))
    for metric in entry.metrics:
        assert metric.score(kept.read()) == pytest.approx(metric.score(whole), nan_ok=True), metric.id
    receipt = kept.read_manifest().receipt
    assert (receipt.measured_here, receipt.compared, receipt.equal) == (True, 2, 2)
    assert not any(word in kept.lines.read_text() for word in ("def ", "reply", "prompt"))
    assert small.says("verify")[0] == 0


def test_diff(small: SmallRun, finished: SmallRun) -> None:
    """Two folders are compared unit by unit; exit code 1 where they differ or one lacks a unit."""
    diff = ("results", "diff", str(finished.results), "results")
    code, said = small.says(*diff)
    assert code == 0 and "0 differences" in said
    small.edit(LOOP, outcome="refused")
    code, said = small.says(*diff)
    assert code == 1 and "→ refused" in said and "1 unit differs" in said
    small.write(LOOP, finished.records(LOOP)[:1])
    code, said = small.says(*diff)
    assert code == 1 and f", only in {finished.results}" in said
