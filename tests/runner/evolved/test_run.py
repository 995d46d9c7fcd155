"""The discipline from the command line, against a loopback server: both kinds of model, several samples."""

from pathlib import Path

from support.server_replies import Asked
from support.small_run import served
from triathlon_runner.datasets import core
from triathlon_runner.records import EvolvedRecord
from triathlon_runner.store import read_records

MODELS = """\
models:
  - {{id: chatting, name: Follows, kind: instruct, api: {{base_url: "{url}", model: scripted}}}}
  - {{id: completing, name: Completes, kind: base, api: {{base_url: "{url}", model: scripted}}}}
"""
RUN = "run --models chatting,completing --suites evolved/core-seeds --limit"
WARM = "evolved/core-seeds@temperature-0.8"


def say(asked: Asked) -> str:
    """As a chat model fences the reference, as a base model goes on with the prompt and calls it."""
    problem = next(seed for seed in core.problems("seeds") if f"def {seed.entry_point}(" in asked.prompt)
    if asked.endpoint == "completions":
        names = (
            f"    arguments, names = tuple(locals().values()), {{}}\n    exec({problem.reference!r}, names)\n"
        )
        return f"{names}    return names[{problem.entry_point!r}](*arguments)\n"
    return f"Here it is:\n```python\n{problem.reference}```"


def test_both_kinds_of_model_side_by_side(tmp_path: Path) -> None:
    """Samples are lines of a suite of their own; the greedy results stay what they were."""
    with served(tmp_path, "runner.evolved.test_run:say", MODELS) as place:
        place.expect(f"{RUN} 2", 0)
        place.expect(f"{RUN} 4 --samples 3 --temperature 0.8", 0)

    def records(model: str, suite: str = "evolved/core-seeds") -> list[EvolvedRecord]:
        return list(read_records(place.lines(suite, model), EvolvedRecord))

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
