"""The discipline from the command line, against a loopback server: both kinds of model, several samples."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from support.hashes import hashes
from support.model_server import model_server_process
from triathlon_runner.cli import add_commands, app
from triathlon_runner.datasets import core
from triathlon_runner.errors import UserError
from triathlon_runner.evolved import pass_at_k
from triathlon_runner.records import EvolvedRecord, Outcome, Reply

add_commands()

MODELS = """\
models:
  - id: chatting
    name: Follows instructions
    kind: instruct
    api: {{base_url: "{base_url}", model: scripted}}
  - id: completing
    name: Completes
    kind: base
    api: {{base_url: "{base_url}", model: scripted}}
  - id: stubborn
    name: Keeps its own temperature
    temperature: 0.3
    api: {{base_url: "{base_url}", model: scripted}}
"""
BOTH = ("--models", "chatting,completing")
WARM = "evolved/core-seeds@temperature-0.8"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder in which both models were asked: two tasks greedily, then four with three samples each."""
    root = tmp_path_factory.mktemp("place")
    with model_server_process("support.sampled_replies:every_other_time", "--model", "scripted") as base_url:
        (root / "models.yaml").write_text(MODELS.format(base_url=base_url))
        _call(root, "run", *BOTH, "--suites", "evolved/core-seeds", "--limit", "2")
        _call(root, "run", *BOTH, "--suites", "evolved/core-seeds", *_WARM)
        yield root


_WARM = ("--limit", "4", "--samples", "3", "--temperature", "0.8")


def _call(root: Path, *arguments: str, expect: int = 0) -> str:
    command = [str(Path(sys.executable).with_name("triathlon")), *arguments]
    environment = {**os.environ, "TRIATHLON_CACHE": str(root / "cache")}
    done = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == expect, done.stdout + done.stderr
    return done.stdout + done.stderr


def _records(root: Path, model: str, suite: str) -> list[EvolvedRecord]:
    lines = (root / f"results/runs/{model}/{suite}.jsonl").read_text().splitlines()
    return [EvolvedRecord.model_validate_json(line) for line in lines]


def test_base_and_instruct_models_side_by_side(place: Path) -> None:
    """One is told what to do and returns a whole program, the other goes on with the prompt."""
    chatting, completing = (
        _records(place, model, "evolved/core-seeds") for model in ("chatting", "completing")
    )
    assert [record.task_id for record in chatting] == [record.task_id for record in completing]
    assert {record.outcome for record in (*chatting, *completing)} == {"passed"}
    prompts = {seed.task_id: seed.prompt for seed in core.problems("seeds")}
    for told, completed in zip(chatting, completing, strict=True):
        prompt = prompts[told.task_id].strip()
        assert completed.prompt.strip() == prompt
        assert told.prompt != completed.prompt
        assert prompt in told.prompt
        assert completed.program.startswith(completed.prompt)
        assert told.protocol != completed.protocol


def test_samples_are_records_of_a_suite_of_their_own(place: Path) -> None:
    """Each sample is a line; the greedy results stay what they were."""
    for model in ("chatting", "completing"):
        records = _records(place, model, WARM)
        assert sorted({record.sample for record in records}) == [0, 1, 2]
        assert len(records) == 12
        assert {record.suite for record in records} == {WARM}
        assert len(_records(place, model, "evolved/core-seeds")) == 2


def test_what_extraction_changed_is_kept(place: Path) -> None:
    """A base model wrote more than the function: what was cut off is named in the record."""
    records = _records(place, "completing", WARM)
    cut = [record for record in records if "left_over" in record.reply.text]
    assert cut
    assert all(record.changes and "left_over" not in record.program for record in cut)


def test_pass_at_k(place: Path) -> None:
    """Right twice in three, or always: pass@k is the mean of 1 - C(3 - c, k) / C(3, k), for every k."""
    records = _records(place, "chatting", WARM)
    levels = {seed.task_id: seed.level for seed in core.problems("seeds")}
    easy = sum(levels[task] == 1 for task in {record.task_id for record in records})
    for k, share in ((1, 2 / 3), (2, 1.0), (3, 1.0)):
        assert pass_at_k(k).score(records) == pytest.approx((easy + (4 - easy) * share) / 4)
    assert easy < 4
    shown = _json(place, "samples", WARM)
    assert [row["model"] for row in shown] == ["chatting", "completing"]
    assert [row["samples"] for row in shown] == [3, 3]
    assert shown[0]["pass@1"] == pass_at_k(1).score(records)
    assert shown[0]["pass@3"] == 1.0


def test_a_second_run_asks_only_what_is_missing(place: Path) -> None:
    """The same samples are not asked again; one more sample is."""
    assert "0 units finished, 0 open" in _call(
        place, "run", *BOTH, "--suites", WARM, "--limit", "4", "--samples", "3"
    )
    more = _call(place, "run", "--models", "chatting", "--suites", WARM, "--limit", "1", "--samples", "4")
    assert "1 unit finished" in more


def test_a_row_with_its_own_temperature_is_refused(place: Path) -> None:
    """Its samples would not be what the suite's name says."""
    said = _call(place, "run", "--models", "stubborn", "--suites", "evolved/core-seeds", *_WARM, expect=2)
    assert "'stubborn' is asked at temperature 0.3" in said


def _json(root: Path, *arguments: str) -> Any:
    return json.loads(_sets(root, *arguments, "--json"))


def _sets(root: Path, *arguments: str) -> str:
    """`triathlon sets …` in this process."""
    results = [] if arguments[0] == "contamination" else ["--results", str(root / "results")]
    shown = CliRunner().invoke(app, ["sets", *arguments, *results], catch_exceptions=False)
    assert shown.exit_code == 0, shown.output
    return shown.output


def _write(root: Path, suite: str, outcomes: dict[str, bool], *parents: str) -> None:
    path = root / f"results/runs/m/{suite}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    records = [
        EvolvedRecord(
            suite=suite,
            model="m",
            task_id=task,
            protocol=hashes("p"),
            outcome=Outcome.PASSED if passed else Outcome.FAILED,
            prompt="",
            reply=Reply(text=""),
            program="",
            verdict=None,
            parents=parents[number : number + 1],
        )
        for number, (task, passed) in enumerate(outcomes.items())
    ]
    path.write_text("".join(record.model_dump_json(by_alias=True) + "\n" for record in records))


def test_the_sets_of_a_family_are_compared(tmp_path: Path) -> None:
    """McNemar's counts for each model that has both sets; other families and missing results are named."""
    _write(tmp_path, "evolved/core-seeds", {"a": True, "b": True, "c": False, "d": True})
    _write(
        tmp_path, "evolved/core-subtle", {"x": True, "y": False, "z": True, "w": False}, "a", "b", "c", "d"
    )
    seeds, subtle = "evolved/core-seeds", "evolved/core-subtle"
    counts = {"both": 1, "first_only": 2, "second_only": 1, "neither": 0, "p_value": 1.0}
    assert _json(tmp_path, "compare", seeds, subtle) == [{"model": "m", **counts}]
    assert "seeds only" in _sets(tmp_path, "compare", seeds, subtle)
    for suites, complaint in (
        ((seeds, "evolved/core-combine"), "no model has results on related problems"),
        ((seeds, "evolved/subtle"), "two families"),
        (("loop/core", subtle), "expected a set of the evolved discipline"),
    ):
        with pytest.raises(UserError, match=complaint):
            _sets(tmp_path, "compare", *suites)


def test_contamination_report(tmp_path: Path) -> None:
    """A line a problem, the worst first, with the passage; a suite without functions is refused."""
    out = tmp_path / "shared.jsonl"
    shown = _json(tmp_path, "contamination", "evolved/core-subtle", "--out", str(out))
    lines = [json.loads(line) for line in out.read_text().splitlines()]
    assert lines == shown
    assert len(shown) == len(core.problems("subtle"))
    worst = shown[0]
    assert worst["parent"]["share"] == max(line["parent"]["share"] for line in shown)
    assert worst["parent"]["task_id"].startswith("core/seeds/")
    assert len(worst["parent"]["passage"].split()) > 5
    with pytest.raises(UserError, match="no functions to write"):
        _sets(tmp_path, "contamination", "runtime/core")
