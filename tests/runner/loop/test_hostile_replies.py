"""No reply ends a run: hostile ones as programs, summaries and judgements of the loop, ours and official."""

import itertools
from collections.abc import Iterable

import pytest
from hypothesis import HealthCheck, given, settings

from support import hostile_replies
from support.hashes import hashes
from support.loop_fakes import ADD, FakeGrader, FakeModel
from triathlon_runner.grading import ProgramGrader
from triathlon_runner.loop import LoopSuite, Setting
from triathlon_runner.loop._judge import similarity_in
from triathlon_runner.prompts import load_prompts
from triathlon_runner.records import Finish, LoopRecord, Outcome, Reply
from triathlon_runner.sandbox import open_sandbox
from triathlon_runner.suites import DataSetInfo

LOOPS = 2
SUITES = tuple(
    LoopSuite(
        "loop/test",
        DataSetInfo("test", "1", "0" * 64),
        [ADD],
        load_prompts("loop"),
        Setting(max_loops=LOOPS, as_written=as_written),
    )
    for as_written in (False, True)
)
QUICK = 6_000
"""Characters of the replies that the quick test feeds; more than 10,000 are shorter."""
RIGHT = "def add(a, b):\n    return a + b\n"


async def feed(
    suite: LoopSuite, reply: Reply, grader: FakeGrader | ProgramGrader, *, base: bool
) -> LoopRecord:
    """A unit whose every question gets this reply; its record can be written down and read again."""
    model = FakeModel(lambda _: reply, kind="base" if base else "instruct")
    record = await suite.run(ADD.task_id, 0, model, grader, hashes("hash"))
    assert LoopRecord.model_validate_json(record.model_dump_json()) == record
    number = similarity_in(reply)
    assert number is None or 0 <= number <= 1
    return record


async def feed_all(replies: Iterable[str]) -> int:
    """Every reply to one suite and kind of model after the other, in turns."""
    ways = itertools.cycle(itertools.product(SUITES, (False, True)))
    count = 0
    for text, (suite, base) in zip(replies, ways, strict=False):
        finish = Finish.LENGTH if base and count % 8 > 3 else Finish.STOP
        await feed(suite, Reply(text=text, finish=finish), FakeGrader(), base=base)
        count += 1
    return count


async def test_ten_thousand_replies() -> None:
    """Each of the corpus ends as an outcome of the model."""
    assert await feed_all(text for text in hostile_replies.replies() if len(text) < QUICK) > 10_000


@pytest.mark.slow
async def test_the_longest_replies_too() -> None:
    """Those of up to a megabyte, each in four of the ways."""
    longest = [text for text in hostile_replies.replies() if len(text) >= QUICK]
    for repeats in (1, 3):
        await feed_all(text for text in longest for _ in range(repeats))


@settings(max_examples=300, deadline=None, database=None, suppress_health_check=[HealthCheck.too_slow])
@given(hostile_replies.generated())
async def test_generated_replies(text: str) -> None:
    """Parts of the corpus put together at random."""
    for suite, base in itertools.product(SUITES, (False, True)):
        await feed(suite, Reply(text=text), FakeGrader(), base=base)


@pytest.mark.slow
@settings(max_examples=20_000, deadline=None, database=None, suppress_health_check=list(HealthCheck))
@given(hostile_replies.generated())
async def test_many_generated_replies(text: str) -> None:
    """The same for longer."""
    for suite, base in itertools.product(SUITES, (False, True)):
        await feed(suite, Reply(text=text), FakeGrader(), base=base)


async def test_hostile_programs_are_judged() -> None:
    """Values of the corpus, returned by a program in the real sandbox, are this program's failure."""
    values = [value for value in hostile_replies.VALUES if "\n" not in value and len(value) < QUICK]
    async with open_sandbox(jobs=2) as sandbox:
        grader = ProgramGrader(sandbox, min_cpu_seconds=1.0)
        for value in values[::4]:
            reply = Reply(text=f"```python\ndef add(a, b):\n    return {value}\n```")
            record = await feed(SUITES[0], reply, grader, base=False)
            assert record.outcome in (Outcome.FAILED, Outcome.CRASHED, Outcome.TIMED_OUT, Outcome.NO_ANSWER)
            assert record.sustained_loops == 0
