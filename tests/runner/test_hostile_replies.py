"""No reply ends a run: hostile ones through extraction and grading of all disciplines."""

import asyncio
import itertools
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import asdict
from functools import partial, reduce
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from support.case_files import listed, sections
from support.fake_model import FakeModel
from support.hashes import hashes
from support.loop_fakes import FakeGrader, loop_suite
from support.translations import TASK
from triathlon_runner.datasets import Problem
from triathlon_runner.datasets.official import CruxevalTask
from triathlon_runner.evolved import EvolvedSuite
from triathlon_runner.grading import Grader, ProgramGrader
from triathlon_runner.llm import ModelKind
from triathlon_runner.loop import LoopSuite, Setting
from triathlon_runner.loop._judge import similarity_in
from triathlon_runner.prompts import load_prompts
from triathlon_runner.records import AnswerRecord, Finish, Outcome, Reply, UnitRecord
from triathlon_runner.runtime import Graded, StatementQuestion, Value
from triathlon_runner.runtime._assertions import fill
from triathlon_runner.runtime._expressions import InvalidAnswerError
from triathlon_runner.runtime._grade import extract_answer, grade_coverage, grade_path, grade_state
from triathlon_runner.runtime._outputs import grade_output, read_answer, read_arguments
from triathlon_runner.runtime._programs import output_question
from triathlon_runner.runtime._questions import STYLES, Style
from triathlon_runner.sandbox import Language, Sandbox, open_sandbox
from triathlon_runner.suites import DataSetInfo, UnitRun
from triathlon_runner.translation._suite import program_in

DATA = DataSetInfo("test", "1", "0" * 64)
PROBLEM = Problem(
    task_id="t/f",
    entry_point="f",
    prompt='from typing import List\n\n\ndef f(x: int) -> List[float]:\n    """Halves of x."""\n',
    reference="def f(x):\n    return [x / 2]\n",
    inputs=("(3,)",),
)
EVOLVED = EvolvedSuite("evolved/test", DATA, {PROBLEM.task_id: PROBLEM}, "all", load_prompts("evolved"))
LOOPS = tuple(loop_suite(Setting(max_loops=2, as_written=as_written)) for as_written in (False, True))
PROGRAM = "def f(x):\n    y = [x]\n    return y\n"
RUNTIME = Path(__file__).parent / "runtime"
STATES = {**listed(RUNTIME / "right_states.txt"), **listed(RUNTIME / "wrong_states.txt")}
"""By value and type."""
LINE = StatementQuestion(line=2, variable="y", executed=False, states=(), next_lines=(-1,))
RAN = itertools.cycle(
    LINE.model_copy(update={"executed": True, "states": (Value(text=text, type=kind),), "next_lines": (3,)})
    for text, _, kind in (state.rpartition("; ") for state in STATES)
)
ABOUT, INPUT = output_question(CruxevalTask("t", PROGRAM, "3", "[3]"))
KINDS: tuple[ModelKind, ...] = ("instruct", "base")
QUICK = 6_000
"""Characters of a reply, or of a value that a program returns, up to which it is short."""
PARTS = {
    heading: tuple(map(eval, text.split("\n")))
    for heading, text in sections(Path(__file__).with_name("hostile_replies.txt")).items()
}
VALUES = tuple(
    value
    for group in ("numbers", "constructed", "collections", "texts", "code", "words")
    for value in PARTS[group]
)
"""Texts of values, programs and words, each hostile to some step of reading it."""
SHAPES = PARTS["shapes"]
"""Ways to write a text into a reply; each `{}` stands for the text."""
WHOLE = PARTS["whole"]
"""Whole replies of about a megabyte, most of them one line: extraction must not take time that grows faster
than the reply."""
Way = Callable[[Reply], Awaitable[object]]
"""One way of a reply through a discipline."""


def shaped(shape: str, text: str) -> str:
    """A text in one shape."""
    return shape.replace("{}", "\1").replace("{{", "{").replace("}}", "}").replace("\1", text)


def replies() -> Iterator[str]:
    """Every value in every shape, then the whole replies: more than 11,000."""
    for value, shape in itertools.product(VALUES, SHAPES):
        yield shaped(shape, value)
    yield from WHOLE


def generated() -> st.SearchStrategy[str]:
    """Parts of the corpus and random text, joined and wrapped at random."""
    characters = st.characters(exclude_categories=["Cs"])
    part = st.one_of(
        st.sampled_from([value for value in VALUES if len(value) < 200]),
        st.text(characters, max_size=12),
        st.text("()[]{}<>'\"`\\#;:,.=-+*/ \n\t019aejnxANSWER?", max_size=24),
        st.integers().map(str),
        st.floats().map(repr),
        st.binary(max_size=6).map(repr),
    )
    joined = st.lists(part, min_size=1, max_size=4).flatmap(
        lambda parts: st.sampled_from(["", " ", "\n", ", ", "; ", ": "]).map(lambda mark: mark.join(parts))
    )
    shapes = st.lists(st.sampled_from(SHAPES), max_size=3)
    return st.builds(partial(reduce, lambda text, shape: shaped(shape, text)), shapes, joined)


async def feed(
    suite: EvolvedSuite | LoopSuite, kind: ModelKind, reply: Reply, grader: Grader | None = None
) -> UnitRecord:
    """A unit whose every question gets this reply; its record can be written down and read again."""
    model = FakeModel(lambda _: reply, kind=kind)
    task = suite.tasks()[0].task_id
    record = await suite.run(UnitRun(task, 0, model, grader or FakeGrader(), hashes("hash")))
    assert type(record).model_validate_json(record.model_dump_json()) == record
    return record


async def translate(language: Language, kind: ModelKind, reply: Reply) -> None:
    program, outcome = await program_in(reply, kind, language, TASK)
    assert bool(program) is (outcome is None)


async def judge(reply: Reply) -> None:
    number = similarity_in(reply)
    assert number is None or 0 <= number <= 1


def check(answer: str, judged: Graded) -> None:
    """A verdict is an outcome of the model, with a reason, that can be written down."""
    assert judged.correct or judged.why
    assert judged.outcome in ("passed", "failed", "no_answer", "crashed", "timed_out")
    record = AnswerRecord(
        reply=Reply(text=""), answer=answer[:1_000], expected=(), correct=judged.correct, **asdict(judged)
    )
    record.model_dump_json()


async def answer(style: Style, reply: Reply) -> None:
    """A reply answers each kind of question of the runtime discipline, or none."""
    found = extract_answer(reply, style)
    for text in (found, f"assert f(3) == {reply.text}"):
        if isinstance(text, str):
            for asked in (next(RAN), LINE):
                check(text, grade_coverage(asked, text))
                check(text, grade_state(asked, text))
                check(text, grade_path(PROGRAM, asked, text))
            stated(text)


def stated(text: str) -> set[str]:
    """What the assertion of an output, or of an input, is that an answer completes."""
    filled = set()
    for read in (read_arguments, fill):
        try:
            filled.add(repr(read_answer(ABOUT.masked_test(INPUT), text, read)))
        except InvalidAnswerError as error:
            assert str(error)
    return filled


WAYS: dict[str, Sequence[Way]] = {
    "evolved": [partial(feed, EVOLVED, kind) for kind in KINDS],
    "loop": [*(partial(feed, suite, kind) for suite, kind in itertools.product(LOOPS, KINDS)), judge],
    "runtime": [partial(answer, style) for style in STYLES],
    "translation": [partial(translate, *each) for each in itertools.product(Language, KINDS)],
}
disciplines = pytest.mark.parametrize("ways", WAYS.values(), ids=WAYS)


@pytest.mark.slow
@disciplines
async def test_the_whole_corpus(ways: Sequence[Way]) -> None:
    """Each short reply, and one in seven of the long ones, whole or cut, ends as an outcome of the model."""
    fed = [text for place, text in enumerate(replies()) if len(text) < QUICK or place % 7 == 0]
    assert len(fed) > 10_000
    turns = itertools.cycle(itertools.product(ways, (Finish.STOP, Finish.STOP, Finish.LENGTH)))
    for text, (way, finish) in zip(fed, turns, strict=False):
        await way(Reply(text=text, finish=finish))


@disciplines
@pytest.mark.parametrize("examples", [300, pytest.param(1_000, marks=pytest.mark.slow)])
def test_generated_replies(ways: Sequence[Way], examples: int) -> None:

    async def feed_each(text: str) -> None:
        for way in ways:
            await way(Reply(text=text))

    @settings(max_examples=examples, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(generated())
    def check(text: str) -> None:
        asyncio.run(feed_each(text))

    check()


@pytest.mark.parametrize(("suite", "function"), [(EVOLVED, "f(x)"), (LOOPS[0], "add(a, b)")])
async def test_hostile_programs_are_graded(suite: EvolvedSuite | LoopSuite, function: str) -> None:
    """Values of the corpus, returned by a program in the real sandbox, are this program's failure."""
    values = [value for value in VALUES if "\n" not in value and len(value) < QUICK]
    async with open_sandbox(jobs=2) as sandbox:
        grader = ProgramGrader(sandbox, min_cpu_seconds=1.0)
        for number, value in enumerate(values[1::4]):
            returned = f"[{value}]" if number % 2 else value
            reply = Reply(text=f"```python\ndef {function}:\n    return {returned}\n```")
            assert (await feed(suite, "instruct", reply, grader)).outcome is not Outcome.PASSED


@pytest.mark.slow
async def test_hostile_answers_are_executed(sandbox: Sandbox) -> None:
    """Those that complete the assertion, each way of it once; some use up all their time."""
    answers: dict[str, str] = {}
    for text in replies():
        await answer("direct", Reply(text=text))
        found = extract_answer(Reply(text=text), "direct")
        answers |= dict.fromkeys(stated(found), found) if isinstance(found, str) else {}
    for found in set(answers.values()):
        check(found, await grade_output(sandbox, ABOUT, INPUT, found))
