"""Question files: built from the command line, the same bytes everywhere, asked by whoever has one."""

import asyncio
import os
import subprocess
import sys
from pathlib import Path
from typing import cast

import pytest
from typer.testing import CliRunner

from support.built_questions import source
from support.hashes import hashes
from support.runtime_models import ScriptedModel, all_right, truths
from triathlon_runner import catalogue
from triathlon_runner.cli import add_commands, app
from triathlon_runner.datasets import DataStore
from triathlon_runner.errors import UserError
from triathlon_runner.grading import ProgramGrader
from triathlon_runner.runtime import DATASETS, METRICS, RuntimeSuite, read_questions, write_questions
from triathlon_runner.sandbox import open_sandbox
from triathlon_runner.suites import UnitRun

add_commands()

TESTS = Path(__file__).resolve().parents[2]
NO_STORE = cast(DataStore, None)


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A question file of two small programs."""

    async def build(path: Path) -> None:
        async with open_sandbox() as sandbox:
            write_questions(await source().build(sandbox), path)

    path = tmp_path_factory.mktemp("questions") / "mine.json"
    asyncio.run(build(path))
    return path


def test_the_same_bytes_whatever_the_hash_seed(file: Path, tmp_path: Path) -> None:
    """Two runs in processes with other hash seeds write the same file: sets of text and chance included."""
    for seed in ("1", "2"):
        path = tmp_path / f"{seed}.json"
        command = [sys.executable, "-m", "support.built_questions", str(path)]
        subprocess.run(command, cwd=TESTS, env={**os.environ, "PYTHONHASHSEED": seed}, check=True)
        assert path.read_bytes() == file.read_bytes()


def test_built_from_the_command_line(file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`triathlon questions build` writes the file and says how much there is and what was left out."""
    monkeypatch.setenv("TRIATHLON_CACHE", str(tmp_path / "cache"))
    monkeypatch.setitem(DATASETS, "tiny", ("tiny", lambda _store: source()))
    out = tmp_path / "new" / "mine.json"
    shown = CliRunner().invoke(app, ["questions", "build", "--dataset", "tiny", "--out", str(out)])
    assert shown.exit_code == 0, shown.output
    report = read_questions(out).report
    assert f"{report.questions} questions about {report.inputs} inputs of 2 programs" in shown.output
    for rule, count in report.left_out_statements.items():
        assert f"left out: {count} statements: {rule}" in shown.output
    assert out.read_bytes() == file.read_bytes()


def test_an_unknown_data_set_is_named() -> None:
    """The message says which there are."""
    shown = CliRunner().invoke(app, ["questions", "build", "--dataset", "humanevil", "--out", "x.json"])
    assert isinstance(shown.exception, UserError)
    assert "'humanevil'; did you mean humaneval" in str(shown.exception)


async def test_a_question_file_is_asked_by_its_name(file: Path, tmp_path: Path) -> None:
    """`--suites mine.json@cot` asks its questions; the results are those of a suite called after it."""
    plain, cot = catalogue.select([str(file), f"{file}@cot"])
    assert [entry.id for entry in (plain, cot)] == ["runtime/mine", "runtime/mine@cot"]
    assert (cot.variant_of, cot.variant_kind) == ("runtime/mine", "style")
    suite = cast(RuntimeSuite, plain.build(NO_STORE))
    model = ScriptedModel(truths(suite.questions), all_right)
    async with open_sandbox() as sandbox:
        grader = ProgramGrader(sandbox, tmp_path)
        records = [
            await suite.run(UnitRun(task.task_id, 0, model, grader, hashes("p"))) for task in suite.tasks()
        ]
    assert {record.suite for record in records} == {"runtime/mine"}
    assert {metric.id: metric.score(records) for metric in METRICS}["ic"] == 100.0


def test_settings_of_a_question_file(file: Path) -> None:
    """As with every data set: direct or with a chain of thought, greedy or as the paper samples."""
    entries = catalogue.select([f"{file}@sampled", f"{file}@cot-sampled"])
    assert [entry.default_samples for entry in entries] == [5, 5]
    suites = [entry.build(NO_STORE) for entry in entries]
    assert [suite.protocol["asked"]["temperature"] for suite in suites] == [0.8, 0.8]
    assert [suite.settings("instruct")["max_tokens"] for suite in suites] == [256, 1024]


def test_results_of_a_question_file_are_known(file: Path) -> None:
    """A site reads them without the file; running them again asks for it."""
    for suite in ("runtime/mine", "runtime/mine@cot-sampled"):
        entry = catalogue.find(suite)
        assert entry is not None
        assert (entry.id, entry.metrics) == (suite, METRICS)
        with pytest.raises(UserError, match="came from a file"):
            entry.build(NO_STORE)
    assert catalogue.find("runtime/mine@else") is None
    assert catalogue.find("loop/mine") is None


def test_files_that_are_refused(file: Path, tmp_path: Path) -> None:
    """Their results would lie in one file: refused. A file that is not there is named when it is read."""
    (entry,) = catalogue.select([str(tmp_path / "none.json")])
    with pytest.raises(UserError, match=r"none\.json"):
        entry.build(NO_STORE)
    other = tmp_path / "mine.json"
    other.write_bytes(file.read_bytes())
    with pytest.raises(UserError, match="two suites are called 'runtime/mine'"):
        catalogue.select([str(file), str(other)])
