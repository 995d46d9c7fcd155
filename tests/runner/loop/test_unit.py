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
from triathlon_runner.records import Finish, LoopRecord, Outcome, ProtocolHashes, Reply
from triathlon_runner.suites import DataSetInfo

SENTENCE = "Write a Python function to add two numbers."


def suite(setting: Setting | None = None, problem: Problem = ADD) -> LoopSuite:
    data = DataSetInfo("test", "1", "0" * 64)
    return LoopSuite("loop/test", data, [problem], load_prompts("loop"), setting or Setting())


async def run(
    model: FakeModel, setting: Setting | None = None, problem: Problem = ADD, grader: FakeGrader | None = None
) -> LoopRecord:
    return await suite(setting, problem).run(
        problem.task_id, 0, model, grader or FakeGrader(), hashes("hash")
    )


def failing_in(loop: int, how: str | Reply = WRONG) -> Callable[[str], str | Reply]:
    """A model whose program of that loop is replaced."""
    programs = 0

    def say(text: str) -> str | Reply:
        nonlocal programs
        if is_summary(text):
            return SENTENCE
        programs += 1
        return how if programs == loop else RIGHT

    return say


@pytest.mark.parametrize("failing", [0, 1, 2, 6, 10])
async def test_a_failure_in_loop_j_leaves_j_minus_1(failing: int) -> None:
    """The record holds all j steps; without a failure the task sustains M, and loop M is not summarised."""
    model = FakeModel(failing_in(failing))
    record = await run(model)
    assert record.sustained_loops == (failing - 1 if failing else 10)
    assert record.outcome is record.loops[-1].outcome is (Outcome.FAILED if failing else Outcome.PASSED)
    assert [step.loop for step in record.loops] == list(range(1, (failing or 10) + 1))
    assert record.usage.requests == len(model.asked) == 2 * len(record.loops) - 1
    assert record.loops[-1].summary_reply is None


@pytest.mark.parametrize(
    ("reply", "outcome"),
    [
        ("Adding is easy: a plus b.", Outcome.NO_ANSWER),
        (cut(RIGHT.removesuffix("\n```")), Outcome.TRUNCATED),
        (Reply(text="", finish=Finish.REFUSED), Outcome.REFUSED),
        (Reply(text="", finish=Finish.CONTEXT_OVERFLOW), Outcome.CONTEXT_OVERFLOW),
    ],
)
async def test_a_reply_without_a_program_ends_the_task(reply: str | Reply, outcome: Outcome) -> None:
    """What cannot be executed is a failure with its own name, and has no verdict."""
    record = await run(FakeModel(failing_in(3, reply)))
    assert (record.sustained_loops, record.outcome) == (2, outcome)
    assert (record.loops[-1].program, record.loops[-1].verdict) == ("", None)


@pytest.mark.parametrize(
    ("summary", "outcome"),
    [
        ("", Outcome.NO_ANSWER),
        ("<think>only thoughts</think>", Outcome.NO_ANSWER),
        (cut("Write a Python function to"), Outcome.TRUNCATED),
        (Reply(text="", finish=Finish.REFUSED), Outcome.REFUSED),
    ],
)
async def test_without_a_sentence_there_is_no_next_loop(summary: str | Reply, outcome: Outcome) -> None:
    """The loops so far are sustained; the outcome says why there is no next prompt."""
    record = await run(FakeModel(lambda text: summary if is_summary(text) else RIGHT))
    assert (record.sustained_loops, record.outcome, len(record.loops)) == (1, outcome, 1)
    assert record.loops[0].outcome is Outcome.PASSED
    assert record.loops[0].summary is None
    assert record.loops[0].summary_reply is not None


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


async def test_a_prompt_that_comes_again_is_asked_again() -> None:
    """Equal prompts of two loops are two questions: a server that samples may answer them differently."""
    model = FakeModel(failing_in(0))
    await run(model)
    questions = [prompt for prompt, _, _ in model.asked]
    assert len(set(model.texts)) < len(model.texts)
    assert len(set(questions)) == len(questions)


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
    record = await suite().run("t/add", 3, model, FakeGrader(), hashes("hash"))
    assert (record.suite, record.model, record.task_id, record.sample, record.protocol) == (
        "loop/test",
        "fake",
        "t/add",
        3,
        hashes("hash"),
    )
    assert model.asked[0][2] == 3


AS_WRITTEN = Setting(as_written=True)
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


@pytest.mark.parametrize(
    "words",
    [
        "Write a function. It adds.\n\nIt takes two numbers.",
        '"Write a function to add."',
        "```\nWrite a function to add.\n```",
        f"Write a function to add.\n{ADD.assertion}",
        "Write a function that behaves so:\n\n```python\nadd(1, 2)\n```",
        "",
    ],
)
async def test_summaries_count_as_written(words: str) -> None:
    """On official suites the next prompt holds the whole reply, an empty one too, and then the assertion."""
    model = FakeModel(lambda text: words if is_summary(text) else RIGHT)
    record = await run(model, AS_WRITTEN)
    assert (record.sustained_loops, record.outcome) == (10, Outcome.PASSED)
    assert record.loops[1].prompt == f'"""\n{words}\n{ADD.assertion}\n"""\n'


async def test_reasoning_is_no_summary_even_as_written() -> None:
    """Reasoning in front of a summary is never taken for it, and a summary that was cut ends the task."""
    thoughtful = FakeModel(lambda text: f"<think>Hm.</think>\n{SENTENCE}" if is_summary(text) else RIGHT)
    record = await run(thoughtful, AS_WRITTEN)
    assert record.loops[1].prompt == f'"""\n{SENTENCE}\n{ADD.assertion}\n"""\n'
    record = await run(FakeModel(lambda text: cut("Write a") if is_summary(text) else RIGHT), AS_WRITTEN)
    assert (record.sustained_loops, record.outcome) == (1, Outcome.TRUNCATED)


def test_the_protocol_changes_with_what_shapes_a_result() -> None:
    """Settings and prompts give different protocols; the same settings give the same."""
    settings = [
        Setting(),
        Setting(max_loops=5),
        Setting(temperature=0.2),
        Setting(summary="upper"),
        Setting(attack="upper"),
        Setting(attack="structured"),
        Setting(as_written=True),
    ]
    protocols = [ProtocolHashes.of(suite(setting).protocol) for setting in settings]
    assert protocols[0] == ProtocolHashes.of(suite().protocol)
    assert len(set(protocols)) == len(settings)


@pytest.mark.parametrize(
    ("setting", "sustained", "outcome", "from_programs"),
    [(Setting(), 1, Outcome.NO_ANSWER, 0), (AS_WRITTEN, 10, Outcome.PASSED, 9)],
)
async def test_a_program_given_for_a_summary(
    setting: Setting, sustained: int, outcome: Outcome, from_programs: int
) -> None:
    """It is said to be one; on our own problems it is no answer, by the paper's rule it counts."""
    record = await run(FakeModel(lambda _: RIGHT), setting)
    assert (record.sustained_loops, record.outcome) == (sustained, outcome)
    assert record.loops_from_programs == from_programs
    assert all(step.summary_is_program for step in record.loops if step.summary_reply)
