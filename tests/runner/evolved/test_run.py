"""The discipline from the command line, against a loopback server: both kinds of model, several samples."""

from pathlib import Path

from support.model_server import model_server_process
from support.user_place import Place
from triathlon_runner.datasets import core
from triathlon_runner.records import EvolvedRecord

MODELS = """\
models:
  - {{id: chatting, name: Follows, kind: instruct, api: {{base_url: "{base_url}", model: scripted}}}}
  - {{id: completing, name: Completes, kind: base, api: {{base_url: "{base_url}", model: scripted}}}}
"""
RUN = ("run", "--models", "chatting,completing", "--suites", "evolved/core-seeds", "--limit")
WARM = "evolved/core-seeds@temperature-0.8"


def test_both_kinds_of_model_side_by_side(tmp_path: Path) -> None:
    """Samples are lines of a suite of their own; the greedy results stay what they were."""

    def records(model: str, suite: str = "evolved/core-seeds") -> list[EvolvedRecord]:
        lines = (tmp_path / f"results/runs/{model}/{suite}.jsonl").read_text().splitlines()
        return list(map(EvolvedRecord.model_validate_json, lines))

    with model_server_process("support.sampled_replies:every_other_time", "--model", "scripted") as base_url:
        place = Place(tmp_path, base_url)
        (tmp_path / "models.yaml").write_text(MODELS.format(base_url=base_url))
        place.call(*RUN, "2")
        place.call(*RUN, "4", "--samples", "3", "--temperature", "0.8")
    prompts = {seed.task_id: seed.prompt for seed in core.problems("seeds")}
    chatting, completing = records("chatting"), records("completing")
    assert len(chatting) == 2 and {record.outcome for record in (*chatting, *completing)} == {"passed"}
    for told, completed in zip(chatting, completing, strict=True):
        prompt = prompts[told.task_id].strip()
        assert (completed.task_id, completed.prompt.strip()) == (told.task_id, prompt)
        assert told.prompt != completed.prompt and prompt in told.prompt
        assert completed.program.startswith(completed.prompt)
        assert told.protocol == completed.protocol  # ranked together
    for model in ("chatting", "completing"):
        samples = records(model, WARM)
        assert sorted(record.sample for record in samples) == [0] * 4 + [1] * 4 + [2] * 4
        assert {record.suite for record in samples} == {WARM}
