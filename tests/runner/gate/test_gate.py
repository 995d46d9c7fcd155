"""How pairs are counted, how often the sequential test errs, and how far a gate asks ahead."""

import asyncio
import random
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from support.fake_model import FakeModel
from support.fake_suite import FakeSuite, entry_of
from support.hashes import hashes
from support.schedule import ROW, Bench
from triathlon_runner.gate import AHEAD, Cluster, Comparison, GatePace, SequentialTest, in_random_order
from triathlon_runner.gate._plan import plan_comparison
from triathlon_runner.records import Outcome, UnitRecord
from triathlon_runner.schedule import Control, RunPlan, Work
from triathlon_runner.suites import Task

SUITE = "evolved/fake"


def clusters(*sizes: int) -> list[Cluster]:
    return [tuple((SUITE, f"c{number}/{task}") for task in range(size)) for number, size in enumerate(sizes)]


def of(population: Sequence[Cluster], margin: float = 0.0) -> Comparison:
    return Comparison(population, population, ("a", "b"), margin=margin)


def add_all(comparison: Comparison, population: Sequence[Cluster], baseline: float, candidate: float) -> None:
    for cluster in population:
        for task in cluster:
            comparison.add("a", task, baseline)
            comparison.add("b", task, candidate)


def test_the_order_of_arrival_changes_nothing() -> None:
    """Scores that come in any order give the same verdict after the same clusters: slow replies wait."""
    population = clusters(*[1] * 60)
    scores = [
        (model, cluster[0], float(model == "a" or number % 4 == 0))
        for number, cluster in enumerate(population)
        for model in ("a", "b")
    ]
    found = set()
    for seed in range(5):
        comparison = of(population)
        for model, task, score in random.Random(seed).sample(scores, len(scores)):
            comparison.add(model, task, score)
        found.add((comparison.verdict, len(comparison.compared), comparison.difference))
    ((verdict, tasks, _),) = found
    assert verdict == "worse" and tasks < 60


def test_the_difference_is_a_mean_over_tasks() -> None:
    """Clusters of unequal sizes, each one observation: the difference is that of the tasks' means."""
    population = clusters(4, 1, 1)
    comparison = of(population)
    add_all(comparison, population[:1], 1.0, 0.5)
    add_all(comparison, population[1:], 0.0, 0.25)
    low, high = comparison.interval
    assert low <= comparison.difference <= high
    assert comparison.difference == pytest.approx((4 * -0.5 + 2 * 0.25) / 6)
    assert (comparison.clusters, len(comparison.lost()), comparison.won()) == (3, 4, 2)


def test_a_cluster_with_an_open_task_does_not_count() -> None:
    """A server's failure is no answer: the cluster is left out, and those behind it are compared."""
    population = clusters(2, 1)
    comparison = of(population)
    comparison.add("a", population[0][0], None)
    add_all(comparison, [population[0][1:]], 1.0, 0.0)
    comparison.add("b", population[0][0], 0.0)
    add_all(comparison, population[1:], 1.0, 0.0)
    assert (comparison.left_out, comparison.clusters) == (1, 1)
    assert [loss.task_id for loss in comparison.lost()] == ["c1/0"]


def test_the_margin_is_one_of_the_mean_over_tasks() -> None:
    """A loss of 0.1 a task is worse at margin 0 and not worse at margin 0.3, whatever the clusters' sizes."""
    population = in_random_order(clusters(*[3, 1] * 300), seed=1)
    for margin, verdict in ((0.0, "worse"), (0.3, "not worse")):
        comparison = of(population, margin)
        add_all(comparison, population, 0.6, 0.5)
        assert comparison.verdict == verdict


def run(differences: np.ndarray, **options: float) -> SequentialTest:
    test = SequentialTest(**options)
    for difference in differences:
        test.add(float(difference))
        if test.verdict != "undecided":
            break
    return test


def test_equal_models_are_rarely_called_different() -> None:
    """At most 5 % of 400 pairs of equal models get a verdict, though one looks after every task."""
    draw = np.random.default_rng(1)
    pairs = [np.where(draw.random(120) < 0.3, draw.choice([-1.0, 1.0], 120), 0.0) for _ in range(400)]
    assert sum(run(differences).verdict != "undecided" for differences in pairs) <= 400 * 0.05


@pytest.mark.parametrize(
    ("differences", "margin", "verdict", "most"),
    [
        ([-1.0] * 30, 0.0, "worse", 9),
        ([1.0] * 30, 0.0, "better", 9),
        ([0.0] * 400, 0.05, "not worse", 400),
        ([0.0] * 400, 0.0, "undecided", 400),
        ([float(-(number in (20, 60))) for number in range(200)], 0.1, "not worse", 200),
    ],
    ids=["worse", "better", "equal, with a margin", "equal", "loss within the margin"],
)
def test_what_differences_show(differences: list[float], margin: float, verdict: str, most: int) -> None:
    """Nine of one sign are enough at the default level, 2^9 > 40 > 2^5; "not worse" needs a margin."""
    test = run(np.array(differences), margin=margin)
    assert test.verdict == verdict and 6 <= test.count <= most


def test_the_interval_holds_the_mean_at_every_look() -> None:
    """In at most 5 of 100 runs is the true mean ever outside; before any task everything is possible."""
    draw = np.random.default_rng(2)
    missed = 0
    for _ in range(100):
        test = SequentialTest()
        assert test.interval == (-1.0, 1.0) and np.isnan(test.mean) and test.verdict == "undecided"
        for difference in draw.choice([-1.0, 0.0, 1.0], 60, p=[0.3, 0.5, 0.2]):
            test.add(float(difference))
        low, high = test.interval  # what was outside once stays outside
        missed += not low <= -0.1 <= high
        assert high - low < 0.8
    assert missed <= 5


COUNT = 60


class Gate:
    """A pace over single tasks of the models a and b; `served`: those that we start a server for."""

    def __init__(self, *served: str) -> None:
        self.comparison = of([((SUITE, f"{number}"),) for number in range(COUNT)])
        self.control = Control()
        built = SimpleNamespace(entry=entry_of(FakeSuite(SUITE)))
        plan = RunPlan()
        for model in ("a", "b"):
            row = SimpleNamespace(id=model, serve="vllm" if model in served else None)
            plan.work[model] = [cast(Work, SimpleNamespace(row=row, suite_id=SUITE, built=built))]
        self.pace = GatePace(self.comparison, plan, self.control)

    def finish(self, model: str, number: int, outcome: Outcome = Outcome.PASSED) -> None:
        record = UnitRecord(
            suite=SUITE, model=model, task_id=f"{number}", sample=0, protocol=hashes("p"), outcome=outcome
        )
        self.pace.finished(model, SUITE, (f"{number}", 0), record)

    def wait(self, group: asyncio.TaskGroup, model: str) -> list[asyncio.Task[None]]:
        """A task for each unit, which is done once that may be asked."""
        ready = self.pace.ready
        return [group.create_task(ready(model, SUITE, (f"{number}", 0))) for number in range(COUNT)]


async def begun(tasks: list[asyncio.Task[None]]) -> int:
    """How many may begin, once everything that can go on has gone on."""
    for _ in range(5):
        await asyncio.sleep(0)
    return sum(task.done() for task in tasks)


async def test_neither_model_is_asked_far_ahead() -> None:
    """Each cluster that both have finished lets one more begin; once it is decided none does, or waits."""
    gate = Gate()
    async with asyncio.TaskGroup() as group:
        first, second = gate.wait(group, "a"), gate.wait(group, "b")
        assert await begun(first) == await begun(second) == AHEAD
        for number in range(3):
            gate.finish("a", number)
        assert await begun(first) == AHEAD
        for number in range(3):
            gate.finish("b", number)
        assert await begun(first) == await begun(second) == AHEAD + 3
        for number in range(3, COUNT):
            if not gate.control.stopped:
                gate.finish("a", number)
                gate.finish("b", number, Outcome.FAILED)
        assert gate.comparison.verdict == "worse" and len(gate.comparison.compared) < COUNT
        assert await begun(first) == await begun(second) == COUNT, "none of them waits any longer"
    assert not gate.control.may_send()


async def test_a_served_model_does_not_wait_for_one_that_waits_for_its_place() -> None:
    """Where both do not fit on the machine, the first is asked all, and the second only what it takes."""
    gate = Gate("a", "b")
    async with asyncio.TaskGroup() as group:
        assert await begun(gate.wait(group, "a")) == COUNT
        for number in range(COUNT):
            gate.finish("a", number)
        gate.pace.ended("a")
        assert not gate.control.stopped
        assert await begun(gate.wait(group, "b")) == AHEAD
        gate.control.stop("the test is over")


async def test_the_run_stops_where_one_model_ends_early() -> None:
    """Answers of the other one would have no pair. What a stop interrupts is no failure of its cluster."""
    gate = Gate()
    gate.finish("a", 0)
    gate.pace.ended("a")
    assert gate.control.stopped and "a is not asked any more" in gate.control.stopped
    gate.pace.finished("a", SUITE, ("1", 0), None)
    gate.finish("b", 0)
    gate.finish("b", 1)
    assert gate.comparison.left_out == 0


@pytest.mark.parametrize("fault", ["locked", "damaged", "other weights"])
async def test_a_gate_ends_where_a_file_cannot_be_used(tmp_path: Path, fault: str) -> None:
    """The other model waits for no answer that nobody will ask for; the report says what is wrong."""
    first, second = (FakeSuite(f"evolved/{name}", [Task(f"{name}{n}") for n in range(20)]) for name in "ab")
    bench = Bench(tmp_path, first, FakeModel(str, id="m"), ROW.model_copy(update={"id": "other"}))
    bench.opener.weights = "before"
    await bench.run(limit=1)
    bench.rows, bench.finished_suites, bench.suite = [ROW, bench.row], [first], second
    plan = bench.plan()
    options: Any = {"seed": 1, "max_tasks": None, "margin": 0, "alpha": 0.05}
    compared = plan_comparison(plan, ("m", "other"), bench.folder, **options)
    plan.pace = GatePace(compared, plan, bench.control)
    bench.plan = lambda limit=None: plan  # type: ignore[method-assign]
    if fault == "damaged":
        bench.folder.manifest("other", first.id).write_text("{")
    bench.opener.weights = fault
    with bench.folder.locked("other") if fault == "locked" else nullcontext():
        summary = await asyncio.wait_for(bench.run(), 20)
    assert summary.stopped == "other is not asked any more" and (summary.errors or summary.other_protocol)
