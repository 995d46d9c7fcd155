"""Suites end to end: questions from references, asked of scripted models, judged, recorded; and as files."""

import asyncio
import os
import subprocess
import sys
from itertools import groupby
from pathlib import Path
from typing import Any, cast

import pytest
from typer.testing import CliRunner

from support.built_questions import STOCK, source
from support.hashes import hashes
from support.runtime_models import ScriptedModel, all_right, right_on, truths
from triathlon_runner import catalogue as suites
from triathlon_runner.cli import add_commands, app
from triathlon_runner.datasets import DataStore
from triathlon_runner.errors import UserError
from triathlon_runner.grading import Grader
from triathlon_runner.llm import Answer, Chat, EndpointError, ModelUnavailableError
from triathlon_runner.prompts import load_prompts
from triathlon_runner.records import Outcome, RuntimeRecord
from triathlon_runner.runtime import METRICS, RuntimeSuite, catalogue, read_questions, write_questions
from triathlon_runner.runtime._questions import Asker
from triathlon_runner.sandbox import open_sandbox
from triathlon_runner.suites import Preparable, UnitRun

add_commands()

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


def unit(task_id: str, model: ScriptedModel, grader: Grader) -> UnitRun:
    return UnitRun(task_id, 3, model, grader, hashes("p"))


async def test_questions_of_functions_and_classes(grader: Grader) -> None:
    """Every input is a task, grouped by program; set-up is shown apart from the test, and came before it."""
    built = suite()
    assert isinstance(built, Preparable)
    with pytest.raises(RuntimeError, match="prepare"):
        built.tasks()
    await built.prepare(grader)
    assert [(task.task_id, task.group, task.level) for task in built.tasks()] == [
        *((f"t/words#{index}", "t/words", 2) for index in range(3)),
        ("t/stock#0", "t/stock", 3),
    ]
    words, stock = built.questions.programs
    called, tested = words.inputs[1], stock.inputs[0]
    assert (called.text, called.masked) == ("words('')", "assert words('') == ??")
    assert (called.originals, tested.setup) == (("('!', {})",), "self.stock = Stock()")
    assert tested.masked == (
        "assertEqual(bool(self.stock.add('nut')), ??)\n"
        "assertEqual(self.stock.add('nut', 2), ??)\nassertEqual(self.stock.names(), ??)"
    )
    longest = next(one for one in words.inputs[0].statements if one.line == 10)
    assert (longest.variable, longest.executed, longest.next_lines) == ("longest", True, (11,))
    assert [str(value) for value in longest.states] == ["'apple!'; str"]
    init, known, _ = tested.statements
    assert (known.line, [str(value) for value in known.states]) == (8, ["False; bool", "True; bool"])
    assert (init.line, init.variable, init.executed) == (3, "self.items", False)


async def test_questions_that_share_a_prefix_follow_each_other(built: RuntimeSuite, grader: Grader) -> None:
    """Of each kind all questions about a program come in a row, so that a server's cache of prefixes has it.

    What they share is the system line, the demonstrations and the program; the input comes after it.
    """
    model = ScriptedModel(truths(built.questions), all_right)
    await asyncio.gather(*(built.run(unit(task.task_id, model, grader)) for task in built.tasks()))
    asked = [prompt for prompt in model.prompts if isinstance(prompt, Chat)]
    for kind in {prompt.messages[0] for prompt in asked}:
        of_kind = [prompt.messages for prompt in asked if prompt.messages[0] == kind]
        assert len({messages[:-1] for messages in of_kind}) == 1
        questions = [messages[-1].content for messages in of_kind]
        programs = [list(group) for _, group in groupby(questions, lambda text: "class Stock" in text)]
        assert len(programs) == 2
        for texts, last_line in zip(programs, ("return longest, counts", "return names"), strict=True):
            program = texts[0][: texts[0].index(last_line)]
            assert all(text.startswith(program) for text in texts)


class Meeting(ScriptedModel):
    """A model that answers once so many questions wait."""

    barrier: asyncio.Barrier

    async def ask(self, *asked: Any, **more: Any) -> Answer:
        await self.barrier.wait()
        return await super().ask(*asked, **more)


async def test_the_record_holds_the_evidence(built: RuntimeSuite, grader: Grader) -> None:
    """Program, input, each question in words, reply, answer, what would be right, and what was wrong.

    No question waits for the reply to another one.
    """
    model = Meeting(truths(built.questions), right_on("coverage"))
    model.barrier = asyncio.Barrier(3 * len(built.questions.programs[1].inputs[0].statements) + 1)
    async with asyncio.timeout(30):
        record = await built.run(unit("t/stock#0", model, grader))
    assert (record.program_id, record.style, record.sample) == ("t/stock", "direct", 3)
    assert (record.protocol, record.setup) == (hashes("p"), "self.stock = Stock()")
    assert record.input.startswith("assertFalse(self.stock.add('nut'))\n")
    assert record.program == STOCK.reference
    one = record.statements[0]
    line = record.program.splitlines()[one.line - 1].strip()
    assert one.coverage.question == f"Is line {one.line} (`{line}`) executed when the test at the end runs?"
    assert (one.coverage.correct, one.coverage.why, one.state.answer) == (True, "", "I can't tell.")
    assert (one.state.outcome, one.state.why) == (Outcome.NO_ANSWER, "no `value; type`")
    assert record.output.expected[0].startswith("assertEqual(bool(self.stock.add('nut')), False)\n")
    assert record.usage.requests == 3 * len(record.statements) + 1
    assert RuntimeRecord.model_validate_json(record.model_dump_json(by_alias=True)) == record


class Broken(ScriptedModel):
    """A model whose endpoint fails on one kind of question."""

    error: Exception

    async def ask(self, *asked: Any, **more: Any) -> Answer:
        if "executed next" in str(asked):
            raise self.error
        return await super().ask(*asked, **more)


@pytest.mark.parametrize("error", [EndpointError("503"), ModelUnavailableError("no such model")])
async def test_an_endpoint_that_fails_leaves_the_unit_open(
    built: RuntimeSuite, grader: Grader, error: Exception
) -> None:
    """One error comes out, of its own kind: no record, no made-up answer."""
    model = Broken(truths(built.questions), all_right)
    model.error = error
    with pytest.raises(type(error)) as raised:
        await built.run(unit("t/words#0", model, grader))
    assert raised.value is error


async def test_questions_are_built_once_and_kept(
    grader: Grader, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The cache serves the next suite; two builds give the same bytes; a torn file is built anew.

    Each version of Python traces by itself and says so; what is asked does not depend on it.
    """
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
    questions = third.settings("instruct")["questions"]
    assert questions["count"] > 0
    assert questions["python"] == f"{sys.version_info.major}.{sys.version_info.minor}"
    monkeypatch.setattr("triathlon_runner.memo.python_version", lambda: "3.99")
    monkeypatch.setattr("triathlon_runner.runtime._construct.python_version", lambda: "3.99")
    assert source(tmp_path).ready() is None
    other = suite(cache=tmp_path)
    await other.prepare(grader)
    assert other.settings("instruct")["questions"]["python"] == "3.99"
    assert other.protocol == third.protocol


def test_the_catalogue(tmp_path: Path) -> None:
    """Five data sets, greedy and sampled, direct and with a chain of thought; ours needs no data.

    DREval is asked as its paper samples; greedy and our prompts are its variants.
    """
    entries = {entry.id: entry for entry in catalogue()}
    sides = ("output", "input")
    predictions = {f"runtime/cruxeval-{side}{style}" for side in sides for style in ("", "@cot")}
    assert len(entries) == 4 * 4 + 10 + len(predictions)
    for name, entry in entries.items():
        plain, _, variant = name.partition("@")
        assert entry.variant_of == (plain if variant else None)
        assert entry.core is (plain == "runtime/core")
        sampled = "sampled" in variant or (plain == "runtime/dreval" and "greedy" not in variant)
        expected = (10, 0.2) if name in predictions else (5, 0.8) if sampled else (1, 0.0)
        assert (entry.default_samples, entry.sampling.temperature) == expected
    kinds = {name for name, entry in entries.items() if entry.variant_kind == "truths"}
    assert kinds == {"runtime/dreval@reval-truths", "runtime/dreval@cot+reval-truths"}
    built = entries["runtime/core"].build(DataStore(cache=tmp_path, fetch=False))
    assert built.data.name == "core seeds and classes"


# Question files: built from the command line, the same bytes everywhere, asked by whoever has one


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
    monkeypatch.setattr("triathlon_runner.cli._groups.question_source", lambda *_: source())
    out = tmp_path / "new" / "mine.json"
    shown = CliRunner().invoke(app, ["questions", "build", "--dataset", "core", "--out", str(out)])
    assert shown.exit_code == 0, shown.output
    report = read_questions(out).report
    assert f"{report.questions} questions about {report.inputs} inputs of 2 programs" in shown.output
    for rule, count in report.left_out_statements.items():
        assert f"left out: {count} statements: {rule}" in shown.output
    assert out.read_bytes() == file.read_bytes()
    shown = CliRunner().invoke(app, ["questions", "build", "--dataset", "humanevil", "--out", "x.json"])
    assert isinstance(shown.exception, UserError)
    assert "'humanevil'; did you mean humaneval" in str(shown.exception)


async def test_a_question_file_is_asked_by_its_name(file: Path, grader: Grader) -> None:
    """`--suites mine.json@cot` asks its questions; the results are those of a suite called after it."""
    plain, cot = suites.select([str(file), f"{file}@cot"])
    assert [entry.id for entry in (plain, cot)] == ["runtime/mine", "runtime/mine@cot"]
    assert (cot.variant_of, cot.variant_kind) == ("runtime/mine", "style")
    suite = cast(RuntimeSuite, plain.build(NO_STORE))
    model = ScriptedModel(truths(suite.questions), all_right)
    records = [await suite.run(unit(task.task_id, model, grader)) for task in suite.tasks()]
    assert {(record.suite, record.outcome) for record in records} == {("runtime/mine", Outcome.PASSED)}
    assert {metric.id: metric.score(records) for metric in METRICS}["ic"] == 100.0


def test_results_of_a_question_file_are_known() -> None:
    """A site reads them without the file; running them again asks for it."""
    for suite in ("runtime/mine", "runtime/mine@cot-sampled"):
        entry = suites.find(suite)
        assert entry is not None
        assert (entry.id, entry.metrics) == (suite, METRICS)
        with pytest.raises(UserError, match="came from a file"):
            entry.build(NO_STORE)
    assert suites.find("runtime/mine@else") is None
    assert suites.find("loop/mine") is None


def test_files_that_are_refused(file: Path, tmp_path: Path) -> None:
    """None there, no question file, or two of one name, whose results would lie in one file."""
    (entry,) = suites.select([str(tmp_path / "none.json")])
    with pytest.raises(UserError, match=r"none\.json.*can't be read"):
        entry.build(NO_STORE)
    other = tmp_path / "mine.json"
    other.write_text('{"schema": 1, "dataset": 3}')
    with pytest.raises(UserError, match=r"no question file of version 1.*questions build"):
        read_questions(other)
    other.write_bytes(file.read_bytes())
    with pytest.raises(UserError, match="two suites are called 'runtime/mine'"):
        suites.select([str(file), str(other)])
