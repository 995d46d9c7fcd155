"""No reply ends a run: hostile ones through extraction and judgement of the translation loop."""

import asyncio
import itertools
from collections.abc import Iterable
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings

from support import hostile_replies
from support.translations import TASK
from triathlon_runner.prompts import load_prompts
from triathlon_runner.records import Finish, Outcome, Reply
from triathlon_runner.sandbox import Language, open_sandbox
from triathlon_runner.translation._suite import Phrasing

PHRASINGS = tuple(Phrasing(kind, load_prompts("translation")) for kind in ("instruct", "base"))
QUICK = 6_000
"""Characters of the replies that the quick test feeds; more than 10,000 are shorter."""
EXPECTED = (None, True, 1, 1.5, "a", [1.5], {"a": 1})


async def feed(reply: Reply, language: Language, phrasing: Phrasing) -> None:
    """A reply becomes a program or an outcome."""
    program, outcome = await phrasing.program(reply, language, TASK)
    assert bool(program) is (outcome is None)


async def feed_all(replies: Iterable[str]) -> int:
    """Every reply in one language after the other, in turns."""
    ways = itertools.cycle(itertools.product(Language, PHRASINGS, (Finish.STOP, Finish.LENGTH)))
    count = 0
    for text, (language, phrasing, finish) in zip(replies, ways, strict=False):
        await feed(Reply(text=text, finish=Finish.STOP), language, phrasing)
        await feed(Reply(text=text, finish=finish), language, phrasing)
        count += 1
    return count


async def feed_in_all_ways(text: str) -> None:
    """One reply in every language, of both kinds of model."""
    for language, phrasing in itertools.product(Language, PHRASINGS):
        await feed(Reply(text=text), language, phrasing)


async def test_ten_thousand_replies() -> None:
    """Each of the corpus becomes a program or an outcome of the model."""
    assert await feed_all(text for text in hostile_replies.replies() if len(text) < QUICK) > 10_000


@pytest.mark.slow
async def test_the_longest_replies_too() -> None:
    """Those of up to a megabyte, each in three of the ways."""
    longest = [text for text in hostile_replies.replies() if len(text) >= QUICK]
    await feed_all(text for text in longest for _ in range(3))


@settings(max_examples=300, deadline=None, database=None, suppress_health_check=[HealthCheck.too_slow])
@given(hostile_replies.generated())
def test_generated_replies(text: str) -> None:
    """Parts of the corpus put together at random."""
    asyncio.run(feed_in_all_ways(text))


@pytest.mark.slow
@settings(max_examples=10_000, deadline=None, database=None, suppress_health_check=list(HealthCheck))
@given(hostile_replies.generated())
def test_many_generated_replies(text: str) -> None:
    """The same for longer."""
    asyncio.run(feed_in_all_ways(text))


async def test_hostile_programs_are_judged() -> None:
    """Values of the corpus, returned in Python in the real sandbox, are this program's failure."""
    values = [value for value in hostile_replies.VALUES if "\n" not in value and len(value) < QUICK]
    expected = itertools.cycle(EXPECTED)
    async with open_sandbox(jobs=2) as sandbox:
        for value in values[2::3]:
            task = replace(TASK, cases=(((["a"], 1), next(expected)),))
            program = f"def tally(words, least):\n    return {value}\n"
            verdict = await task.grade(program, Language.PYTHON, sandbox)
            verdict.model_dump_json()
            assert verdict.outcome is not Outcome.PASSED or value in ("None", "1", "1.5", "'a'")
