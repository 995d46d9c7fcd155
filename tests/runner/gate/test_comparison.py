"""How pairs are counted: by clusters, in the fixed order, whatever comes first."""

import random

import pytest

from triathlon_runner.gate import Cluster, Comparison, in_random_order

MODELS = ("a", "b")
SUITE = "evolved/core-seeds"


def clusters(*sizes: int) -> list[Cluster]:
    return [
        Cluster(f"c{number}", tuple((SUITE, f"c{number}/{task}") for task in range(size)))
        for number, size in enumerate(sizes)
    ]


def add_all(comparison: Comparison, population: list[Cluster], baseline: float, candidate: float) -> None:
    for cluster in population:
        for task in cluster.tasks:
            comparison.add("a", task, baseline)
            comparison.add("b", task, candidate)


def test_the_order_of_arrival_changes_nothing() -> None:
    """Scores that come in any order give the same verdict after the same clusters: slow replies wait."""
    population = clusters(*[1] * 60)
    scores = [
        (model, cluster.tasks[0], float(model == "a" or number % 4 == 0))
        for number, cluster in enumerate(population)
        for model in MODELS
    ]
    found = set()
    for seed in range(5):
        comparison = Comparison(population, population, MODELS)
        for model, task, score in random.Random(seed).sample(scores, len(scores)):
            comparison.add(model, task, score)
        found.add((comparison.verdict, comparison.tasks, comparison.difference))
    assert len(found) == 1
    ((verdict, tasks, _),) = found
    assert verdict == "worse" and tasks < 60


def test_the_difference_is_a_mean_over_tasks() -> None:
    """Clusters of unequal sizes: all of them compared, the difference is that of the tasks' means."""
    population = clusters(4, 1, 1)
    comparison = Comparison(population, population, MODELS)
    add_all(comparison, population[:1], 1.0, 0.5)
    add_all(comparison, population[1:], 0.0, 0.25)
    assert comparison.difference == pytest.approx((4 * -0.5 + 2 * 0.25) / 6)
    low, high = comparison.interval
    assert low <= comparison.difference <= high
    assert (len(comparison.lost()), comparison.won()) == (4, 2)


def test_a_cluster_with_an_open_task_does_not_count() -> None:
    """A server's failure is no answer: the cluster is left out, and those behind it are compared."""
    population = clusters(2, 1)
    comparison = Comparison(population, population, MODELS)
    comparison.add("a", population[0].tasks[0], None)
    add_all(comparison, [Cluster("rest", population[0].tasks[1:])], 1.0, 0.0)
    comparison.add("b", population[0].tasks[0], 0.0)
    add_all(comparison, population[1:], 1.0, 0.0)
    assert (comparison.left_out, comparison.clusters, comparison.tasks) == (1, 1, 1)
    assert [loss.task_id for loss in comparison.lost()] == ["c1/0"]


def test_large_clusters_weigh_as_one_observation() -> None:
    """Eight tasks of one seed are no eight independent tasks: more of them are needed for a verdict."""

    def tasks_needed(sizes: list[int]) -> int:
        population = clusters(*sizes)
        comparison = Comparison(population, population, MODELS)
        add_all(comparison, population, 1.0, 0.2)
        assert comparison.verdict == "worse"
        return comparison.tasks

    assert tasks_needed([8] * 40) == 8 * tasks_needed([1] * 40)


def test_the_margin_is_one_of_the_mean_over_tasks() -> None:
    """A loss of 0.1 a task is worse at margin 0 and not worse at margin 0.3, whatever the clusters' sizes."""
    population = in_random_order(clusters(*[3, 1] * 300), seed=1)
    verdicts = []
    for margin in (0.0, 0.3):
        comparison = Comparison(population, population, MODELS, margin=margin)
        add_all(comparison, list(population), 0.6, 0.5)
        verdicts.append(comparison.verdict)
    assert verdicts == ["worse", "not worse"]


def test_nothing_is_counted_after_the_verdict() -> None:
    """What was in flight when the test was decided changes neither its numbers nor what was lost."""
    population = clusters(*[1] * 50)
    comparison = Comparison(population, population, MODELS)
    add_all(comparison, population[:30], 1.0, 0.0)
    before = (comparison.verdict, comparison.tasks, len(comparison.lost()))
    assert comparison.decided and comparison.tasks < 30
    add_all(comparison, population[30:], 0.0, 1.0)
    assert (comparison.verdict, comparison.tasks, len(comparison.lost())) == before
