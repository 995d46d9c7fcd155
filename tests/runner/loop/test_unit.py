"""The loop itself: generate, execute, summarise, until a failure or M (EVALOOOP, section 2.1)."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from support.hashes import hashes
from support.loop_fakes import ADD, RIGHT, FakeGrader, FakeModel, cut, failing_in, is_summary, loop_suite
from triathlon_runner.datasets import Problem
from triathlon_runner.llm import Chat, Completion, EndpointError
from triathlon_runner.loop import Setting
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
    """A failure in loop j leaves j - 1; so does a reply without a program, and a summary without a sentence.

    The record holds every step; without a failure the task sustains M, and loop M is not summarised. What
    cannot be executed has no verdict.
    """
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


@pytest.mark.parametrize("words", WORDS)
async def test_summaries_count_as_written(words: str) -> None:
    """On official suites the next prompt holds the whole reply without reasoning, and then the assertion."""
    record = await run(FakeModel(failing_in(0, summary=f"<think>Hm.</think>\n{words}")), AS_WRITTEN)
    assert record.loops[1].prompt == f'"""\n{words}\n{ADD.assertion}\n"""\n'


@pytest.mark.parametrize(("setting", "from_programs"), [(OURS, 0), (AS_WRITTEN, 9)])
async def test_a_program_given_for_a_summary(setting: Setting, from_programs: int) -> None:
    """It is said to be one, whether it counts, as by the paper's rule, or not."""
    record = await run(FakeModel(lambda _: RIGHT), setting)
    assert record.loops_from_programs == from_programs
    assert all(step.summary_is_program for step in record.loops if step.summary_reply)


async def test_what_is_asked_and_recorded() -> None:
    """p^1 is the data set's own; p^(j+1) is the model's sentence and the carried assertion.

    No question carries an earlier one along, and every prompt stands in its question word for word. Decoding
    is the paper's: temperature 0, top-p 1, at most 1,024 tokens for either step (EVALOOOP, section 3.6).
    """
    model = FakeModel(failing_in(3, summary="Write it."))
    record = await run(model)
    assert record.loops[0].prompt == ADD.prompt
    assert record.loops[1].prompt == '"""\nWrite it.\nassert add(1, 2) == 3\n"""\n'
    for (prompt, sampling, sample), text in zip(model.asked, model.texts, strict=True):
        assert isinstance(prompt, Chat) and [message.content for message in prompt.messages] == [text]
        assert (sampling.temperature, sampling.top_p, sampling.max_tokens, sample) == (0.0, 1.0, 1024, 3)
    generations = [text for text in model.texts if not is_summary(text)]
    assert all(step.prompt in text for step, text in zip(record.loops, generations, strict=True))
    identity = (record.suite, record.model, record.task_id, record.sample, record.protocol)
    assert identity == ("loop/test", "fake", "t/add", 3, hashes("hash"))


async def test_the_summary_is_asked_about_the_models_own_code() -> None:
    """The model sees the code that it wrote, its own examples included, though they are not executed.

    On official suites they are.
    """
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


async def test_a_failed_endpoint_is_no_answer() -> None:
    """An infrastructure failure in any loop leaves the unit open."""
    model = FakeModel(lambda text: EndpointError("refused") if is_summary(text) else RIGHT)
    with pytest.raises(EndpointError):
        await run(model)


def completing(summary: str | Reply, program: str, first: str = "") -> FakeModel:
    """A base model; `first` is what it writes where the prompt is a signature."""
    return FakeModel(
        lambda text: (
            summary if is_summary(text) else first if text.rstrip().endswith('"""Adds."""') else program
        ),
        kind="base",
    )


async def test_base_models_continue_examples() -> None:
    """A base model is asked over completions, stops where it leaves the function, and loops all the same.

    One that runs on has still written its sentence; without a line end it has not.
    """
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
    """Where p^1 is a signature, a base model writes its body, and later loops the whole function."""
    problem = replace(ADD, prompt='def add(a, b):\n    """Adds."""\n')
    model = completing("Write it.", ADD.reference, "    return a + b\n")
    record = await run(model, TWICE, problem)
    assert record.sustained_loops == 2
    assert record.loops[0].program == 'def add(a, b):\n    """Adds."""\n    return a + b\n'
    assert '"""Adds."""' not in next(text for text in model.texts if is_summary(text))
