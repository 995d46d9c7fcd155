"""What a run will take, before it starts."""

from pathlib import Path

import pytest

from support.fake_suite import GRADER, FakeModel, FakeSuite
from support.schedule import ROW, Bench
from triathlon_runner.estimates import ModelEstimate, estimate
from triathlon_runner.models_yaml import Price
from triathlon_runner.suites import Task

TASKS = [Task(str(number) * 7) for number in range(10)]


def bench(root: Path) -> Bench:
    made = Bench(root, FakeSuite(tasks=TASKS), FakeModel("m", lambda text: text))
    made.row = ROW.model_copy(update={"price": Price(input=1e6, output=2e6), "speed": 100.0})
    return made


async def one(made: Bench) -> ModelEstimate:
    (found,) = await estimate(made.plan(), made.folder, GRADER)
    return found


@pytest.mark.parametrize(
    ("done", "model", "tokens", "basis"),
    [
        (0, "m", (10, 20, 50), "first prompts; at most"),
        (4, "m", (6, 0, 42), "4 units of this model"),
        (10, "new", (10, 0, 70), "10 units of 1 other model"),
        (10, "m", (0, 0, 0), "10 units of this model"),
    ],
)
async def test_what_is_left(
    tmp_path: Path, done: int, model: str, tokens: tuple[int, int, int], basis: str
) -> None:
    """By this model's own results, else by those of others, else by the real prompts and the token limit."""
    made = bench(tmp_path)
    if done:
        await made.run(limit=done)
    made.row = made.row.model_copy(update={"id": model})
    found = await one(made)
    assert (found.cost.requests, found.cost.input_tokens, found.cost.output_tokens) == tokens
    assert found.usd == pytest.approx(tokens[1] + 2 * tokens[2])
    assert found.hours == pytest.approx(tokens[2] / 100 / 3600)
    assert found.suites[0].open == tokens[0] and found.suites[0].cost.basis == basis


async def test_unknown_price_and_speed(tmp_path: Path) -> None:
    """What is not known is said to be unknown, with what to do."""
    made = bench(tmp_path)
    made.row = ROW
    found = await one(made)
    assert (found.usd, found.hours) == (None, None)
    assert "`speed`" in found.speed


async def test_limits_a_minute_are_time(tmp_path: Path) -> None:
    """A provider's limit a minute is slower than the speed, and decides."""
    made = bench(tmp_path)
    assert made.row.api is not None
    limited = made.row.api.model_copy(update={"requests_per_minute": 1})
    made.row = made.row.model_copy(update={"api": limited})
    assert (await one(made)).hours == pytest.approx(10 / 60)


async def test_the_row_s_token_limits_count(tmp_path: Path) -> None:
    """Replies are taken at the limit that is sent: the row's own, with what it adds for reasoning."""
    made = bench(tmp_path)
    assert made.row.api is not None
    api = made.row.api.model_copy(update={"reasoning_max_tokens": 100})
    longer = made.row.model_copy(update={"id": "longer", "max_tokens": 50, "api": api})
    made.rows = [made.row, longer]
    plain, long = await estimate(made.plan(), made.folder, GRADER)
    assert (plain.cost.output_tokens, long.cost.output_tokens) == (50, 10 * 150)
