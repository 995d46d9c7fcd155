"""The discipline from the command line, against a loopback server: both kinds of model, several samples."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from support.model_server import model_server_process
from support.user_place import Place
from triathlon_runner.datasets import core
from triathlon_runner.records import EvolvedRecord

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
"""
BOTH = ("--models", "chatting,completing")
WARM = "evolved/core-seeds@temperature-0.8"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder in which both models were asked: two tasks greedily, then four with three samples each."""
    root = tmp_path_factory.mktemp("place")
    with model_server_process("support.sampled_replies:every_other_time", "--model", "scripted") as base_url:
        place = Place(root, base_url)
        (root / "models.yaml").write_text(MODELS.format(base_url=base_url))
        place.call("run", *BOTH, "--suites", "evolved/core-seeds", "--limit", "2")
        place.call("run", *BOTH, "--suites", "evolved/core-seeds", *_WARM)
        yield root


_WARM = ("--limit", "4", "--samples", "3", "--temperature", "0.8")


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
        assert told.protocol == completed.protocol  # ranked together


def test_samples_are_records_of_a_suite_of_their_own(place: Path) -> None:
    """Each sample is a line; the greedy results stay what they were."""
    for model in ("chatting", "completing"):
        records = _records(place, model, WARM)
        assert sorted({record.sample for record in records}) == [0, 1, 2]
        assert len(records) == 12
        assert {record.suite for record in records} == {WARM}
        assert len(_records(place, model, "evolved/core-seeds")) == 2
