"""Fidelity on DREval: every truth is the stored one, every choice compared with the official one."""

import asyncio
import hashlib
import json
from dataclasses import replace
from pathlib import Path

import pytest

from support.case_files import rows
from support.fake_model import FakeModel
from support.hashes import hashes
from support.official_data import official_store
from support.runtime_models import all_right, answers, truths
from triathlon_runner.datasets import DataStore, official
from triathlon_runner.grading import Grader
from triathlon_runner.memo import python_version
from triathlon_runner.runtime import (
    METRICS,
    ProgramQuestions,
    QuestionFile,
    StatementQuestion,
    catalogue,
    question_source,
)
from triathlon_runner.runtime._construct import construct
from triathlon_runner.runtime._grade import expected_answers
from triathlon_runner.runtime._programs import dreval_programs
from triathlon_runner.runtime._questions import FilterReport, official_asker
from triathlon_runner.sandbox import Sandbox, open_sandbox
from triathlon_runner.suites import UnitRun

pytestmark = [pytest.mark.official, pytest.mark.slow]

UNUSUAL = Path(__file__).parents[3] / "site/triathlon_site/pages/dreval_unusual.csv"


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> DataStore:
    return replace(official_store(), cache=tmp_path_factory.mktemp("cache"))


@pytest.fixture(scope="module")
def questions(store: DataStore) -> QuestionFile:

    async def build() -> QuestionFile:
        async with open_sandbox() as sandbox:
            return await question_source("dreval", store).build(sandbox)

    return asyncio.run(build())


def truth(one: StatementQuestion) -> tuple[object, ...]:
    states = [(value.type, value.text) for value in one.states]
    return one.line, one.variable, one.executed, states, one.next_lines


def truth_hash(program: ProgramQuestions) -> str:
    truths_of = [(asked.index, list(map(truth, asked.statements))) for asked in program.inputs]
    return hashlib.sha256(json.dumps(truths_of).encode()).hexdigest()[:16]


def test_all_truths_are_the_stored_ones(questions: QuestionFile) -> None:
    """None is left out of Table I's, so that every assertion holds when it is completed truly."""
    stored = json.loads(Path(__file__).with_name("dreval_truths.json").read_text("utf-8"))
    assert questions.python == python_version()
    assert {one.task_id: truth_hash(one) for one in questions.programs} == stored["programs"]
    assert questions.report == FilterReport(programs=154, inputs=690, block_ends=3152, questions=3152)


async def test_our_constructor_chooses_the_official_pairs(store: DataStore, sandbox: Sandbox) -> None:
    """At least 95 % of them, over the same programs and inputs."""
    named = dreval_programs(store)
    unnamed = []
    for program in named:
        inputs = tuple(asked.model_copy(update={"statements": ()}) for asked in program.inputs)
        unnamed.append(program.model_copy(update={"inputs": inputs}))
    chosen, _ = await construct(unnamed, sandbox)
    ours, official = (
        {
            (program.task_id, asked.index, one.line, one.variable)
            for program in programs
            for asked in program.inputs
            for one in asked.statements
        }
        for programs in (chosen, named)
    )
    assert len(official) == 3152
    assert len(ours & official) / len(official) >= 0.95


async def test_a_model_that_is_right(store: DataStore, questions: QuestionFile, grader: Grader) -> None:
    """It scores full marks, but where the path's question, which names a line by its text, has two truths."""
    suite = {entry.id: entry for entry in catalogue()}["runtime/dreval"].build(store)
    asker = official_asker(official.runtime_prompts(store, "direct"), "direct")
    truth = truths(questions, asker=asker)
    units = [(program, asked) for program in questions.programs for asked in program.inputs]
    places = [(*unit, one) for unit in units for one in unit[1].statements]
    alone = [truth[asker.question("path", *place)][1] in expected_answers("path", *place) for place in places]
    assert alone.count(False) == 45
    path = sum(alone) / len(alone)
    expected = {metric.id: metric.maximum for metric in METRICS if metric.role != "beside"}
    expected |= {"path_accuracy": path, "average_accuracy": (3 + path) / 4, "ic": 100 * path}
    model = FakeModel(answers(truth, all_right))
    tasks = [suite.run(UnitRun(task.task_id, 0, model, grader, hashes("p"))) for task in suite.tasks()]
    records = await asyncio.gather(*tasks)
    scores = {metric.id: metric.score(records) for metric in METRICS if metric.role != "beside"}
    assert scores == pytest.approx(expected)


def test_the_method_page_lists_the_unusual_questions(questions: QuestionFile) -> None:
    """Those without a value at a line that is executed, and those that mask a call."""
    without_value = {
        (f"{program.task_id}#{asked.index}", str(one.line), one.variable)
        for program in questions.programs
        for asked in program.inputs
        for one in asked.statements
        if one.executed and not one.states
    }
    listed = {(f"DREval/{row['question']}", row["line"], row["variable"]) for row in rows(UNUSUAL)}
    assert {entry for entry in listed if entry[1]} == without_value
    masked = {
        f"{program.task_id}#{asked.index}"
        for program in questions.programs
        for asked in program.inputs
        if program.masked_test(asked).masked_calls
    }
    assert {question for question, line, _ in listed if not line} == masked
