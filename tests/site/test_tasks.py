"""Tasks by ease and separation; noise budgets of several samples a task."""

import math
from dataclasses import replace
from itertools import cycle
from statistics import mean

import numpy as np
import pytest
from scipy.stats import pearsonr

from support.aggregates import aggregate
from support.results import fake_manifest
from triathlon_runner import catalogue
from triathlon_runner.catalogue import BUILT_IN
from triathlon_site.load import FileAggregate
from triathlon_site.tasks import NoiseBudget, SuiteTasks, noise_budget, score_noise, suite_tasks

(SEEDS,) = catalogue.select(["evolved/core-seeds"])
(LOOP,) = catalogue.select(["loop/core"])


def solved(**rows: str) -> SuiteTasks:
    """Rows of 0, 1 and - (not run) by model, a sign a task, named a, b, c and so on."""
    files = {}
    for model, row in rows.items():
        scores = {chr(97 + place): float(sign) for place, sign in enumerate(row) if sign != "-"}
        files[model] = aggregate(model, SEEDS.id, {"pass@1": scores})
    found = suite_tasks(SEEDS, files, list(rows))
    assert found
    return found


FIVE = solved(m1="11110", m2="11100", m3="11000", m4="10010", m5="10011")


def test_tasks_by_ease_and_separation() -> None:
    """The easiest first. Separation is Pearson’s r with the mean of the others, over five models or more."""
    assert [task.task for task in FIVE.tasks] == ["a", "b", "d", "c", "e"]
    assert (FIVE.tasks[0].solved, FIVE.tasks[0].mean) == (5, 1.0)
    scores = np.array([[1, 1, 1, 1, 0], [1, 1, 1, 0, 0], [1, 1, 0, 0, 0], [1, 0, 0, 1, 0], [1, 0, 0, 1, 1]])
    by_task = {task.task: task for task in FIVE.tasks}
    assert math.isnan(by_task["a"].separation)
    for column, task in enumerate("bcde", start=1):
        rest = np.delete(scores, column, axis=1).mean(axis=1)
        assert by_task[task].separation == pytest.approx(pearsonr(scores[:, column], rest).statistic)
    (one_b,) = (one for one in solved(m1="1-", m2="11", m3="10").tasks if one.task == "b")
    assert (one_b.models, one_b.mean) == (2, 0.5) and math.isnan(one_b.separation)
    of_five = {"m1": "1111", "m2": "1110", "m3": "1100", "m4": "1000", "m5": "0010"}
    one, two = solved(**of_five), solved(**of_five, m6="---1")
    assert [task.separation for task in one.tasks] == [task.separation for task in two.tasks]
    assert not math.isnan(two.tasks[0].separation)


def test_a_loop_suite_tells_the_loops_sustained() -> None:
    """Their own metric has them; the score is plain pass@1."""
    curve = ["pass_at_1", *(f"sustain_{loop}" for loop in range(2, 11))]
    metrics = {name: {"a": float(place < 4), "b": 0.0} for place, name in enumerate(curve)}
    metrics["loops"] = {"a": 4.0, "b": 0.0}
    found = suite_tasks(LOOP, {"m": aggregate("m", LOOP.id, metrics)}, ["m"])
    assert found and found.metric.id == "pass_at_1"
    assert {task.task: task.loops for task in found.tasks} == {"a": 4.0, "b": 0.0}


def repeated(model: str, solved: list[int]) -> FileAggregate:
    """Tasks with four samples each, of which so many passed."""
    outcomes = [[1.0] * count + [0.0] * (4 - count) for count in solved]
    values = [value for own in outcomes for value in own]
    numerators = {f"task {place}": sum(own) / 4 for place, own in enumerate(outcomes)}
    file = aggregate(model, SEEDS.id, {"pass@1": numerators}, outcomes={"passed": len(values)})
    task = [f"task {place // 4}" for place in range(len(values))]
    return replace(file, columns=replace(file.columns, task=task, scores={"pass@1": np.array(values)}))


def test_budgets_are_those_of_the_samples() -> None:
    """The headline's value of each sample, task by task; none of one, or of copies at temperature 0."""
    files = [repeated("a", [4, 0, 4, 0]), repeated("b", [2, 2, 2, 2]), repeated("c", [4, 2, 0, 1])]
    alone = aggregate("d", SEEDS.id, {"pass@1": {"task 0": 1.0}})
    found = score_noise([*files, alone], BUILT_IN)
    assert [(one.model, one.metric) for one in found] == [(name, "pass@1") for name in "abc"]
    assert found[2].budget == noise_budget([[1, 1, 1, 1], [1, 1, 0, 0], [0] * 4, [1, 0, 0, 0]])
    greedy = fake_manifest("a", SEEDS.id, [])
    assert score_noise([replace(files[0], manifest=greedy)], BUILT_IN) == []
    warm = greedy.model_copy(update={"settings": {"asked": {"temperature": 0.7}}})
    unset = greedy.model_copy(update={"identity": {"unsupported": ["temperature"]}})
    for manifest in (warm, unset):
        changed = [replace(files[0], manifest=manifest)]
        assert score_noise(changed, BUILT_IN) == score_noise(files[:1], BUILT_IN)


@pytest.mark.parametrize("sizes", [(10,), (2,), (1, 3, 8)])
def test_both_parts_are_recovered(sizes: tuple[int, ...]) -> None:
    """The mean of each estimate is the true variance, on 300 made-up experiments: tasks whose chance of being
    solved is drawn from a Beta distribution, with Bernoulli samples.
    """
    a, b = 1.0, 0.5
    between = a * b / ((a + b) ** 2 * (a + b + 1))
    within = a * b / ((a + b) * (a + b + 1))
    random = np.random.default_rng(1)
    found = []
    for _ in range(300):
        chances = zip(random.beta(a, b, 60), cycle(sizes))
        found.append(noise_budget([list(random.binomial(1, chance, size)) for chance, size in chances]))
    assert mean(one.between for one in found if one) == pytest.approx(between, rel=0.05)
    assert mean(one.within for one in found if one) == pytest.approx(within, rel=0.05)


def test_a_worked_example() -> None:
    """By hand: MSW 1/6, MSB 1/2, so W = B = 1/6; W is nothing or all where samples or tasks are alike."""
    budget = noise_budget([[1, 1], [1, 0], [0, 0]])
    assert budget is not None and (budget.within, budget.between) == pytest.approx((1 / 6, 1 / 6))
    assert [noise_budget(samples) for samples in ([[1], [0], [1]], [[1, 0, 1]], [])] == [None] * 3
    certain, alike = noise_budget([[1, 1, 1], [0, 0, 0]]), noise_budget([[1, 0]] * 50)
    assert certain and certain.sampling_share == 0 and certain.half_width(2, 1) == certain.half_width(2, 9)
    assert alike and (alike.between, alike.sampling_share) == (0, 1)
    budget = NoiseBudget(tasks=100, samples=3, between=0.15, within=0.10)
    assert budget.sentence() == "3 repeats narrow ±9.8 to ±8.4; 100 more tasks to ±6.9"
