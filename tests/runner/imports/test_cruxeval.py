"""CRUXEval's files of answers become records of predictions."""

import json
from pathlib import Path

import pytest

from support.official_data import official_store
from support.small_run import SmallRun
from triathlon_runner.datasets import official
from triathlon_runner.records import PredictionRecord
from triathlon_runner.store import read_records


@pytest.mark.slow
@pytest.mark.official
@pytest.mark.parametrize(
    "graded",
    [pytest.param(True, id="graded", marks=pytest.mark.slow), pytest.param(False, id="generations")],
)
def test_answers_are_judged_here(tmp_path: Path, graded: bool) -> None:
    """Each answer of a file is a sample of its task, graded here, with or without CRUXEval's own verdicts."""
    row = official.cruxeval(official_store())[0]
    log = tmp_path / "answers.json"
    answers = {row.task_id: [row.output, "0"]}
    log.write_text(json.dumps({"raw_generations": answers} if graded else answers), encoding="utf-8")
    place = SmallRun(tmp_path)
    call = ("import", "cruxeval", str(log), "--model", "m", "--suite")
    wrong_suite = place.call(*call, "runtime/core")
    assert "asks in another way" in str(wrong_suite.exception)
    done = place.call(*call, "runtime/cruxeval-output@cot")
    assert done.exit_code == 0, done.output
    lines = place.results / "imported" / "runs" / "m" / "runtime" / "cruxeval-output@cot.jsonl"
    found = list(read_records(lines, PredictionRecord))
    assert [(one.sample, one.prediction.correct) for one in found] == [(0, True), (1, False)]
