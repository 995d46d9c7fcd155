"""The loop itself: generate, execute, summarise, until a failure or M (EVALOOOP, section 2.1)."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from support.hashes import hashes
from support.loop_fakes import ADD, RIGHT, WRONG, FakeGrader, FakeModel, cut, is_summary
from triathlon_runner.datasets import Problem
from triathlon_runner.llm import Chat, Completion, EndpointError
from triathlon_runner.loop import LoopSuite, Setting
from triathlon_runner.prompts import load_prompts
from triathlon_runner.records import Finish, LoopRecord, Outcome, Reply
from triathlon_runner.suites import DataSetInfo, UnitRun

SENTENCE = "Write a Python function to add two numbers."


def suite(setting: Setting | None = None, problem: Problem = ADD) -> LoopSuite:
    data = DataSetInfo("test", "1", "0" * 64)
    return LoopSuite("loop/test", data, [problem], load_prompts("loop"), setting or Setting())


async def run(
    model: FakeModel, setting: Setting | None = None, problem: Problem = ADD, grader: FakeGrader | None = None
) -> LoopRecord:
    return await suite(setting, problem).run(
        UnitRun(problem.task_id, 0, model, grader or FakeGrader(), hashes("hash"))
    )


Say = Callable[[str], str | Reply]


def failing_in(loop: int, how: str | Reply = WRONG, *, summary: str | Reply = SENTENCE) -> Say:
    """A model whose program of that loop is replaced."""
    programs = 0

    def say(text: str) -> str | Reply:
        nonlocal programs
        if is_summary(text):
            return summary
        programs += 1
        return how if programs == loop else RIGHT

    return say


AS_WRITTEN = Setting(as_written=True)
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


@pytest.mark.parametrize(
    ("say", "setting", "sustained", "outcome"),
    [
        (failing_in(0), Setting(), 10, Outcome.PASSED),
        *((failing_in(loop), Setting(), loop - 1, Outcome.FAILED) for loop in (1, 2, 6, 10)),
        (failing_in(3, "Adding is easy: a plus b."), Setting(), 2, Outcome.NO_ANSWER),
        (failing_in(3, cut(RIGHT.removesuffix("\n```"))), Setting(), 2, Outcome.TRUNCATED),
        (failing_in(3, REFUSED), Setting(), 2, Outcome.REFUSED),
        (failing_in(3, OVERFLOW), Setting(), 2, Outcome.CONTEXT_OVERFLOW),
        (failing_in(0, summary=""), Setting(), 1, Outcome.NO_ANSWER),
        (failing_in(0, summary="<think>only thoughts</think>"), Setting(), 1, Outcome.NO_ANSWER),
        (failing_in(0, summary=cut("Write a Python function to")), Setting(), 1, Outcome.TRUNCATED),
        (failing_in(0, summary=cut("Write a Python function to")), AS_WRITTEN, 1, Outcome.TRUNCATED),
        (failing_in(0, summary=REFUSED), Setting(), 1, Outcome.REFUSED),
        (failing_in(0, summary=RIGHT), Setting(), 1, Outcome.NO_ANSWER),
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


@pytest.mark.parametrize(("setting", "from_programs"), [(Setting(), 0), (AS_WRITTEN, 9)])
async def test_a_program_given_for_a_summary(setting: Setting, from_programs: int) -> None:
    """It is said to be one, whether it counts, as by the paper's rule, or not."""
    record = await run(FakeModel(lambda _: RIGHT), setting)
    assert record.loops_from_programs == from_programs
    assert all(step.summary_is_program for step in record.loops if step.summary_reply)


async def test_the_next_prompt_is_the_sentence_with_the_first_prompts_assertion() -> None:
    """p^1 is the data set's own; p^(j+1) is the model's sentence and the carried assertion."""
    record = await run(FakeModel(failing_in(3)))
    assert record.loops[0].prompt == ADD.prompt
    assert record.loops[1].prompt == f'"""\n{SENTENCE}\nassert add(1, 2) == 3\n"""\n'


async def test_every_question_is_a_fresh_conversation() -> None:
    """No question carries an earlier one along, and every prompt stands in its question word for word."""
    model = FakeModel(failing_in(3))
    record = await run(model)
    generations = [text for text in model.texts if not is_summary(text)]
    for (prompt, _, _), text in zip(model.asked, model.texts, strict=True):
        assert isinstance(prompt, Chat)
        assert [message.content for message in prompt.messages] == [text]
    for step, text in zip(record.loops, generations, strict=True):
        assert step.prompt in text


async def test_the_summary_is_asked_about_the_models_own_code() -> None:
    """The model sees the code that it wrote, its own examples included, though they are not executed."""
    code = "def add(a, b):\n    return a + b\n\nassert add(1, 2) == 3"
    grader = FakeGrader()
    model = FakeModel(lambda text: SENTENCE if is_summary(text) else f"```python\n{code}\n```")
    await run(model, Setting(max_loops=2), grader=grader)
    assert f"```python\n{code}\n```" in next(text for text in model.texts if is_summary(text))
    assert "assert" not in grader.judged[0]


async def test_settings_of_the_paper() -> None:
    """Temperature 0, top-p 1, at most 1,024 tokens for either step (EVALOOOP, section 3.6)."""
    model = FakeModel(failing_in(2))
    await run(model)
    assert {(s.temperature, s.top_p, s.max_tokens) for _, s, _ in model.asked} == {(0.0, 1.0, 1024)}


async def test_a_program_that_comes_again_is_executed_once() -> None:
    """Equal programs have equal verdicts, whatever comments are in them; docstrings make another program."""
    grader = FakeGrader()
    await run(FakeModel(failing_in(0)), grader=grader)
    assert len(grader.judged) == 1
    head, body = ADD.reference.split("\n", 1)
    programs = iter(f"{head}\n{new}{body}" for new in ("", "\n", "    # a comment\n", "    'a docstring'\n"))
    grader = FakeGrader()

    def say(text: str) -> str:
        return SENTENCE if is_summary(text) else f"```python\n{next(programs)}```"

    await run(FakeModel(say), Setting(max_loops=4), grader=grader)
    assert len(grader.judged) == 2


async def test_a_failed_endpoint_is_no_answer() -> None:
    """An infrastructure failure in any loop leaves the unit open."""
    model = FakeModel(lambda text: EndpointError("refused") if is_summary(text) else RIGHT)
    with pytest.raises(EndpointError):
        await run(model)


async def test_base_models_continue_examples() -> None:
    """A base model is asked over completions, stops where it leaves the function, and loops all the same."""

    def say(text: str) -> str:
        return (
            " Write a Python function to add.\n# more" if is_summary(text) else ADD.reference + '\n"""\nNext'
        )

    model = FakeModel(say, kind="base")
    record = await run(model, Setting(max_loops=3))
    assert record.sustained_loops == 3
    assert all(isinstance(prompt, Completion) for prompt, _, _ in model.asked)
    assert record.loops[1].prompt == '"""\nWrite a Python function to add.\nassert add(1, 2) == 3\n"""\n'
    assert record.loops[1].program == ADD.reference
    assert model.asked[0][1].stop == ('\n"""', "\nif __name__", "\nprint(", "\nassert ")


async def test_a_base_models_summary_is_its_first_line() -> None:
    """A base model that runs on has still written its sentence; without a line end it has not."""
    ran_on = FakeModel(
        lambda t: cut(" Add.\nmore and") if is_summary(t) else ADD.reference + "\nx", kind="base"
    )
    assert (await run(ran_on, Setting(max_loops=2))).sustained_loops == 2
    endless = FakeModel(
        lambda t: cut(" Add and add") if is_summary(t) else ADD.reference + "\nx", kind="base"
    )
    assert (await run(endless, Setting(max_loops=2))).outcome is Outcome.TRUNCATED


async def test_a_signature_prompt_is_completed() -> None:
    """Where p^1 is a signature, a base model writes its body, and later loops the whole function."""
    problem = replace(ADD, prompt='def add(a, b):\n    """Adds."""\n')

    def say(text: str) -> str:
        if is_summary(text):
            return "Write it."
        return (
            "    return a + b\n"
            if text.endswith('"""Adds."""\n') or text.endswith('"""Adds."""')
            else ADD.reference
        )

    model = FakeModel(say, kind="base")
    record = await run(model, Setting(max_loops=2), problem)
    assert record.sustained_loops == 2
    assert record.loops[0].program == 'def add(a, b):\n    """Adds."""\n    return a + b\n'
    assert '"""Adds."""' not in next(text for text in model.texts if is_summary(text))


async def test_samples_and_identity_stand_in_the_record() -> None:
    """The record names its suite, model, task, sample and protocol as it was told."""
    model = FakeModel(failing_in(1))
    record = await suite().run(UnitRun("t/add", 3, model, FakeGrader(), hashes("hash")))
    assert (record.suite, record.model, record.task_id, record.sample, record.protocol) == (
        "loop/test",
        "fake",
        "t/add",
        3,
        hashes("hash"),
    )
    assert model.asked[0][2] == 3


SELF_TESTED = "```python\ndef add(a, b):\n    return a + b\n\nassert add(1, 2) == 3\nprint(add(2, 2))\n```"


@pytest.mark.parametrize("setting", [Setting(), AS_WRITTEN])
async def test_self_tests_run_where_programs_count_as_written(setting: Setting) -> None:
    """On official suites the model's own tests are executed with its program; on ours they are left out."""
    model, grader = FakeModel(failing_in(1, SELF_TESTED)), FakeGrader()
    record = await run(model, setting, grader=grader)
    step = record.loops[0]
    if setting.as_written:
        assert f"```python\n{step.program}```" == SELF_TESTED and step.changes == ()
    else:
        assert "assert" not in step.program and step.changes
    assert "assert add(1, 2) == 3" in next(text for text in model.texts if is_summary(text))
