"""Several samples of a problem, from the command line, against a loopback server: of both kinds of model."""

from pathlib import Path

from support.model_server import model_server_process
from support.small_run import SmallRun
from triathlon_runner.records import EvolvedRecord
from triathlon_runner.store import ResultsFolder, read_records

MODELS = """\
models:
  - {{id: chatting, kind: instruct, api: {{base_url: "{url}", model: scripted}}}}
  - {{id: completing, kind: base, api: {{base_url: "{url}", model: scripted}}}}
"""


def test_samples_are_lines_of_a_suite_of_their_own(tmp_path: Path) -> None:
    """The greedy results stay what they were."""
    suite, place = "evolved/core-seeds", SmallRun(tmp_path)
    with model_server_process("support.core_model:answer") as url:
        (tmp_path / "models.yaml").write_text(MODELS.format(url=url))
        place.expect(f"run --suites {suite} --limit 2", 0)
        place.expect(f"run --suites {suite} --limit 4 --samples 3 --temperature 0.8", 0)
    for model in ("chatting", "completing"):
        for name, samples in ((suite, [0] * 2), (f"{suite}@temperature-0.8", [0] * 4 + [1] * 4 + [2] * 4)):
            records = list(read_records(ResultsFolder(place.results).lines(model, name), EvolvedRecord))
            assert {record.suite for record in records} == {name}
            assert sorted(record.sample for record in records) == samples
