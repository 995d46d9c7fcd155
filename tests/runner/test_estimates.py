"""What a run will take, before it starts."""

from pathlib import Path

import pytest
from scipy.stats import binomtest

from support.fake_suite import GRADER, FakeModel, FakeSuite
from support.schedule import ROW, Bench
from triathlon_runner.estimates import ModelEstimate, estimate, half_width
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


async def test_first_prompts_at_their_limit(tmp_path: Path) -> None:
    """Before there are results, the suite's real prompts are counted and replies taken at their limit."""
    found = await one(bench(tmp_path))
    assert (found.cost.requests, found.cost.input_tokens, found.cost.output_tokens) == (10, 20, 50)
    assert found.usd == pytest.approx(20 + 100)
    assert found.hours == pytest.approx(0.5 / 3600)
    assert "at most" in found.suites[0].cost.basis


async def test_observed_lengths(tmp_path: Path) -> None:
    """Once some units are done, the rest is expected to be like them."""
    made = bench(tmp_path)
    await made.run(limit=4)
    found = await one(made)
    assert (found.cost.requests, found.cost.output_tokens) == (6, 6 * 7)
    assert found.suites[0].open == 6
    assert "4 units of this model" in found.suites[0].cost.basis


async def test_other_models_lengths(tmp_path: Path) -> None:
    """A model without results is expected to be like the others."""
    made = bench(tmp_path)
    await made.run()
    made.row = made.row.model_copy(update={"id": "new"})
    found = await one(made)
    assert (found.cost.requests, found.cost.output_tokens) == (10, 70)
    assert "other models" in found.suites[0].cost.basis


async def test_nothing_left(tmp_path: Path) -> None:
    """A finished model takes nothing more."""
    made = bench(tmp_path)
    await made.run()
    found = await one(made)
    assert (found.cost.requests, found.usd, found.hours) == (0, 0, 0)


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


@pytest.mark.parametrize(("tasks", "passed"), [(100, 50), (378, 189), (100, 90), (20, 0), (3, 3)])
def test_half_width(tasks: int, passed: int) -> None:
    """Wilson's interval, as scipy has it."""
    interval = binomtest(passed, tasks).proportion_ci(method="wilson")
    assert half_width(tasks, passed / tasks) == pytest.approx((interval.high - interval.low) / 2)


def test_half_width_of_nothing() -> None:
    """Without tasks nothing is known."""
    assert half_width(0) == 0.5
