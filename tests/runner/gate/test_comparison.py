"""How pairs are counted, by clusters in a fixed order, and how often the sequential test errs."""

import random

import numpy as np
import pytest

from triathlon_runner.gate import Cluster, Comparison, SequentialTest, in_random_order

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
    called = 0
    for _ in range(400):
        discordant = draw.random(120) < 0.3
        called += run(np.where(discordant, draw.choice([-1.0, 1.0], 120), 0.0)).verdict != "undecided"
    assert called <= 400 * 0.05


@pytest.mark.parametrize(("sign", "verdict"), [(-1, "worse"), (1, "better")])
def test_a_clear_difference_is_decided_within_a_few_tasks(sign: int, verdict: str) -> None:
    """Nine discordant tasks of one sign are enough at the default level: 2^9 > 40 > 2^5."""
    test = run(np.full(30, float(sign)))
    assert test.verdict == verdict and 6 <= test.count <= 9


def test_not_worse_needs_a_margin() -> None:
    """Models that agree on every task: B is not worse by 5 points; whether at all, nobody knows."""
    assert run(np.zeros(400), margin=0.05).verdict == "not worse"
    assert run(np.zeros(400)).verdict == "undecided"


def test_a_loss_within_the_margin_is_not_worse() -> None:
    """B loses two tasks of 200; ten points are allowed."""
    differences = np.zeros(200)
    differences[[20, 60]] = -1
    test = run(differences, margin=0.1)
    assert test.verdict == "not worse" and test.mean > -0.1


def test_the_interval_holds_the_mean_at_every_look() -> None:
    """In at most 5 of 100 runs is the true mean ever outside."""
    draw = np.random.default_rng(2)
    missed = 0
    for _ in range(100):
        test = SequentialTest()
        for difference in draw.choice([-1.0, 0.0, 1.0], 60, p=[0.3, 0.5, 0.2]):
            test.add(float(difference))
        low, high = test.interval  # what was outside once stays outside
        missed += not low <= -0.1 <= high
        assert high - low < 0.8
    assert missed <= 5


def test_before_any_task_everything_is_possible() -> None:
    """The widest interval, and no mean."""
    test = SequentialTest()
    assert test.interval == (-1.0, 1.0) and np.isnan(test.mean) and test.verdict == "undecided"
