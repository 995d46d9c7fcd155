"""Item analysis: difficulty, separation, and suspect tasks, in simulated suites whose bad tasks are known."""

import math

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import pearsonr

from support.aggregates import aggregate
from triathlon_runner import catalogue
from triathlon_site.tasks import SuiteTasks, suite_tasks

(SEEDS,) = catalogue.select(["evolved/core-seeds"])
(LOOP,) = catalogue.select(["loop/core"])
(RUNTIME,) = catalogue.select(["runtime/core"])


def solved(**rows: str) -> SuiteTasks:
    """Rows of 0, 1 and - (not run) by model, a sign a task, named a, b, c and so on."""
    files = {
        model: aggregate(
            model,
            SEEDS.id,
            {"pass@1": {chr(97 + i): float(sign) for i, sign in enumerate(row) if sign != "-"}},
        )
        for model, row in rows.items()
    }
    found = suite_tasks(SEEDS, files, list(rows))
    assert found
    return found


FIVE = solved(m1="11110", m2="11100", m3="11000", m4="10010", m5="10011")


def test_the_easiest_task_is_first() -> None:
    """By mean, then by name."""
    assert [task.task for task in FIVE.tasks] == ["a", "b", "d", "c", "e"]
    assert [task.task for task in FIVE.hardest][:2] == ["e", "c"]
    assert FIVE.tasks[0].solved == 5 and FIVE.tasks[0].mean == 1.0


def test_separation_is_the_correlation_with_the_rest() -> None:
    """Pearson’s r of a task with the mean of the other tasks, as scipy has it; none where all solve it."""
    scores = np.array([[1, 1, 1, 1, 0], [1, 1, 1, 0, 0], [1, 1, 0, 0, 0], [1, 0, 0, 1, 0], [1, 0, 0, 1, 1]])
    by_task = {task.task: task for task in FIVE.tasks}
    assert math.isnan(by_task["a"].separation)
    for column, task in enumerate("bcde", start=1):
        rest = np.delete(scores, column, axis=1).mean(axis=1)
        expected = pearsonr(scores[:, column], rest).statistic
        assert math.isclose(by_task[task].separation, expected, abs_tol=1e-12)


def test_what_scores_cannot_tell_is_not_suspect() -> None:
    """A task that nobody solves may be hard or have a wrong key; two models that fail one say little."""
    found = solved(m1="110", m2="110", m3="100", m4="100", m5="000")
    assert not found.suspect and found.hardest[0].task == "c"
    found = solved(m1="10", m2="00")
    assert not found.suspect and not found.separating


def test_a_task_that_a_model_was_not_asked_does_not_count_against_it() -> None:
    """Its mean is over those who were asked."""
    (task,) = (task for task in solved(m1="1-", m2="11", m3="10").tasks if task.task == "b")
    assert (task.models, task.mean) == (2, 0.5)


def test_a_loop_suite_tells_the_loops_sustained() -> None:
    """The points of the degradation curve sum to them; the score is plain pass@1."""
    curve = ["pass_at_1", *(f"sustain_{loop}" for loop in range(2, 11))]
    metrics = {name: {"a": float(place < 4), "b": 0.0} for place, name in enumerate(curve)}
    found = suite_tasks(LOOP, {"m": aggregate("m", LOOP.id, metrics)}, ["m"])
    assert found and found.metric.id == "pass_at_1"
    assert {task.task: task.loops for task in found.tasks} == {"a": 4.0, "b": 0.0}


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


@pytest.mark.parametrize(
    ("slope", "tasks", "suites", "most"), [(0.5, 300, 10, 0), (1.5, 300, 10, 0), (0, 100, 30, 4)]
)
def test_ordinary_tasks_are_not_suspect(slope: float, tasks: int, suites: int, most: int) -> None:
    """None whose suite tells models apart, weakly or well; where chance decides, in one suite of twenty."""
    found = [simulated(seed, tasks=tasks, slope=slope) for seed in range(suites)]
    assert sum(bool(suite.suspect) for suite in found) <= most


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
