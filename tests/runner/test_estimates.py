"""What a run will take, before it starts."""

from dataclasses import replace
from pathlib import Path

import pytest

from support.fake_model import FakeModel
from support.fake_suite import GRADER, FakeSuite
from support.schedule import ROW, Bench
from triathlon_runner.estimates import ModelEstimate, estimate
from triathlon_runner.models_yaml import Price
from triathlon_runner.suites import Task

TASKS = [Task(str(number) * 7) for number in range(10)]


def bench(root: Path) -> Bench:
    made = Bench(root, FakeSuite(tasks=TASKS), FakeModel(lambda text: text, id="m"))
    made.row = ROW.model_copy(update={"price": Price(input=1e6, output=2e6), "speed": 100.0})
    return made


async def one(made: Bench) -> ModelEstimate:
    (found,) = await estimate(made.plan(), made.folder, GRADER)
    return found


@pytest.mark.parametrize(
    ("done", "model", "tokens", "basis"),
    [
        (0, "m", (10, 20, 50), "first prompts; at most"),
        (4, "m", (6, 60, 30), "4 units of this model"),
        (10, "new", (10, 100, 50), "10 units of 1 other model"),
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


async def test_what_a_row_leaves_open_or_limits(tmp_path: Path) -> None:
    """Unknown price and speed are unknown; a limit a minute decides; reply limits are those that are sent."""
    made = bench(tmp_path)
    priced = made.row
    made.row = ROW
    found = await one(made)
    assert (found.usd, found.hours) == (None, None) and "`speed`" in found.speed
    assert priced.api is not None
    limited = priced.api.model_copy(update={"requests_per_minute": 1})
    made.row = priced.model_copy(update={"api": limited})
    assert (await one(made)).hours == pytest.approx(10 / 60)
    made.row = priced
    api = priced.api.model_copy(update={"reasoning_max_tokens": 100})
    longer = priced.model_copy(update={"id": "longer", "max_tokens": 50, "api": api})
    made.rows = [made.row, longer]
    plan = made.plan()
    plain, long = await estimate(plan, made.folder, GRADER)
    assert (plain.cost.output_tokens, long.cost.output_tokens) == (50, 10 * 150)
    (work,) = plan.work["m"]
    copies = replace(work, built=replace(work.built, samples=4))  # at temperature 0: one reply for all four
    (found,) = await estimate(replace(plan, work={"m": [copies]}), made.folder, GRADER)
    assert (found.suites[0].open, found.cost.requests, found.usd) == (40, 10, plain.usd)


async def test_what_a_run_does_not_go_on_with_costs_nothing(tmp_path: Path) -> None:
    """Lines of other conditions, or damaged ones: nothing is asked there, and it is said why."""
    made = bench(tmp_path / "results")
    assert (await one(made)).suites[0].open == 10  # of a folder that is not there yet
    await made.run(limit=4)
    path = made.folder.lines("m", made.suite.id)
    path.write_text(path.read_text() + "garbage\n")
    suite = (await one(made)).suites[0]
    assert (suite.open, suite.cost.requests) == (0, 0) and f"{path}, line 5: expected" in suite.error
    path.write_text(path.read_text().removesuffix("garbage\n"))
    made.suite.version = 2
    suite = (await one(made)).suites[0]
    assert (suite.open, suite.cost.requests, suite.error) == (0, 0, "")
    assert "m evolved/fake holds results of another protocol" in suite.kept_apart
    assert "asked.version was 1, is 2" in suite.kept_apart and "results archive" in suite.kept_apart
