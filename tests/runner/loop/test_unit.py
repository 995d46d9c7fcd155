"""The loop itself: generate, execute, summarise, until a failure or M (EVALOOOP, section 2.1); its judge."""

from collections.abc import Callable
from dataclasses import replace
from typing import cast

import pytest

from support.asl import asl
from support.fake_model import FakeModel
from support.hashes import hashes
from support.loop_fakes import ADD, RIGHT, FakeGrader, cut, failing_in, is_summary, loop_suite
from triathlon_runner import catalogue
from triathlon_runner.datasets import DataStore, Problem
from triathlon_runner.llm import Chat, Completion, EndpointError
from triathlon_runner.loop import Setting
from triathlon_runner.loop._judge import similarity_in
from triathlon_runner.prompts import load_prompts
from triathlon_runner.records import Finish, LoopRecord, Outcome, Reply
from triathlon_runner.suites import UnitRun

Say = Callable[[str], str | Reply]
OURS, AS_WRITTEN, TWICE = Setting(), Setting(as_written=True), Setting(max_loops=2)
WORDS = [
    "",
    "Write a function. It adds.\n\nIt takes {{ two }} numbers {% raw %} – «schön» 🎉.",
    '"Write a function to add."',
    "```\nWrite a function to add.\n```",
    f"Write a function to add.\n{ADD.assertion}",
    "Write a function that behaves so:\n\n```python\nadd(1, 2)\n```",
]
"""Summaries that are more or less than a sentence."""
REFUSED, OVERFLOW = (Reply(text="", finish=finish) for finish in (Finish.REFUSED, Finish.CONTEXT_OVERFLOW))
BROKEN_OFF = cut("Write a Python function to")


async def run(
    model: FakeModel, setting: Setting = OURS, problem: Problem = ADD, grader: FakeGrader | None = None
) -> LoopRecord:
    unit = UnitRun(problem.task_id, 3, model, grader or FakeGrader(), hashes("hash"))
    return await loop_suite(setting, problem).run(unit)


@pytest.mark.parametrize(
    ("say", "setting", "sustained", "outcome"),
    [
        (failing_in(0), OURS, 10, Outcome.PASSED),
        *((failing_in(loop), OURS, loop - 1, Outcome.FAILED) for loop in (1, 2, 6, 10)),
        (failing_in(3, "Adding is easy: a plus b."), OURS, 2, Outcome.NO_ANSWER),
        (failing_in(3, cut(RIGHT.removesuffix("\n```"))), OURS, 2, Outcome.TRUNCATED),
        (failing_in(3, REFUSED), OURS, 2, Outcome.REFUSED),
        (failing_in(3, OVERFLOW), OURS, 2, Outcome.CONTEXT_OVERFLOW),
        (failing_in(0, summary=""), OURS, 1, Outcome.NO_ANSWER),
        (failing_in(0, summary="<think>only thoughts</think>"), OURS, 1, Outcome.NO_ANSWER),
        (failing_in(0, summary=BROKEN_OFF), OURS, 1, Outcome.TRUNCATED),
        (failing_in(0, summary=BROKEN_OFF), AS_WRITTEN, 1, Outcome.TRUNCATED),
        (failing_in(0, summary=REFUSED), OURS, 1, Outcome.REFUSED),
        (failing_in(0, summary=RIGHT), OURS, 1, Outcome.NO_ANSWER),
        *((failing_in(0, summary=words), AS_WRITTEN, 10, Outcome.PASSED) for words in (RIGHT, *WORDS)),
    ],
)
async def test_how_a_task_ends(say: Say, setting: Setting, sustained: int, outcome: Outcome) -> None:
    """A failure in loop j, or nothing to execute or to go on with, leaves j - 1; loop M is not summarised."""
    model = FakeModel(say)
    record = await run(model, setting)
    assert (record.sustained_loops, record.outcome) == (sustained, outcome)
    assert [step.loop for step in record.loops] == list(range(1, len(record.loops) + 1))
    assert record.usage.requests == len(model.asked)
    last = record.loops[-1]
    assert last.summary is None
    if last.outcome is Outcome.PASSED:
        assert (last.summary_reply is None) == (sustained == 10)
    else:
        assert len(record.loops) == sustained + 1 and last.summary_reply is None
        assert (last.verdict is None) == (not last.program) == (outcome is not Outcome.FAILED)


async def test_each_variant_asks_in_its_own_way() -> None:
    """Another summary prompt, temperature or first prompt; an attack asks for one program alone."""
    asked = []
    for entry in catalogue.select(["loop/core"], ["prompts", "temperatures", "attacks"]):
        suite, model = entry.build(cast(DataStore, None)), FakeModel(lambda _: RIGHT)
        await suite.run(UnitRun(suite.tasks()[0].task_id, 0, model, FakeGrader(), hashes("hash")))
        asked.append(model.asked)
    assert [len(questions) for questions in asked] == 10 * [2] + 3 * [1]
    assert len(set(map(repr, asked))) == 13


async def test_summaries_count_as_written() -> None:
    """On official suites the reply without reasoning is the next prompt, even a program, which is noted."""
    for words in WORDS:
        record = await run(FakeModel(failing_in(0, summary=f"<think>Hm.</think>\n{words}")), AS_WRITTEN)
        assert record.loops[1].prompt == f'"""\n{words}\n{ADD.assertion}\n"""\n'
    for setting, from_programs in ((OURS, 0), (AS_WRITTEN, 9)):
        record = await run(FakeModel(lambda _: RIGHT), setting)
        assert record.loops_from_programs == from_programs
        assert all(step.summary_is_program for step in record.loops if step.summary_reply)


async def test_what_is_asked_and_recorded() -> None:
    """No question carries an earlier one along, or is another loop's; decoding is the paper's (3.6)."""
    model = FakeModel(failing_in(3, summary="Write it."))
    record = await run(model)
    assert record.loops[0].prompt == ADD.prompt
    assert record.loops[1].prompt == '"""\nWrite it.\nassert add(1, 2) == 3\n"""\n'
    for (prompt, sampling, sample), text in zip(model.asked, model.texts, strict=True):
        assert isinstance(prompt, Chat) and [message.content for message in prompt.messages] == [text]
        assert (sampling.temperature, sampling.top_p, sampling.max_tokens, sample) == (0.0, 1.0, 1024, 3)
    assert len({prompt for prompt, _, _ in model.asked}) == len(model.asked) > len(set(model.texts))
    generations = [text for text in model.texts if not is_summary(text)]
    assert all(step.prompt in text for step, text in zip(record.loops, generations, strict=True))
    identity = (record.suite, record.model, record.task_id, record.sample, record.protocol)
    assert identity == ("loop/test", "fake", "t/add", 3, hashes("hash"))


async def test_the_summary_is_asked_about_the_models_own_code() -> None:
    """Its own examples included, though they are executed on official suites only."""
    code = "def add(a, b):\n    return a + b\n\nassert add(1, 2) == 3\nprint(add(2, 2))"
    for setting in (TWICE, replace(TWICE, as_written=True)):
        grader = FakeGrader()
        model = FakeModel(failing_in(1, f"```python\n{code}\n```"))
        step = (await run(model, setting, grader=grader)).loops[0]
        assert f"```python\n{code}\n```" in next(text for text in model.texts if is_summary(text))
        if setting.as_written:
            assert (grader.judged[0], step.changes) == (f"{code}\n", ())
        else:
            assert "assert" not in grader.judged[0] and step.changes


async def test_a_program_that_comes_again_is_executed_once() -> None:
    """Equal programs have equal verdicts, whatever comments are in them; docstrings make another program."""
    grader = FakeGrader()
    await run(FakeModel(failing_in(0)), grader=grader)
    assert len(grader.judged) == 1
    head, body = ADD.reference.split("\n", 1)
    programs = iter(f"{head}\n{new}{body}" for new in ("", "\n", "    # a comment\n", "    'a docstring'\n"))
    grader = FakeGrader()
    model = FakeModel(lambda text: "Add." if is_summary(text) else f"```python\n{next(programs)}```")
    await run(model, Setting(max_loops=4), grader=grader)
    assert len(grader.judged) == 2


def completing(summary: str | Reply, program: str, first: str = "") -> FakeModel:
    """A base model; `first` is what it writes where the prompt is a signature."""
    return FakeModel(
        lambda text: (
            summary if is_summary(text) else first if text.rstrip().endswith('"""Adds."""') else program
        ),
        kind="base",
    )


async def test_base_models_continue_examples() -> None:
    """One that runs on has still written its sentence; without a line end it has not."""
    model = completing(" Write a Python function to add.\n# more", ADD.reference + '\n"""\nNext')
    record = await run(model, Setting(max_loops=3))
    assert record.sustained_loops == 3
    assert all(isinstance(prompt, Completion) for prompt, _, _ in model.asked)
    assert record.loops[1].prompt == '"""\nWrite a Python function to add.\nassert add(1, 2) == 3\n"""\n'
    assert record.loops[1].program == ADD.reference
    assert model.asked[0][1].stop == ('\n"""', "\nif __name__", "\nprint(", "\nassert ")
    ran_on = completing(cut(" Add.\nmore and"), ADD.reference + "\nx")
    assert (await run(ran_on, TWICE)).sustained_loops == 2
    endless = completing(cut(" Add and add"), ADD.reference + "\nx")
    assert (await run(endless, TWICE)).outcome is Outcome.TRUNCATED


async def test_a_signature_prompt_is_completed() -> None:
    """A base model writes its body, and in later loops the whole function."""
    problem = replace(ADD, prompt='def add(a, b):\n    """Adds."""\n')
    model = completing("Write it.", ADD.reference, "    return a + b\n")
    record = await run(model, TWICE, problem)
    assert record.sustained_loops == 2
    assert record.loops[0].program == 'def add(a, b):\n    """Adds."""\n    return a + b\n'
    assert '"""Adds."""' not in next(text for text in model.texts if is_summary(text))


async def judged(judge: FakeModel | None, sustained: int = 3, summary: str = "Write it.") -> LoopRecord:
    model = FakeModel(failing_in(sustained + 1, summary=summary))
    return await loop_suite().run(UnitRun("t/add", 0, model, FakeGrader(), hashes("hash"), judge))


SCORES: dict[float | None, tuple[str, ...]] = {
    0.8: ("0.8", "0.8..", "**0.8**.", "0.8 0.9", "The similarity is 0.8", "0.8 because both add"),
    0.75: ("**Score:** 0.75", "*Score: 0.75.*"),
    0.9: ("<think>0.1 or 0.9?</think>\n0.9",),
    1.0: (" 1\n", "1.00", "1.", "1.2"),
    0.5: (".5",),
    0.1: ("1e-1",),
    0.0: ("0", "0*8", "-0.1", "80%", "0,8", "between 0 and 1"),
    None: ("nan", "", "Error: 0.5", "very similar"),
}


def test_a_score_is_read_as_the_authors_read_it() -> None:
    """A bare number, else the first text like one. Of a cut reply none: `0.1` may begin `0.15`."""
    for number, texts in SCORES.items():
        assert {text: similarity_in(Reply(text=text)) for text in texts} == dict.fromkeys(texts, number)
    assert similarity_in(Reply(text="0.1", finish=Finish.LENGTH)) is None


async def test_the_judge_sees_both_sides_of_the_failure() -> None:
    """Prompts and programs of the last loop that passed and the first that failed go to the judge."""
    judge = FakeModel(lambda _: "0.5", id="judge")
    record = await judged(judge, sustained=1)
    (text,) = judge.texts
    for step in record.loops:
        assert step.prompt.strip() in text and step.program.strip() in text
    assert (len(record.loops), record.similarity, record.judge_usage.requests) == (2, 0.5, 1)


@pytest.mark.parametrize(("second", "similarity"), [("0.5", 0.5), ("very similar", None)])
async def test_a_bad_answer_is_asked_again_once(second: str, similarity: float | None) -> None:
    """Past the cache; after two bad ones the similarity is unknown, not 1: ASL is an interval."""
    answers = iter(["about a half", second])
    judge = FakeModel(lambda _: next(answers))
    record = await judged(judge)
    assert record.similarity == similarity
    assert [reply.text for reply in record.judge_replies] == ["about a half", second]
    assert len({prompt for prompt, _, _ in judge.asked}) == 2
    if similarity is None:
        assert asl([record]) == pytest.approx((9 * (2 / 3) / 10, 9 / 10))


async def test_a_failed_endpoint_leaves_the_unit_open() -> None:
    """It is no answer, and a judge's failure is never taken for an unknown similarity."""
    with pytest.raises(EndpointError):
        await run(FakeModel(lambda text: EndpointError("refused") if is_summary(text) else RIGHT))
    with pytest.raises(EndpointError):
        await judged(FakeModel(lambda _: EndpointError("refused")))


@pytest.mark.parametrize(("sustained", "summary"), [(0, "Write it."), (10, "Write it."), (3, "")])
async def test_without_two_prompts_to_compare_nobody_is_asked(sustained: int, summary: str) -> None:
    """L = 0 adds nothing, l = M has similarity 1; without a summary or a judge it is unknown."""
    judge = FakeModel(lambda _: "0.5")
    record = await judged(judge, sustained, summary)
    assert (record.similarity, judge.asked) == (None, [])
    low, high = asl([record])
    assert (low == high) == bool(summary)
    record = await judged(None)
    assert (record.similarity, record.judge_replies) == (None, ())


def test_the_judge_is_part_of_the_settings() -> None:
    """Another judge, or none, gives other settings; an attack needs no judge and does not depend on it."""
    settings = [loop_suite().settings("instruct", judge)["judge"] for judge in (None, "judge-1", "judge-2")]
    assert len(set(map(str, settings))) == 3
    assert settings[1]["model"] == "judge-1"
    assert settings[1]["prompt"] == load_prompts("loop").digest("similarity")
    attacked = loop_suite(Setting(max_loops=1, attack="upper"))
    assert attacked.settings("instruct", "judge-1")["judge"] is None
