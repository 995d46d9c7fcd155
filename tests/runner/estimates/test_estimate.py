"""What a run will take, before it starts."""

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import pytest
from scipy.stats import binomtest

from support.fake_suite import FakeModel, FakeSuite, entry_of
from support.results import FakeModel as WrittenModel
from support.results import FakeSuite as WrittenSuite
from support.results import fake_records, write_file
from support.schedule import GRADER, ROW, Bench
from triathlon_runner.catalogue import find
from triathlon_runner.estimates import ModelEstimate, estimate, half_width
from triathlon_runner.models_yaml import Price, Registry
from triathlon_runner.noise import noise_budget
from triathlon_runner.records import UnitRecord
from triathlon_runner.schedule import PROFILES, RunPlan, choose, work_for
from triathlon_runner.suites import SuiteEntry, Task

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
    assert (found.requests, found.input_tokens, found.output_tokens) == (10, 20, 50)  # 7 characters, 5 tokens
    assert found.usd == pytest.approx(20 + 100)
    assert found.hours == pytest.approx(0.5 / 3600)
    assert "at most" in found.suites[0].cost.basis


async def test_observed_lengths(tmp_path: Path) -> None:
    """Once some units are done, the rest is expected to be like them."""
    made = bench(tmp_path)
    await made.run(limit=4)
    found = await one(made)
    assert (found.requests, found.output_tokens) == (6, 6 * 7)
    assert found.suites[0].open == 6
    assert "4 units of this model" in found.suites[0].cost.basis


async def test_other_models_lengths(tmp_path: Path) -> None:
    """A model without results is expected to be like the others."""
    made = bench(tmp_path)
    await made.run()
    made.row = made.row.model_copy(update={"id": "new"})
    found = await one(made)
    assert (found.requests, found.output_tokens) == (10, 70)
    assert "other models" in found.suites[0].cost.basis


async def test_nothing_left(tmp_path: Path) -> None:
    """A finished model takes nothing more."""
    made = bench(tmp_path)
    await made.run()
    found = await one(made)
    assert (found.requests, found.usd, found.hours) == (0, 0, 0)


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


async def noise_of(made: Bench, suite: SuiteEntry, records: Sequence[UnitRecord], samples: int) -> str:
    """What a dry run of ten tasks says where another model has these records."""
    asked = FakeSuite(suite.id, TASKS)
    entry = entry_of(asked, metrics=suite.metrics, record=suite.record)
    built = choose(entry, asked, PROFILES["standard"])
    row = made.row
    plan = RunPlan(work={row.id: work_for(Registry(models=(row,)), row, [built])})
    if records:
        written = WrittenSuite(suite, tasks=len(records) // samples, samples=samples)
        write_file(made.folder.root, "other", suite.id, records, written)
    (found,) = await estimate(plan, made.folder, GRADER)
    return found.suites[0].noise


@pytest.mark.parametrize("suite_id", ["evolved/core-seeds", "loop/core"])
async def test_repeats_of_other_models_tell_what_repeats_would_do(tmp_path: Path, suite_id: str) -> None:
    """On the scale of the suite's own score; nothing is said where nobody has repeats."""
    entry = find(suite_id)
    assert entry is not None
    headline = next(metric for metric in entry.metrics if metric.headline)
    records = list(fake_records(WrittenModel("other"), WrittenSuite(entry, tasks=40, samples=5)))
    by_task: dict[str, list[float]] = defaultdict(list)
    for record in records:
        by_task[record.task_id].append(headline.score([record]))
    budget = noise_budget(list(by_task.values()))
    assert budget is not None
    sentence = budget.sentence(maximum=headline.maximum, tasks=10)
    assert await noise_of(bench(tmp_path / "none"), entry, (), 5) == ""
    assert await noise_of(bench(tmp_path), entry, records, 5) == f"{sentence} (from 1 model with repeats)"


async def test_copies_of_one_reply_are_no_repeats(tmp_path: Path) -> None:
    """At temperature 0 the cache gives all samples of a task one reply: they say nothing of sampling."""
    entry = find("evolved/core-seeds")
    assert entry is not None
    records = list(fake_records(WrittenModel("other"), WrittenSuite(entry, tasks=10, samples=2)))
    assert await noise_of(bench(tmp_path), entry, records, samples=1) == ""  # written as asked at 0


@pytest.mark.parametrize(("tasks", "passed"), [(100, 50), (378, 189), (100, 90), (20, 0), (3, 3)])
def test_half_width(tasks: int, passed: int) -> None:
    """Wilson's interval, as scipy has it."""
    interval = binomtest(passed, tasks).proportion_ci(method="wilson")
    assert half_width(tasks, passed / tasks) == pytest.approx((interval.high - interval.low) / 2)


def test_half_width_of_nothing() -> None:
    """Without tasks nothing is known."""
    assert half_width(0) == 0.5
