"""Suites end to end: questions from references, asked of scripted models, judged, recorded."""

import asyncio
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from itertools import groupby
from pathlib import Path

import pytest

from support.hashes import hashes
from support.runtime_models import ScriptedModel, all_right, always_yes, right_on, truths
from triathlon_runner.datasets import ClassProblem, DataStore, Problem
from triathlon_runner.errors import UserError
from triathlon_runner.grading import ProgramGrader
from triathlon_runner.llm import Answer, Chat, Completion, EndpointError, ModelUnavailableError, Sampling
from triathlon_runner.prompts import load_prompts
from triathlon_runner.records import Outcome, RuntimeRecord
from triathlon_runner.runtime import METRICS, RuntimeSuite, catalogue, read_questions
from triathlon_runner.runtime._asking import Asker, QuestionKind
from triathlon_runner.runtime._construct import QuestionSource
from triathlon_runner.runtime._programs import class_program, function_program
from triathlon_runner.sandbox import open_sandbox
from triathlon_runner.suites import DataSetInfo, Preparable, Suite, UnitRun

COUNT = Problem(
    task_id="t/count",
    entry_point="count",
    prompt="",
    reference='''def count(words, short=3):
    """Counts short words."""
    found = {}
    for word in words:
        if len(word) <= short:
            found[word] = found.get(word, 0) + 1
        else:
            continue
    rest = len(words) - sum(found.values())
    return found, rest
''',
    inputs=("(['a', 'bb', 'a', 'long'],)", "([],)", "(['long'], 9)"),
    level=2,
)
QUEUE = ClassProblem(
    task_id="t/queue",
    class_name="Queue",
    reference="""class Queue:
    def __init__(self, most):
        self.waiting = []
        self.most = most

    def come(self, name):
        if len(self.waiting) >= self.most:
            return False
        self.waiting.append(name)
        return True

    def serve(self):
        if not self.waiting:
            raise LookupError('nobody')
        first = self.waiting.pop(0)
        return first
""",
    test="""import unittest

class TestCome(unittest.TestCase):
    def setUp(self):
        self.queue = Queue(1)

    def test_full(self):
        self.assertTrue(self.queue.come('a'))
        self.assertEqual(self.queue.come('b'), False)

    def test_serve(self):
        self.queue.come('a')
        self.assertEqual(self.queue.serve(), 'a')
        with self.assertRaises(LookupError):
            self.queue.serve()
""",
    level=4,
)
DATA = DataSetInfo("t", "1", "0" * 64)


def source(cache: Path | None = None) -> QuestionSource:
    return QuestionSource(DATA, lambda: [function_program(COUNT), class_program(QUEUE)], cache)


def suite(cache: Path | None = None) -> RuntimeSuite:
    return RuntimeSuite("runtime/t", Asker(load_prompts("runtime"), "direct"), source(cache))


@pytest.fixture
async def grader(tmp_path: Path) -> AsyncIterator[ProgramGrader]:
    async with open_sandbox() as sandbox:
        yield ProgramGrader(sandbox, tmp_path / "keys")


@pytest.fixture
async def built(grader: ProgramGrader) -> RuntimeSuite:
    """The suite, asked directly, with its questions."""
    asked = suite()
    await asked.prepare(grader)
    return asked


async def run_all(built: RuntimeSuite, model: ScriptedModel, grader: ProgramGrader) -> list[RuntimeRecord]:
    tasks = [built.run(UnitRun(task.task_id, 0, model, grader, hashes("p"))) for task in built.tasks()]
    return list(await asyncio.gather(*tasks))


def scores(records: Sequence[RuntimeRecord]) -> dict[str, float]:
    return {metric.id: metric.score(records) for metric in METRICS if metric.role != "beside"}


async def test_questions_of_functions_and_classes(grader: ProgramGrader) -> None:
    """Every input is a task, grouped by program; set-up is shown apart from the test."""
    built = suite()
    assert isinstance(built, Preparable)
    with pytest.raises(RuntimeError, match="prepare"):
        built.tasks()
    await built.prepare(grader)
    assert [(task.task_id, task.group, task.level) for task in built.tasks()] == [
        *((f"t/count#{index}", "t/count", 2) for index in range(3)),
        *((f"t/queue#{index}", "t/queue", 4) for index in range(2)),
    ]
    count, queue = built.questions.programs
    assert count.inputs[0].text == "count(['a', 'bb', 'a', 'long'])"
    assert count.inputs[0].masked == "assert count(['a', 'bb', 'a', 'long']) == ??"
    assert count.inputs[0].originals == ("({'a': 2, 'bb': 1}, 1)",)
    assert queue.inputs[0].setup == "self.queue = Queue(1)"
    assert queue.inputs[0].masked == (
        "assertEqual(bool(self.queue.come('a')), ??)\nassertEqual(self.queue.come('b'), ??)"
    )
    (first, *_) = count.inputs[0].statements
    assert (first.line, first.variable, first.executed) == (6, "found[word]", True)
    assert [str(value) for value in first.states] == ["1; int", "2; int"]
    assert first.next_lines == (4,)
    appended = next(one for one in queue.inputs[0].statements if one.line == 10)
    assert (appended.variable, [str(value) for value in appended.states]) == ("self.waiting", ["['a']; list"])
    (init, *_) = queue.inputs[0].statements
    # Set-up came before the trace.
    assert (init.line, init.variable, init.executed) == (4, "self.most", False)


async def test_a_model_that_is_right_on_everything_scores_full_marks(
    built: RuntimeSuite, grader: ProgramGrader
) -> None:
    """Each score is as high as it can be; `test_question_path.py` has other styles."""
    records = await run_all(built, ScriptedModel(truths(built.questions), all_right), grader)
    assert scores(records) == {metric.id: metric.maximum for metric in METRICS if metric.role != "beside"}
    assert all(record.outcome is Outcome.PASSED for record in records)


async def test_questions_that_share_a_prefix_follow_each_other(
    built: RuntimeSuite, grader: ProgramGrader
) -> None:
    """Of each kind all questions about a program come in a row, so that a server's cache of prefixes has it.

    What they share is the system line, the demonstrations and the program; the input comes after it.
    """
    model = ScriptedModel(truths(built.questions), all_right)
    await run_all(built, model, grader)
    asked = [prompt for prompt in model.prompts if isinstance(prompt, Chat)]
    for kind in {prompt.messages[0] for prompt in asked}:
        of_kind = [prompt.messages for prompt in asked if prompt.messages[0] == kind]
        assert len({messages[:-1] for messages in of_kind}) == 1
        questions = [messages[-1].content for messages in of_kind]
        programs = [list(group) for _, group in groupby(questions, lambda text: "class Queue" in text)]
        assert [len(texts) > 1 for texts in programs] == [True, True]
        for texts, last_line in zip(programs, ("return found, rest", "return first"), strict=True):
            program = texts[0][: texts[0].index(last_line)]
            assert all(text.startswith(program) for text in texts)


async def test_scores_of_rules(built: RuntimeSuite, grader: ProgramGrader) -> None:
    """Always YES scores the share of executed lines; right on coverage alone is consistent once."""

    async def scored(rule: Callable[[QuestionKind, str], str]) -> dict[str, float]:
        return scores(await run_all(built, ScriptedModel(truths(built.questions), rule), grader))

    asked = [
        one for program in built.questions.programs for unit in program.inputs for one in unit.statements
    ]
    rate = sum(one.executed for one in asked) / len(asked)
    assert 0 < rate < 1
    assert await scored(always_yes) == pytest.approx(
        {
            "coverage_accuracy": rate, "coverage_f1": 2 * rate / (1 + rate), "ic": 12.5 * rate,
            "average_accuracy": rate / 4, "state_accuracy": 0, "path_accuracy": 0, "output_accuracy": 0,
        }
    )  # fmt: skip
    assert (await scored(right_on("coverage")))["ic"] == 12.5
    assert (await scored(right_on("output", "path")))["ic"] == 0.0


async def test_the_record_holds_the_evidence(built: RuntimeSuite, grader: ProgramGrader) -> None:
    """Program, input, each question in words, reply, answer, what would be right, and what was wrong."""
    model = ScriptedModel(truths(built.questions), right_on("coverage"))
    record = await built.run(UnitRun("t/queue#1", 3, model, grader, hashes("hash")))
    assert (record.program_id, record.style, record.sample) == ("t/queue", "direct", 3)
    assert record.protocol == hashes("hash")
    assert record.setup == "self.queue = Queue(1)"
    assert record.input.startswith("self.queue.come('a')\n")
    assert record.program == QUEUE.reference
    one = record.statements[0]
    assert one.coverage.question == (
        f"Is line {one.line} (`{record.program.splitlines()[one.line - 1].strip()}`) executed when the test "
        "at the end runs?"
    )
    assert one.coverage.correct
    assert one.coverage.why == ""
    assert one.state.answer == "I can't tell."
    assert (one.state.outcome, one.state.why) == (Outcome.NO_ANSWER, "no `value; type`")
    assert record.output.expected[0].startswith("self.queue.come('a')\nassertEqual(self.queue.serve(), 'a')")
    assert record.usage.requests == 3 * len(record.statements) + 1
    assert RuntimeRecord.model_validate_json(record.model_dump_json(by_alias=True)) == record


class Broken(ScriptedModel):
    """A model whose endpoint fails on one kind of question."""

    error: Exception

    async def ask(self, prompt: Chat | Completion, sampling: Sampling, *, sample: int = 0) -> Answer:
        if "executed next" in str(prompt):
            raise self.error
        return await super().ask(prompt, sampling, sample=sample)


@pytest.mark.parametrize("error", [EndpointError("503"), ModelUnavailableError("no such model")])
async def test_an_endpoint_that_fails_leaves_the_unit_open(
    built: RuntimeSuite, grader: ProgramGrader, error: Exception
) -> None:
    """One error comes out, of its own kind: no record, no made-up answer."""
    model = Broken(truths(built.questions), all_right)
    model.error = error
    with pytest.raises(type(error)) as raised:
        await built.run(UnitRun("t/count#0", 0, model, grader, hashes("p")))
    assert raised.value is error


async def test_all_questions_of_a_unit_are_asked_at_once(built: RuntimeSuite, grader: ProgramGrader) -> None:
    """No question waits for the reply to another one."""
    questions = built.questions.programs[0].inputs[0]
    waiting = asyncio.Barrier(3 * len(questions.statements) + 1)

    class Meeting(ScriptedModel):
        async def ask(self, prompt: Chat | Completion, sampling: Sampling, *, sample: int = 0) -> Answer:
            await waiting.wait()
            return await super().ask(prompt, sampling, sample=sample)

    async with asyncio.timeout(30):
        record = await built.run(
            UnitRun("t/count#0", 0, Meeting(truths(built.questions), all_right), grader, hashes("p"))
        )
    assert record.outcome is Outcome.PASSED


async def test_questions_are_built_once_and_kept(grader: ProgramGrader, tmp_path: Path) -> None:
    """The cache serves the next suite; two builds give the same bytes; a torn file is built anew."""
    await suite(cache=tmp_path).prepare(grader)
    (kept,) = tmp_path.glob("*.json")
    content = kept.read_bytes()
    again = suite(cache=tmp_path)
    assert len(again.tasks()) == 5  # without prepare
    kept.write_bytes(content[:1000])
    third = suite(cache=tmp_path)
    await third.prepare(grader)
    assert kept.read_bytes() == content
    assert third.settings("instruct") == again.settings("instruct")
    questions = third.settings("instruct")["questions"]
    assert questions["count"] > 0
    assert questions["python"] == f"{sys.version_info.major}.{sys.version_info.minor}"


def test_a_file_that_is_no_question_file_is_refused(tmp_path: Path) -> None:
    """The message says what is wrong and how to get a right one."""
    path = tmp_path / "x.json"
    with pytest.raises(UserError, match="can't be read"):
        read_questions(path)
    path.write_text('{"schema": 1, "dataset": 3}')
    with pytest.raises(UserError, match=r"no question file of version 1.*questions build"):
        read_questions(path)


def test_the_catalogue(tmp_path: Path) -> None:
    """Five data sets, greedy and sampled, direct and with a chain of thought; ours needs no data.

    DREval is asked as its paper samples; greedy and our prompts are its variants.
    """
    entries = {entry.id: entry for entry in catalogue()}
    predictions = {
        f"runtime/cruxeval-{side}{style}" for side in ("output", "input") for style in ("", "@cot")
    }
    assert len(entries) == 4 * 4 + 10 + len(predictions)
    for name, entry in entries.items():
        plain, _, variant = name.partition("@")
        assert entry.variant_of == (plain if variant else None)
        assert entry.core is (plain == "runtime/core")
        if name not in predictions:
            sampled = "sampled" in variant or (plain == "runtime/dreval" and "greedy" not in variant)
            assert entry.default_samples == (5 if sampled else 1)
            assert entry.sampling.temperature == (0.8 if sampled else 0.0)
    truths = {name for name, entry in entries.items() if entry.variant_kind == "truths"}
    assert truths == {"runtime/dreval@reval-truths", "runtime/dreval@cot+reval-truths"}
    built: Suite = entries["runtime/core"].build(DataStore(cache=tmp_path, fetch=False))
    assert built.data.name == "core seeds and classes"


async def test_questions_that_another_python_traced_are_traced_again(
    grader: ProgramGrader, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each version of Python traces by itself and says so; what is asked does not depend on it."""
    ours = suite(cache=tmp_path)
    await ours.prepare(grader)
    monkeypatch.setattr("triathlon_runner.memo.python_version", lambda: "3.99")
    monkeypatch.setattr("triathlon_runner.runtime._construct.python_version", lambda: "3.99")
    assert source(tmp_path).ready() is None
    other = suite(cache=tmp_path)
    await other.prepare(grader)
    assert other.settings("instruct")["questions"]["python"] == "3.99"
    assert other.protocol == ours.protocol
