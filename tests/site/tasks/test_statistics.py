"""Item analysis: difficulty and separation."""

import math

import numpy as np
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


def test_a_task_that_nobody_solves_is_not_suspect() -> None:
    """It is hard or its key is wrong: scores cannot tell which."""
    found = solved(m1="110", m2="110", m3="100", m4="100", m5="000")
    assert not found.suspect and found.hardest[0].task == "c"


def test_few_models_make_nothing_suspect() -> None:
    """Two models that fail a task say little about it."""
    found = solved(m1="10", m2="00")
    assert not found.suspect and not found.separating


def test_a_task_that_a_model_was_not_asked_does_not_count_against_it() -> None:
    """Its mean is over those who were asked."""
    found = solved(m1="1-", m2="11", m3="10")
    by_task = {task.task: task for task in found.tasks}
    assert by_task["b"].models == 2 and by_task["b"].mean == 0.5


def test_a_loop_suite_tells_the_loops_sustained() -> None:
    """The points of the degradation curve sum to them; the score is plain pass@1."""
    curve = ["pass_at_1", *(f"sustain_{loop}" for loop in range(2, 11))]
    metrics = {name: {"a": float(place < 4), "b": 0.0} for place, name in enumerate(curve)}
    found = suite_tasks(LOOP, {"m": aggregate("m", LOOP.id, metrics)}, ["m"])
    assert found and found.metric.id == "pass_at_1"
    assert {task.task: task.loops for task in found.tasks} == {"a": 4.0, "b": 0.0}
