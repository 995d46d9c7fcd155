"""A run over many jobs: files, resuming, stops; its sets are sets that suites.yaml takes."""

import errno
import json
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

from support.fake_model import FakeModel
from support.scripted_evolver import GOOD, SEED, ScriptedEvolver
from triathlon_runner.datasets import Problem
from triathlon_runner.datasets.user import Transformation, UserDataSet
from triathlon_runner.errors import UserError
from triathlon_runner.evolved.evolve import (
    Job,
    Progress,
    Workspace,
    carry_out,
    choose_seeds,
    estimate,
    make_jobs,
    summary,
)
from triathlon_runner.evolved.evolve._draft import Draft, read_drafts
from triathlon_runner.evolved.evolve._pipeline import Written
from triathlon_runner.llm import EndpointError
from triathlon_runner.prompts import load_prompts
from triathlon_runner.sandbox import Sandbox

ONE = make_jobs([SEED], ["difficult"])
ID = "difficult/core-seeds-add-up"


async def _carry_out(
    root: Path, sandbox: Sandbox, model: FakeModel, jobs: tuple[Job, ...] = ONE, **more: Any
) -> Progress:
    return await carry_out(jobs, Workspace(root), model, load_prompts("evolved"), sandbox, **more)


async def test_problem_file_and_history(tmp_path: Path, sandbox: Sandbox) -> None:
    """A finished job leaves a problem to accept and a line in the log; one whose model failed stays open."""
    failing = await _carry_out(tmp_path, sandbox, FakeModel(lambda _: EndpointError("503 from the evolver")))
    assert (list(failing.open), list(tmp_path.iterdir())) == ([ID], [])
    model = ScriptedEvolver(GOOD)
    seen: list[Progress] = []
    progress = await _carry_out(tmp_path, sandbox, model, report=seen.append)
    assert (progress.finished, progress.dropped, progress.open, len(seen)) == (1, 0, {}, 1)
    row = json.loads((tmp_path / "difficult.jsonl").read_text())
    assert (row["accepted"], row["task_id"]) == (None, ID)
    assert "[1, 2]" in row["inputs"]
    assert Workspace(tmp_path).ended() == {ID: {"job": ID, "served_model": "fake", "dropped": ""}}
    model = ScriptedEvolver(GOOD)
    again = await _carry_out(tmp_path, sandbox, model)
    assert (again.done_before, again.finished, model.kinds) == (1, 0, [])


async def test_a_dropped_job_leaves_its_reason_alone(tmp_path: Path, sandbox: Sandbox) -> None:
    model = ScriptedEvolver({"transform": "No.", "fix": "No!"})
    await _carry_out(tmp_path, sandbox, model, make_jobs([SEED], ["subtle"]))
    (history,) = Workspace(tmp_path).ended().values()
    assert "no Python code block" in history["dropped"]
    assert not list(tmp_path.rglob("*.jsonl"))
    assert summary([history]) == f"0 of 1 jobs gave a problem\ndropped 1: {history['dropped']}"


def test_jobs() -> None:
    """Combine takes seeds of the same parameter types; what a run will take is known before it begins."""
    other = Problem("s/b", "b", 'def b(xs: list[int]):\n    """B."""\n', "", ())
    third = Problem("s/c", "c", 'def c(text: str):\n    """C."""\n', "", ())
    (job,) = make_jobs([SEED, other, third], ["combine"])
    assert {parent.task_id for parent in job.parents} == {"core/seeds/add-up", "s/b"}
    assert len(make_jobs([SEED, other, third], ["subtle", "verbose", "subtle"], limit=2)) == 4
    letters = [replace(SEED, task_id=name) for name in ("一", "二", "s/a b", "s/a-b")]
    assert len({job.id for job in make_jobs(letters[:3], ["subtle"])}) == 3
    with pytest.raises(UserError, match=r"task_ids differ in letters or digits, .* 'subtle/s-a-b'"):
        make_jobs(letters, ["subtle"])
    assert estimate(make_jobs([SEED], ["difficult", "verbose"])).requests == 8
    bare = Problem("s/d", "d", '"""Write a function d."""\n', "", ())
    broken = Problem("s/e", "e", "def e(x):\n    # Double x.\n", "", ("(1,)",))
    seeds, left_out = choose_seeds([SEED, other, bare, broken])
    assert seeds == [SEED]
    assert left_out.startswith("left out: s/b, s/d, s/e: a seed needs")
    for transformation, fault in (
        ("sbutle", "'sbutle'; there are difficult"),
        ("combine", "needs two seeds"),
    ):
        with pytest.raises(UserError, match=fault):
            make_jobs([SEED, third], [transformation])


PARENT = Problem("HumanEval/7", "old", 'def old(x):\n    """Old one here."""\n', "", ())
HELPER = 'def aid(x: str) -> str:\n    """Help a little here."""\n    return x\n'
MAIN = 'def new(x: str) -> str:\n    """Say \\\\n and \\"quotes\\" at length."""\n'
REFERENCE = f"{HELPER}\n\ndef new(x):\n    return aid(x) + '\\n'\n"
INPUTS = ("('a',)", "('\\\\\\u2028',)", "({(1, 2): {3}},)")


def _write(root: Path, transformation: Transformation, *drafts: Draft) -> Path:
    written = [Written(draft, REFERENCE, INPUTS) for draft in drafts or [_draft(MAIN)]]
    Workspace(root).write(Job(transformation, (PARENT,)), written, {"dropped": ""})
    return root / f"{transformation}.jsonl"


def _draft(prompt: str) -> Draft:
    return read_drafts(f"```python\n{prompt}\n```", "tool_use" if HELPER in prompt else "")[0]


def _accept(path: Path, decision: str = "true") -> UserDataSet:
    path.write_text(path.read_text().replace('"accepted": null', f'"accepted": {decision}'))
    return _data_set(path, seeds="evolved/humaneval")


def _data_set(path: Path, **fields: Any) -> UserDataSet:
    listed: dict[str, Any] = {"id": "mine", "title": "Mine", "listed_at": "suites.yaml, line 1"}
    return UserDataSet(**listed, problems=path.name, folder=path.parent, **fields)


@pytest.mark.parametrize(
    ("transformation", "prompts"),
    [
        ("subtle", [MAIN]),
        ("tool_use", [f"{HELPER}\n\n{MAIN}"]),
        ("decompose", [MAIN, MAIN.replace("new", "other")]),
    ],
)
def test_a_set_is_read_again(tmp_path: Path, transformation: Transformation, prompts: list[str]) -> None:
    drafts = [_draft(prompt) for prompt in prompts]
    problems = _accept(_write(tmp_path, transformation, *drafts)).read().functions
    assert [problem.prompt for problem in problems] == [draft.prompt for draft in drafts]
    for problem in problems:
        assert isinstance(problem, Problem)
        assert (problem.reference, problem.inputs) == (REFERENCE, INPUTS)
        assert (problem.parents, problem.comparison.oracle) == (("HumanEval/7",), "typed")
    assert len({problem.task_id for problem in problems}) == len(prompts)


@pytest.mark.parametrize(("decision", "counts"), [("null", "1 await"), ("false", "1 are refused")])
def test_only_accepted_problems_are_tasks(tmp_path: Path, decision: str, counts: str) -> None:
    """A set without any is refused with the numbers; a decision of another kind is named."""
    path = _write(tmp_path, "subtle")
    data = _accept(path, decision)
    with pytest.raises(UserError, match=counts):
        data.read()
    lines = path.read_text()
    path.write_text(lines + lines.replace("subtle/", "again/").replace(decision, "true"))
    assert [problem.task_id for problem in data.read().functions] == ["again/HumanEval-7"]
    path.write_text(lines.replace(f'"accepted": {decision}', '"accepted": "yes"'))
    with pytest.raises(UserError, match="line 1: expected 'accepted' to be true, false or null, got 'yes'"):
        data.read()


def test_decisions_survive_another_run(tmp_path: Path) -> None:
    """A job that runs again changes no line that is there; a person's own file is no set."""
    path = _write(tmp_path, "subtle")
    path.with_name("subtle-best.jsonl").write_text(path.read_text())
    _accept(path, "false")
    before = path.read_text()
    _write(tmp_path, "subtle")
    assert path.read_text() == before
    assert Workspace(tmp_path).decisions() == {path: {False: 1}}


@pytest.mark.parametrize(
    ("name", "line", "fault"),
    [
        ("subtle.jsonl", b"{bad", "line 2: expected JSON"),
        ("subtle.jsonl", b"{", "line 2: expected JSON, an object in several lines: write each in one, as"),
        ("subtle.jsonl", b'[{"task_id": "a"}]', "line 2: expected a JSON object"),
        ("subtle.jsonl", b'{"task_id": []}', "line 2: expected 'task_id' as text"),
        ("subtle.jsonl", b'{"task_id": "a", "accepted": 1}', "line 2: expected 'accepted' to be true"),
        ("subtle.jsonl", b'{"task_id": "a", "parents": ["b"]}', "line 2: expected parents among these"),
        ("jobs.log", b"\xff", "line 2: expected JSON"),
        ("jobs.log", b'{"job": "subtle/b"}', "line 2: expected 'dropped' as text"),
    ],
)
def test_lines_that_cannot_be_gone_on_with_are_named(
    tmp_path: Path, name: str, line: bytes, fault: str
) -> None:
    """By file and line, before a model is paid; so are problems of other seeds."""
    _write(tmp_path, "subtle")
    path = tmp_path / name
    path.write_bytes(path.read_bytes() + line)
    with pytest.raises(UserError, match=fault):
        Workspace(tmp_path).check([PARENT])


def test_a_full_disk_is_said_and_tears_no_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The log, too, is written whole or not at all."""
    _write(tmp_path, "subtle")
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    monkeypatch.setattr("os.fsync", Mock(side_effect=OSError(errno.ENOSPC, "No space left on device")))
    with pytest.raises(UserError, match=r"cannot write '.*jobs\.log' \(No space left on device\)"):
        Workspace(tmp_path).write(Job("verbose", (PARENT,)), (), {"dropped": "why"})
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_parents_need_seeds(tmp_path: Path) -> None:
    path = _write(tmp_path, "subtle")
    data = _accept(path)
    without = _data_set(path)
    assert without.read().functions[0].parents == ()
    path.write_text(json.dumps({**json.loads(path.read_text()), "parents": []}))
    with pytest.raises(UserError, match="expected parents, the task_ids of problems of 'evolved/humaneval'"):
        data.read()
