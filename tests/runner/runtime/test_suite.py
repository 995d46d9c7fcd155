"""Suites end to end: questions from references, asked of scripted models, judged, recorded."""

import asyncio
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import cast

import pytest

from support.built_questions import STOCK, source
from support.fake_model import FakeModel
from support.hashes import hashes
from support.runtime_models import all_right, answers, right_on, truths
from support.small_run import SmallRun
from triathlon_runner import catalogue as suites
from triathlon_runner.datasets import DataStore
from triathlon_runner.errors import UserError
from triathlon_runner.grading import Grader
from triathlon_runner.llm import Answer, Chat, Completion, EndpointError, Sampling
from triathlon_runner.memo import python_version
from triathlon_runner.prompts import load_prompts
from triathlon_runner.records import Outcome
from triathlon_runner.runtime import METRICS, RuntimeSuite, read_questions
from triathlon_runner.runtime._questions import Asker
from triathlon_runner.suites import UnitRun

TESTS = Path(__file__).resolve().parents[2]
NO_STORE = cast(DataStore, None)


def suite(cache: Path | None = None) -> RuntimeSuite:
    return RuntimeSuite("runtime/t", Asker(load_prompts("runtime"), "direct"), source(cache))


@pytest.fixture
async def built(grader: Grader) -> RuntimeSuite:
    """The suite, asked directly, with its questions."""
    asked = suite()
    await asked.prepare(grader)
    return asked


def test_questions_of_functions_and_classes(built: RuntimeSuite) -> None:
    """Every input is a task, and those of a program follow each other; set-up came before the trace."""
    with pytest.raises(RuntimeError, match="prepare"):
        suite().tasks()
    assert [(task.task_id, task.group, task.level) for task in built.tasks()] == [
        *((f"t/words#{index}", "t/words", 2) for index in range(3)),
        ("t/stock#0", "t/stock", 3),
    ]
    words, stock = built.questions.programs
    assert words.inputs[1].text == "words('')"
    assert words.inputs[1].masked == "assert words('') == ??"
    assert words.inputs[1].originals == ("('!', {})",)
    longest = next(one for one in words.inputs[0].statements if one.line == 10)
    assert (longest.variable, longest.executed, longest.next_lines) == ("longest", True, (11,))
    assert [str(value) for value in longest.states] == ["'apple!'; str"]
    init, known, _ = stock.inputs[0].statements
    assert (known.line, [str(value) for value in known.states]) == (8, ["False; bool", "True; bool"])
    assert (init.line, init.variable, init.executed) == (3, "self.items", False)


async def test_the_record_holds_the_evidence(built: RuntimeSuite, grader: Grader) -> None:
    model = FakeModel(answers(truths(built.questions), right_on("coverage")))
    record = await built.run(UnitRun("t/stock#0", 0, model, grader, hashes("hash")))
    assert (record.program_id, record.style) == ("t/stock", "direct")
    assert record.setup == "self.stock = Stock()"
    assert record.input.startswith("assertFalse(self.stock.add('nut'))\n")
    assert record.program == STOCK.reference
    one = record.statements[0]
    assert one.coverage.question == (
        f"Is line {one.line} (`{record.program.splitlines()[one.line - 1].strip()}`) executed when the test "
        "at the end runs?"
    )
    assert (one.coverage.correct, one.coverage.why) == (True, "")
    assert (one.state.answer, one.state.why) == ("I can't tell.", "no `value; type`")
    assert one.state.outcome is Outcome.NO_ANSWER
    assert record.output.expected[0].startswith("assertEqual(bool(self.stock.add('nut')), False)\n")
    assert record.usage.requests == 3 * len(record.statements) + 1


async def test_an_endpoint_that_fails(built: RuntimeSuite, grader: Grader) -> None:
    """At one question of several: that error comes out, no record, no made-up answer."""
    truth = truths(built.questions)
    model = FakeModel(lambda text: EndpointError("503") if truth[text][0] == "path" else truth[text][1])
    with pytest.raises(EndpointError, match="503"):
        await built.run(UnitRun("t/words#0", 0, model, grader, hashes("hash")))


async def test_all_questions_of_a_unit_are_asked_at_once(built: RuntimeSuite, grader: Grader) -> None:
    waiting = asyncio.Barrier(3 * len(built.questions.programs[0].inputs[0].statements) + 1)

    class Meeting(FakeModel):
        async def ask(self, prompt: Chat | Completion, sampling: Sampling, *, sample: int = 0) -> Answer:
            await waiting.wait()
            return await super().ask(prompt, sampling, sample=sample)

    model = Meeting(answers(truths(built.questions), all_right))
    async with asyncio.timeout(30):
        await built.run(UnitRun("t/words#0", 0, model, grader, hashes("hash")))


async def test_questions_are_built_once_and_kept(
    grader: Grader, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same bytes each time; anew if the file is torn, or with other libraries, by one protocol."""
    await suite(cache=tmp_path).prepare(grader)
    (kept,) = tmp_path.glob("*.json")
    content = kept.read_bytes()
    again = suite(cache=tmp_path)
    assert len(again.tasks()) == 4  # without prepare
    kept.write_bytes(content[:1000])
    third = suite(cache=tmp_path)
    await third.prepare(grader)
    assert kept.read_bytes() == content
    assert third.settings("instruct") == again.settings("instruct")
    assert third.settings("instruct")["questions"]["python"] == python_version()
    monkeypatch.setattr("triathlon_runner.memo.library_versions", lambda: {"l": "6"})
    assert source(tmp_path).ready() is None
    other = suite(cache=tmp_path)
    await other.prepare(grader)
    assert other.protocol == third.protocol


# Question files: built from the command line, the same bytes everywhere, asked by whoever has one


def test_the_same_bytes_whatever_the_hash_seed(question_file: Path, tmp_path: Path) -> None:
    """Two runs in processes with other hash seeds write the same file: sets of text and chance included."""
    for seed in ("1", "2"):
        path = tmp_path / f"{seed}.json"
        command = [sys.executable, "-m", "support.built_questions", str(path)]
        subprocess.run(command, cwd=TESTS, env={**os.environ, "PYTHONHASHSEED": seed}, check=True)
        assert path.read_bytes() == question_file.read_bytes()


def test_built_from_the_command_line(
    question_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`triathlon questions build` writes the file and says how much there is and what was left out."""
    monkeypatch.setattr("triathlon_runner.cli._groups.question_source", lambda *_: source())
    place, out = SmallRun(tmp_path), tmp_path / "new" / "mine.json"
    said = place.expect("questions build --dataset core --out new/mine.json", 0)
    report = read_questions(out).report
    assert f"{report.questions} questions about {report.inputs} inputs of 2 programs" in said
    for rule, count in report.left_out_statements.items():
        assert f"left out: {count} statements: {rule}" in said
    assert out.read_bytes() == question_file.read_bytes()
    wrong = "questions build --dataset humanevil --out x.json"
    place.expect(wrong, 2, "'humanevil'; did you mean humaneval")


def test_a_question_file_is_asked_by_its_name(question_file: Path) -> None:
    """`--suites mine.json@cot` asks its questions; the results are those of a suite called after it."""
    plain, cot = suites.select([str(question_file), f"{question_file}@cot"])
    assert [entry.id for entry in (plain, cot)] == ["runtime/mine", "runtime/mine@cot"]
    assert (cot.variant_of, cot.variant_kind) == ("runtime/mine", "style")
    built = cast(RuntimeSuite, plain.build(NO_STORE))
    assert (built.id, built.questions) == ("runtime/mine", read_questions(question_file))
    # A site reads them without the file; running them again asks for it.
    for name in ("runtime/mine", "runtime/mine@cot-sampled"):
        entry = suites.find(name)
        assert entry is not None and (entry.id, entry.metrics) == (name, METRICS)
        with pytest.raises(UserError, match="questions came from a file"):
            entry.build(NO_STORE)
    assert suites.find("runtime/mine@else") is None
    assert suites.find("loop/mine") is None


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        (r'"line": \d+', '"line": 99', "no such line"),
        ('"program": "', '"program": "def def ', "does not parse"),
        ('"index": 1', '"index": 0', "two inputs have the same index"),
        (r'"task_id": "\S+"', '"task_id": "same"', "another one has its task_id"),
    ],
)
def test_a_changed_file_is_refused(
    question_file: Path, tmp_path: Path, old: str, new: str, fault: str
) -> None:
    """With the program that cannot be asked about, before a model is asked."""
    changed = tmp_path / "changed.json"
    changed.write_text(re.sub(old, new, question_file.read_text()))
    with pytest.raises(UserError, match=rf"changed\.json', program '.*{fault}"):
        read_questions(changed)


def test_files_that_are_refused(question_file: Path, tmp_path: Path) -> None:
    """Files that are none, that are not there, or whose results would lie in one file."""
    path = tmp_path / "x.json"
    with pytest.raises(UserError, match="can't be read"):
        read_questions(path)
    path.write_text('{"schema": 1, "dataset": 3}')
    with pytest.raises(UserError, match=r"no question file of version 1.*questions build"):
        read_questions(path)
    (entry,) = suites.select([str(tmp_path / "none.json")])
    with pytest.raises(UserError, match=r"none\.json"):
        entry.build(NO_STORE)
    other = tmp_path / "mine.json"
    other.write_bytes(question_file.read_bytes())
    with pytest.raises(UserError, match="two suites are called 'runtime/mine'"):
        suites.select([str(question_file), str(other)])
    with pytest.raises(UserError, match="two suites are called 'runtime/core'"):
        suites.select(["core.json"])
    with pytest.raises(UserError, match=r"file's name of letters, .* got 'My questions\.json'"):
        suites.select(["My questions.json"])
