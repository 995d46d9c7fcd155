"""Commands that look at results: dry run, verify, results list, archive, compact, diff, on one small run."""

import json
from pathlib import Path

import pytest

from support.small_run import SmallRun
from triathlon_runner import catalogue
from triathlon_runner.store import read_records, recorded_files


def tamper(path: Path, change: dict[str, object]) -> None:
    """Changes fields of the first line."""
    first, *rest = path.read_text(encoding="utf-8").splitlines()
    line = {**json.loads(first), **change}
    path.write_text("\n".join([json.dumps(line), *rest]) + "\n", encoding="utf-8")


def test_run_says_what_it_did(finished: SmallRun) -> None:
    """The summary has each model's replies, cost and limit, and the log every unit."""
    said = (finished.root / "first.txt").read_text()
    assert "6 units finished, 0 open" in said
    assert "USD spent in this run" in said
    events = [json.loads(line) for line in (finished.root / "run.log").read_text().splitlines()]
    assert sum(event["event"] == "unit" for event in events) == 6
    assert (events[-1]["event"], events[-1]["exit_code"]) == ("end", 0)


def test_dry_run_of_a_finished_run(finished: SmallRun) -> None:
    """What is done costs nothing more, and nobody is asked: the server is gone."""
    result = finished.run("--dry-run")
    assert result.exit_code == 0, result.output
    assert result.output.count("done") == 3


def test_dry_run_estimates_the_rest(finished: SmallRun) -> None:
    """A larger run is estimated from the observed lengths, in requests, tokens, dollars and width."""
    result = finished.call("run", "--suites", "loop/core", "--limit", "12", "--dry-run")
    assert result.exit_code == 0, result.output
    assert "2 units of this model" in result.output
    assert "USD" in result.output and "±" in result.output


def test_a_finished_run_asks_nobody(finished: SmallRun) -> None:
    """Run again without any server, it ends with 0 and leaves every byte."""
    before = {path: path.read_bytes() for path in finished.results.rglob("*") if path.is_file()}
    assert finished.run().exit_code == 0
    assert {path: path.read_bytes() for path in finished.results.rglob("*") if path.is_file()} == before


def test_a_results_folder_that_is_not_there(tmp_path: Path, small: SmallRun) -> None:
    """A missing folder or a file in its place is refused by its name, not listed as empty."""
    (tmp_path / "file").write_text("")
    for place in (tmp_path / "none", tmp_path / "file"):
        result = small.call("results", "list", "--results", str(place))
        assert f"expected a folder of results at '{place}'" in str(result.exception)


def test_budget_needs_prices(small: SmallRun) -> None:
    """--budget with a model that has no price is refused before anything is asked."""
    rows = (small.root / "models.yaml").read_text().replace("price: {input: 1, output: 2}", "")
    (small.root / "models.yaml").write_text(rows)
    result = small.run("--budget", "5")
    assert "--budget needs the price of 'm'" in str(result.exception)


def test_verify(finished: SmallRun) -> None:
    """Everything that a run wrote follows from its evidence: all disciplines, every unit, every score."""
    result = finished.call("verify")
    assert result.exit_code == 0, result.output
    assert "6 units in 3 files" in result.output


def test_verify_one_task(finished: SmallRun) -> None:
    """`--tasks` grades the units of a task again, and nothing else; one that nobody has is refused."""
    lines = (finished.results / "runs/m/evolved/core-seeds.jsonl").read_text().splitlines()
    task = json.loads(lines[0])["task_id"]
    result = finished.call("verify", "--suites", "evolved/core-seeds", "--tasks", task)
    assert result.exit_code == 0 and "1 unit in 1 file" in result.output, result.output
    refused = finished.call("verify", "--tasks", "nobody/0")
    assert "expected ids of tasks with stored results, got 'nobody/0'" in str(refused.exception)


@pytest.mark.parametrize(
    ("suite", "change", "says"),
    [
        ("evolved/core-seeds", {"outcome": "timed_out"}, "outcome: stored 'timed_out'"),
        ("evolved/core-seeds", {"program": "def f(): pass"}, "program: stored"),
        ("loop/core", {"sustained_loops": 7}, "sustained_loops: stored 7"),
        ("runtime/core", {"outcome": "passed"}, "outcome: stored 'passed'"),
        ("evolved/core-seeds", {"task_id": "nobody/0"}, "the suite has no such task"),
        ("evolved/core-seeds", {"protocol": "0" * 16}, "another protocol"),
    ],
    ids=str,
)
def test_verify_finds_a_tampered_line(
    small: SmallRun, suite: str, change: dict[str, object], says: str
) -> None:
    """A line that was changed by hand is found, named, and ends with exit code 1."""
    tamper(small.results / "runs" / "m" / f"{suite}.jsonl", change)
    result = small.call("verify", "--suites", suite)
    assert result.exit_code == 1, result.output
    assert says in result.output


def test_verify_finds_a_tampered_manifest(small: SmallRun) -> None:
    """Counts that do not fit the lines are found."""
    path = small.results / "runs" / "m" / "evolved" / "core-seeds.manifest.json"
    manifest = json.loads(path.read_text())
    manifest["outcomes"] = {"passed": 2, "failed": 9}
    path.write_text(json.dumps(manifest))
    result = small.call("verify", "--suites", "evolved/core-seeds")
    assert result.exit_code == 1
    assert "the manifest counts {'passed': 2, 'failed': 9}, its lines {" in result.output


def test_a_right_manifest_is_not_reported_as_wrong(small: SmallRun) -> None:
    """Where an outcome was changed in a line, the manifest bears out what is graded again."""
    lines = small.results / "runs" / "m" / "evolved" / "core-seeds.jsonl"
    outcome = json.loads(lines.read_text().splitlines()[0])["outcome"]
    tamper(lines, {"outcome": "timed_out"})
    (file,) = json.loads(small.call("verify", "--suites", "evolved/core-seeds", "--json").stdout)["files"]
    assert any(one["expected"] == repr(outcome) for one in file["mismatches"])
    assert not any("manifest" in one["what"] for one in file["mismatches"])


@pytest.mark.parametrize("changed", ["lines and manifest", "manifest"])
def test_results_of_another_protocol_do_not_count_as_wrong(small: SmallRun, changed: str) -> None:
    """They can't be graded again, and what to do is said; a manifest that is not its lines' was changed."""
    suite = "evolved/core-seeds"
    path = small.results / "runs" / "m" / f"{suite}.manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"protocol": "0" * 16}))
    if changed == "lines and manifest":
        lines = small.results / "runs" / "m" / f"{suite}.jsonl"
        texts = [json.loads(line) | {"protocol": "0" * 16} for line in lines.read_text().splitlines()]
        lines.write_text("".join(json.dumps(text) + "\n" for text in texts))
    result = small.call("verify", "--suites", suite)
    assert result.exit_code == 1
    if changed == "manifest":
        assert "DOES NOT FOLLOW" in result.output and "manifest protocol: the manifest has" in result.output
    else:
        assert "could not be checked" in result.output and "NOT FOLLOW" not in result.output
        assert "triathlon run --ask-again" in " ".join(result.output.split())


def test_list(finished: SmallRun) -> None:
    """Every file is listed with its state."""
    result = finished.call("results", "list", "--json")
    rows = json.loads(result.output)
    assert {(row["suite"], row["units"], row["open"], row["state"]) for row in rows} == {
        (suite, 2, 0, "current") for suite in ("loop/core", "runtime/core", "evolved/core-seeds")
    }


def test_archive_outdated(small: SmallRun) -> None:
    """Results of another revision are listed as such, archived when told, and still listed."""
    rows = small.root / "models.yaml"
    rows.write_text(rows.read_text().replace("model: scripted", "model: scripted, revision: v2"))
    listed = json.loads(small.call("results", "list", "--json").output)
    assert all(row["state"].startswith("made with another model: revision") for row in listed)
    result = small.call("results", "archive", "--outdated", "--suites", "loop/core")
    assert result.exit_code == 0, result.output
    assert not (small.results / "runs" / "m" / "loop" / "core.jsonl").exists()
    states = [
        row["state"] for row in json.loads(small.call("results", "list", "--no-check", "--json").output)
    ]
    assert len(states) == 3 and sum(state.startswith("archived") for state in states) == 1


def test_archive_wants_to_know_what(small: SmallRun) -> None:
    """Without any choice nothing is moved."""
    result = small.call("results", "archive")
    assert "--models, --suites or --outdated" in str(result.exception)
    result = small.call("results", "archive", "--models", "nobody")
    assert "there are results of: m" in str(result.exception)


@pytest.mark.parametrize("suite", ["loop/core", "evolved/core-seeds"])
def test_results_without_texts(small: SmallRun, suite: str) -> None:
    """What is kept of a verified file gives the same scores and holds no text; its receipt says from what."""
    result = small.call("results", "compact", "--suites", suite)
    assert result.exit_code == 0, result.output
    (kept,) = recorded_files(small.results)
    (entry,) = catalogue.select([suite])
    whole = list(read_records(small.results / f"runs/m/{suite}.jsonl", entry.record))
    for metric in entry.metrics:
        assert metric.score(kept.read()) == pytest.approx(metric.score(whole), nan_ok=True), metric.id
    receipt = kept.read_manifest().receipt
    assert (receipt.measured_here, receipt.compared, receipt.equal) == (True, 2, 2)
    assert not any(word in kept.lines.read_text() for word in ("def ", "reply", "prompt"))
    assert small.call("verify").exit_code == 0


@pytest.mark.parametrize(
    ("suite", "change", "says"),
    [
        ("runtime/core", {}, "keep the whole file"),
        ("evolved/core-seeds", {"outcome": "timed_out"}, "DOES NOT FOLLOW"),
    ],
    ids=str,
)
def test_what_cannot_be_kept_without_texts(
    small: SmallRun, suite: str, change: dict[str, object], says: str
) -> None:
    """Scores that need every answer, and lines that do not follow, are refused and left alone."""
    tamper(small.results / "runs" / "m" / f"{suite}.jsonl", change)
    result = small.call("results", "compact", "--suites", suite)
    assert result.exit_code and says in f"{result.output}{result.exception}"
    assert not list(recorded_files(small.results))


def test_diff(small: SmallRun, finished: SmallRun) -> None:
    """Two folders are compared unit by unit; exit code 1 where they differ."""
    same = small.call("results", "diff", str(finished.results), "results")
    assert (same.exit_code, "0 differences" in same.output) == (0, True)
    tamper(small.results / "runs" / "m" / "loop" / "core.jsonl", {"outcome": "refused"})
    differs = small.call("results", "diff", str(finished.results), "results")
    assert differs.exit_code == 1
    assert "→ refused" in differs.output
    assert "1 unit differs" in differs.output


def test_diff_names_what_one_side_lacks(small: SmallRun, finished: SmallRun) -> None:
    """A unit that stands in one of them only has no other outcome: it is said where it is."""
    lines = small.results / "runs" / "m" / "loop" / "core.jsonl"
    lines.write_text(lines.read_text().splitlines()[0] + "\n")
    result = small.call("results", "diff", str(finished.results), "results")
    assert result.exit_code == 1
    assert f", only in {finished.results}" in result.output.replace("\n", "")


@pytest.mark.parametrize("inside", ["runs", "runs/m"])
def test_diff_refuses_a_folder_that_it_would_not_read(small: SmallRun, inside: str) -> None:
    """No results in a folder are no equal results."""
    folder = str(small.results / inside)
    result = small.call("results", "diff", folder, folder)
    assert "runs/MODEL/SUITE.jsonl" in str(result.exception) and repr(folder) in str(result.exception)
