"""The similarity judge (EVALOOOP, equation 3): asked twice at most, never invented."""

import pytest

from support.asl import asl
from support.hashes import hashes
from support.loop_fakes import FakeGrader, FakeModel, failing_in, loop_suite
from triathlon_runner.llm import EndpointError
from triathlon_runner.loop import Setting
from triathlon_runner.loop._judge import similarity_in
from triathlon_runner.prompts import load_prompts
from triathlon_runner.records import Finish, LoopRecord, Reply
from triathlon_runner.suites import UnitRun


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
    """A bare number, else the first text that looks like a score; beyond 0 and 1 it is the nearer of them.

    A cut reply is no number: `0.1` may be the beginning of `0.15`.
    """
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
    """The second question is a new one to the cache; two bad answers leave the similarity unknown.

    Unknown is not 1: ASL is then the interval that 0 and 1 span.
    """
    answers = iter(["about a half", second])
    judge = FakeModel(lambda _: next(answers))
    record = await judged(judge)
    assert record.similarity == similarity
    assert [reply.text for reply in record.judge_replies] == ["about a half", second]
    assert len({prompt for prompt, _, _ in judge.asked}) == 2
    if similarity is None:
        span = asl([record])
        assert (span.low, span.high) == pytest.approx((9 * (2 / 3) / 10, 9 / 10))


async def test_a_judge_that_cannot_be_reached_leaves_the_unit_open() -> None:
    """The judge's infrastructure failure is never taken for an unknown similarity."""
    with pytest.raises(EndpointError):
        await judged(FakeModel(lambda _: EndpointError("refused")))


@pytest.mark.parametrize(("sustained", "summary"), [(0, "Write it."), (10, "Write it."), (3, "")])
async def test_without_two_prompts_to_compare_nobody_is_asked(sustained: int, summary: str) -> None:
    """L = 0 adds nothing, l = M has similarity 1 by definition; without a summary it is unknown.

    Without a judge it is, too.
    """
    judge = FakeModel(lambda _: "0.5")
    record = await judged(judge, sustained, summary)
    assert (record.similarity, judge.asked) == (None, [])
    assert (asl([record]).low == asl([record]).high) == bool(summary)
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
