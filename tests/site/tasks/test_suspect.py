"""Suspect tasks: simulated suites whose bad tasks are known."""

import numpy as np
import pytest
from numpy.typing import NDArray

from support.aggregates import aggregate
from triathlon_runner import catalogue
from triathlon_site.tasks import SuiteTasks, suite_tasks

(SEEDS,) = catalogue.select(["evolved/core-seeds"])
MODELS = 24


def simulated(seed: int, *, tasks: int, slope: float, reversed_tasks: int = 0) -> SuiteTasks:
    """A suite of a logistic model; with `slope` 0 no task tells models apart. The first ones are reversed."""
    random = np.random.default_rng(seed)
    slopes = np.where(np.arange(tasks) < reversed_tasks, -3.0, slope)
    ability, difficulty = random.normal(size=(MODELS, 1)), random.normal(0, 1.5, size=tasks)
    difficulty[:reversed_tasks] = 0
    chance = 1 / (1 + np.exp(-slopes * ability + difficulty))
    solved: NDArray[np.bool_] = random.random((MODELS, tasks)) < chance
    files = {
        f"m{place}": aggregate(
            f"m{place}", SEEDS.id, {"pass@1": {f"t{task:03}": float(one) for task, one in enumerate(row)}}
        )
        for place, row in enumerate(solved)
    }
    found = suite_tasks(SEEDS, files, list(files))
    assert found
    return found


def test_ordinary_tasks_are_not_suspect() -> None:
    """Of 20 suites of 300 tasks that tell models apart, weakly or well, none has a suspect task."""
    for slope in (0.5, 1.5):
        assert not [task for seed in range(10) for task in simulated(seed, tasks=300, slope=slope).suspect]


def test_tasks_that_only_chance_decides_are_seldom_suspect() -> None:
    """Where no task tells models apart, few of 30 suites have a suspect one: one in twenty on average."""
    suites = [simulated(seed, tasks=100, slope=0.0) for seed in range(30)]
    assert sum(bool(suite.suspect) for suite in suites) <= 4


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_tasks_that_weaker_models_do_better_on_are_found(seed: int) -> None:
    """Of five reversed tasks among 300 most are suspect, and at most one other is."""
    found = {task.task for task in simulated(seed, tasks=300, slope=1.5, reversed_tasks=5).suspect}
    bad = {f"t{task:03}" for task in range(5)}
    assert len(found & bad) >= 3 and len(found - bad) <= 1


def test_models_that_were_not_asked_do_not_count() -> None:
    """A reversed task that half of the models have is judged by that half, and the same at every build."""
    files = {}
    for place in range(MODELS):
        scores = {f"t{task:02}": float(task < place) for task in range(MODELS)}
        if place % 2:
            scores["bad"] = float(place < MODELS / 2)
        files[f"m{place:02}"] = aggregate(f"m{place:02}", SEEDS.id, {"pass@1": scores})
    first, second = (suite_tasks(SEEDS, files, list(files)) for _ in range(2))
    assert first and second and first.suspect == second.suspect
    assert [task.task for task in first.suspect] == ["bad"] and first.suspect[0].models == MODELS // 2
