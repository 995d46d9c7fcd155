"""No reply ends a run: hostile ones through extraction and judgement of an evolved suite."""

import itertools
from collections.abc import Iterable

import pytest
from hypothesis import HealthCheck, given, settings

from support import hostile_replies
from support.hashes import hashes
from support.loop_fakes import FakeGrader, FakeModel
from triathlon_runner.datasets import Problem
from triathlon_runner.evolved import EvolvedSuite
from triathlon_runner.grading import ProgramGrader
from triathlon_runner.prompts import load_prompts
from triathlon_runner.records import EvolvedRecord, Finish, Outcome, Reply
from triathlon_runner.sandbox import open_sandbox
from triathlon_runner.suites import DataSetInfo

PROBLEM = Problem(
    task_id="t/f",
    entry_point="f",
    prompt='from typing import List\n\n\ndef f(x: int) -> List[float]:\n    """Halves of x."""\n',
    reference="def f(x):\n    return [x / 2]\n",
    inputs=("(3,)",),
)
SUITE = EvolvedSuite(
    "evolved/test",
    DataSetInfo("test", "1", "0" * 64),
    {PROBLEM.task_id: PROBLEM},
    "all",
    load_prompts("evolved"),
)
QUICK = 6_000
"""Characters of the replies that the quick test feeds; more than 10,000 are shorter."""


async def feed(reply: Reply, grader: FakeGrader | ProgramGrader, *, base: bool = False) -> EvolvedRecord:
    """A unit that gets this reply; its record can be written down and read again."""
    model = FakeModel(lambda _: reply, kind="base" if base else "instruct")
    record = await SUITE.run(PROBLEM.task_id, 0, model, grader, hashes("hash"))
    assert EvolvedRecord.model_validate_json(record.model_dump_json()) == record
    return record


async def feed_all(replies: Iterable[str]) -> int:
    """Every reply to a model of one kind and then of the other, in turns."""
    ways = itertools.cycle([(False, Finish.STOP), (True, Finish.STOP), (True, Finish.LENGTH)])
    count = 0
    for text, (base, finish) in zip(replies, ways, strict=False):
        await feed(Reply(text=text, finish=finish), FakeGrader(), base=base)
        count += 1
    return count


async def test_ten_thousand_replies() -> None:
    """Each of the corpus ends as an outcome of the model."""
    assert await feed_all(text for text in hostile_replies.replies() if len(text) < QUICK) > 10_000


@pytest.mark.slow
async def test_the_longest_replies_too() -> None:
    """Those of a megabyte, in every way."""
    longest = [text for text in hostile_replies.replies() if len(text) >= QUICK]
    await feed_all(text for text in longest for _ in range(4))


@settings(max_examples=500, deadline=None, database=None, suppress_health_check=[HealthCheck.too_slow])
@given(hostile_replies.generated())
async def test_generated_replies(text: str) -> None:
    """Parts of the corpus put together at random."""
    for base in (False, True):
        await feed(Reply(text=text), FakeGrader(), base=base)


@pytest.mark.slow
@settings(max_examples=20_000, deadline=None, database=None, suppress_health_check=list(HealthCheck))
@given(hostile_replies.generated())
async def test_many_generated_replies(text: str) -> None:
    """The same for longer."""
    for base in (False, True):
        await feed(Reply(text=text), FakeGrader(), base=base)


async def test_hostile_programs_are_judged() -> None:
    """Values of the corpus, returned by a program in the real sandbox, are this program's failure."""
    values = [value for value in hostile_replies.VALUES if "\n" not in value and len(value) < QUICK]
    async with open_sandbox(jobs=2) as sandbox:
        grader = ProgramGrader(sandbox, min_cpu_seconds=1.0)
        for number, value in enumerate(values[1::3]):
            returned = f"[{value}]" if number % 2 else value
            reply = Reply(text=f"```python\ndef f(x):\n    return {returned}\n```")
            assert (await feed(reply, grader)).outcome is not Outcome.PASSED
