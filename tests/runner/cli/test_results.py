"""Commands that look at results: verify, results list, archive, compact, diff; also at damaged ones."""

import errno
import json
import os
from pathlib import Path
from typing import Any
from unittest.mock import DEFAULT, patch

import pytest

from support.import_place import CHECKOUT
from support.small_run import RUN, SmallRun, served, transcripts
from triathlon_runner import catalogue
from triathlon_runner.sandbox import SandboxError
from triathlon_runner.store import ResultsFolder, read_records, recorded_files
from triathlon_runner.verify import replayed

SEEDS, LOOP = "evolved/core-seeds", "loop/core"


def test_a_finished_run(finished: SmallRun) -> None:
    """Listed, follows from its evidence, estimated from; run again without a server it leaves every byte."""
    said = (finished.root / "first.txt").read_text()
    assert "6 units finished, 0 open" in said and "USD spent in this run" in said
    rows = {suite: (row["units"], row["open"], row["state"]) for suite, row in finished.listed().items()}
    assert rows == dict.fromkeys((LOOP, "runtime/core", SEEDS), (2, 0, "current"))
    task = finished.records(SEEDS)[0]["task_id"]
    finished.expect("verify", 0, "6 units in 3 files")
    finished.expect(f"verify --suites {SEEDS} --tasks {task}", 0, "1 unit in 1 file")
    finished.expect(f"run --suites {LOOP} --limit 12 --dry-run", 0, "2 units of this model", "USD")
    before = {path: path.read_bytes() for path in finished.results.rglob("*") if path.is_file()}
    assert finished.expect(f"{RUN} --dry-run", 0).count("done") == 3
    finished.expect(RUN, 0)
    assert {path: path.read_bytes() for path in finished.results.rglob("*") if path.is_file()} == before


@pytest.mark.parametrize("suite", [LOOP, SEEDS, "runtime/core"])
def test_results_without_texts(small: SmallRun, suite: str) -> None:
    """What is kept of a verified file gives the same scores and holds no text; its receipt says from what."""
    small.expect(f"results compact --suites {suite}", 0)
    (kept,) = recorded_files(small.results)
    (entry,) = catalogue.select([suite])
    whole = list(read_records(small.lines(suite), entry.record))
    for metric in entry.metrics:
        assert metric.score(kept.read()) == pytest.approx(metric.score(whole), nan_ok=True), metric.id
    receipt = kept.read_manifest().receipt
    assert (receipt.measured_here, receipt.compared, receipt.equal) == (True, 2, 2)
    assert not any(word in kept.lines.read_text() for word in ("def ", "reply", "prompt"))
    small.expect("verify", 0)


def test_no_text_is_left_out_beside_a_run(small: SmallRun) -> None:
    """While a run writes a model's results its manifests are not those of its lines: the model is refused."""
    with ResultsFolder(small.results).locked("m"):
        small.expect(f"results compact --suites {SEEDS}", 2, "another triathlon command is writing")
    assert not list(recorded_files(small.results))


def test_diff(small: SmallRun, finished: SmallRun) -> None:
    diff = f"results diff {finished.results} results"
    small.expect(diff, 0, "0 differences")
    first = finished.records(LOOP)[0]
    small.edit(LOOP, outcome="refused")
    small.expect(diff, 1, "→ refused", "loop/core: 1 difference")
    (change,) = small.json(diff, 1)["files"][f"m {LOOP}"]
    assert (change["task_id"], change["sample"]) == (first["task_id"], 0)
    assert change["before"].startswith(first["outcome"]) and change["after"].startswith("refused")
    small.edit(LOOP, outcome=first["outcome"], sustained_loops=4)
    small.expect(diff, 1, " after 4 loops")
    small.write(LOOP, finished.records(LOOP))
    small.edit("runtime/core", output=finished.records("runtime/core")[0]["output"] | {"outcome": "passed"})
    small.expect(diff, 1, "(wrong: answer 1, ")
    small.write(LOOP, finished.records(LOOP)[:1])
    small.expect(diff, 1, f", only in {finished.results}")


def test_a_base_models_lines_follow_without_a_manifest(small: SmallRun) -> None:
    """Its kind stands in the manifest: its prompts were taken for changed ones of an instruct model."""
    committed = (CHECKOUT / f"results/runs/gemma-3-270m/{SEEDS}.jsonl").read_text().splitlines()[:3]
    small.write(SEEDS, [json.loads(line) | {"model": "m"} for line in committed])
    small.manifest(SEEDS).unlink()
    small.expect(f"verify --suites {SEEDS}", 1, "3/3 units, could not be checked", "no manifest beside")


@transcripts(Path(__file__).with_name("transcripts.txt"))
def test_what_commands_say(small: SmallRun, steps: str) -> None:
    """File, line, what was expected, what came and what to do; nothing is silently left out or kept."""
    small.play(steps)
    assert not list(recorded_files(small.results))


def test_the_advice_holds(small: SmallRun) -> None:
    """Without the line its unit is made again from the reply in the cache, where the server is there."""
    outcome = small.records(SEEDS)[0]["outcome"]
    small.write(SEEDS, small.records(SEEDS)[1:])
    with served(small.root):
        small.expect(RUN, 0, "1 unit finished, 0 open")
    assert small.records(SEEDS)[0]["outcome"] == outcome


@pytest.mark.slow
def test_what_cannot_be_checked_is_not_accused(small: SmallRun) -> None:
    """Without an interpreter: exit code 1, the reason, what to do."""
    away = SandboxError("php is not installed: 'php' is not on the PATH")
    unchecked = "m loop/core: 1/2 units, could not be checked", "php is not installed", "in 1 of 1 file"
    with patch("triathlon_runner.cli._verify.replayed", wraps=replayed, side_effect=[away, DEFAULT]):
        small.expect(f"verify --suites {LOOP}", 1, "!NOT FOLLOW", *unchecked, "`triathlon doctor`")


@pytest.mark.slow
def test_a_file_that_cannot_be_read_hides_no_other(small: SmallRun, monkeypatch: pytest.MonkeyPatch) -> None:
    path = Path(f"results/runs/m/{SEEDS}.jsonl")
    opened, allowed = Path.open, os.access

    def refuse(file: Path, *rest: Any, **options: Any) -> Any:
        if file == path:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(file))
        return opened(file, *rest, **options)

    monkeypatch.setattr(Path, "open", refuse)
    monkeypatch.setattr(os, "access", lambda file, mode: file != path and allowed(file, mode))
    rows = small.listed()
    assert len(rows) == 3 and rows[SEEDS]["short"] == "unreadable"
    assert rows[SEEDS]["state"] == f"{path}: cannot be read (Permission denied); make it readable"
    assert small.expect("verify", 1, "could not be checked").count("units, follows") == 2
