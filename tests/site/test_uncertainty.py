"""The bootstrap over tasks: intervals, differences, and the ranks and tiers that follow; the frontier."""

import math
import runpy
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import beta, binomtest, kstest, norm, rankdata
from scipy.stats import t as student

from support.case_files import rows
from triathlon_site import ranking
from triathlon_site.agreement import correlations
from triathlon_site.uncertainty import (
    LEVEL,
    Interval,
    Sample,
    differences,
    draw,
    mean_scores,
    paired_difference,
    paired_p_values,
    ratio_interval,
    score_intervals,
    share_interval,
    task_weights,
)


def sample_of(results: Mapping[str, Sequence[float]], suite: str = "evolved/core-seeds") -> Sample:
    """One score a task and model; nan where a model has no result. Each task is a problem of its own."""
    values = np.array(list(results.values()), dtype=float)
    known = ~np.isnan(values)
    clusters = tuple(f"{suite}/{index:03d}" for index in range(values.shape[1]))
    numerators, weights = np.where(known, values, 0.0), known.astype(float)
    return Sample(suite, tuple(results), clusters, numerators, weights, 1.0, 1.0, ())


@pytest.mark.parametrize(("passed", "tasks"), [(0, 2), (0, 10), (3, 10), (10, 10), (60, 164), (378, 378)])
def test_interval_of_pass_at_1_is_of_two_beta_distributions(passed: int, tasks: int) -> None:
    """Half way from Jeffreys' interval to that of Clopper and Pearson, whatever the seeds are called."""
    sample = sample_of({"m": [1.0] * passed + [0.0] * (tasks - passed)}, suite=f"evolved/of-{passed}")
    named = replace(sample, seeds=tuple((f"a {place}", f"b {place}") for place in range(tasks)))
    (found,), again = score_intervals([sample]), score_intervals([named])
    assert [(one.low, one.high) for one in again] == [pytest.approx((found.low, found.high))]
    low = 0.0 if passed == 0 else float(beta.ppf(0.025, passed + 0.25, tasks - passed + 0.75))
    high = 1.0 if passed == tasks else float(beta.ppf(0.975, passed + 0.75, tasks - passed + 0.25))
    assert (found.low, found.high) == pytest.approx((low, high))
    exact = share_interval(passed, tasks)
    assert (exact.low, exact.high) == pytest.approx((low, high))


def test_an_interval_follows_the_spread_that_was_seen() -> None:
    """Narrow of tasks that are all near 10 %, wider where tasks end alike that have a seed in common."""
    shares = list(np.tile([0.06, 0.08, 0.1, 0.12, 0.14], 16))
    (near,) = score_intervals([sample_of({"m": shares})])
    passes = share_interval(8, 80)
    assert near.high - near.low < 0.2 * (passes.high - passes.low)
    assert 0.5 < (near.high - 0.1) / (0.1 - near.low) < 2
    values = [float(place < 16) for place in range(40)]
    alone = sample_of({"m": values, "none": [0.0] * 40})
    related = replace(alone, seeds=tuple((f"seed {place // 4}",) for place in range(40)))
    ends = [(f"seed {place // 4}", f"own {place}")[:: (1, -1)[place % 2]] for place in range(40)]
    two = replace(alone, seeds=tuple(ends))  # in the whole as much in common as those of one seed
    samples = alone, related, two
    scores = [(found.low, found.high) for sample in samples for found in score_intervals([sample])[:1]]
    pairs = [(found.low[0, 1], found.high[0, 1]) for found in (differences((sample,)) for sample in samples)]
    for one, other, either in (scores, pairs):
        assert either[0] < one[0] and either[1] > one[1]
        assert other[1] - other[0] == pytest.approx(either[1] - either[0], rel=0.15)


def test_an_interval_of_uneven_tasks_has_every_correction() -> None:
    """Student's t, the farthest seed, few seeds from an end, skewness: as much as simulations need."""
    uneven, alone = sample_of({"m": [0.0, 0.1, 0.1, 0.2, 0.2, 0.3, 0.4, 0.9]}), sample_of({"m": [0.4]})
    pairs = replace(uneven, seeds=tuple((str(place // 2),) for place in range(8)))
    for sample, ends in ((uneven, (0.0827, 0.6327)), (pairs, (0.0176, 0.7695)), (alone, (0.0064, 0.974))):
        (found,) = score_intervals([sample])
        assert (found.low, found.high) == pytest.approx(ends, abs=1e-4)


def test_ranges_differ_by_their_middles() -> None:
    """As models are ordered: one known as 3.3 to 3.7 stands above one with 3.4, so it is no 0.1 below it."""
    lower = sample_of({"range": [0.3, 0.36] * 20, "judged": [0.34] * 40})
    upper = sample_of({"range": [0.34, 0.4] * 20, "judged": [0.34] * 40})
    found = differences((lower,), (upper,)).of(0, 1)
    assert found and found.value == pytest.approx(0.01)
    assert found.interval.low < -0.01 and found.interval.high > 0.03 and not found.sure


def test_a_seed_has_one_weight_wherever_its_tasks_stand() -> None:
    """Each is standard exponential; tasks of one seed share it, one of two seeds shares half with each."""
    weights = task_weights((("a",), ("b",), ("a",), ("a", "b"), ("c",), ("d", "a")), 20_000)
    elsewhere = task_weights((("b",),), 20_000)
    assert np.array_equal(weights[:, 0], weights[:, 2]) and np.array_equal(weights[:, 1], elsewhere[:, 0])
    for column in weights.T:
        assert kstest(column, "expon").pvalue > 0.001
    correlations = np.atleast_2d(np.corrcoef(weights.T))
    assert correlations[3, [0, 1, 5]] == pytest.approx([0.5, 0.5, 0.5], abs=0.03)
    assert correlations[4, :4] == pytest.approx([0] * 4, abs=0.03)


def test_draws_of_equal_models_and_of_models_without_tasks() -> None:
    """The same verdicts get the same task weights; one that has no result disturbs no other model."""
    outcomes = list(np.tile([1.0, 0.0, 1.0], 100))
    sample = sample_of({"a": outcomes, "b": outcomes, "c": [np.nan] * 300})
    draws = draw(sample)
    assert np.corrcoef(draws[:, 0], draws[:, 1])[0, 1] > 0.98
    assert np.isnan(draws[:, 2]).all() and not np.isnan(draws[:, :2]).any()
    assert np.isnan(sample.scores()[2])


def test_what_is_equal_on_shared_tasks_does_not_differ() -> None:
    """No difference is claimed, give or take the noise of the draws; without a shared task there is none."""
    nan = math.nan
    for a, b, shared in (
        ([1.0, 0.0, 1.0, 1.0] * 20, [1.0, 0.0, 1.0, 1.0] * 20, True),
        ([1.0] * 20 + [0.0] * 20, [1.0] * 20 + [nan] * 20, True),
        ([1.0, 1.0, nan, nan], [nan, nan, 0.0, 0.0], False),
    ):
        sample = sample_of({"a": a, "b": b})
        assert paired_p_values((sample,))[0, 1] > 0.9
        assert (paired_difference(sample, 0, 1) is not None) is shared


def test_p_values_are_near_those_of_the_sign_test() -> None:
    """Of 60 disputed tasks of 300; of k tasks that one model wins, the mid-p value, 2^-k."""
    for tasks in (3, 5, 8):
        sample = sample_of({"a": [1.0] * tasks, "b": [0.0] * tasks})
        assert paired_p_values((sample,), draws=40_000)[0, 1] == pytest.approx(2.0**-tasks, rel=0.15)
    sample = sample_of({"a": [1.0] * 42 + [0.0] * 18 + [1.0] * 240, "b": [0.0] * 42 + [1.0] * 258})
    found = paired_p_values((sample,))
    assert found[1, 0] == 1, "the other is not the better one"
    exact = binomtest(42, 60).pvalue
    assert exact / 3 < found[0, 1] < exact * 3


def test_an_interval_leaves_out_zero_where_its_p_value_is_small() -> None:
    """Differences, tiers and ranks say the same: they come from one distribution."""
    random = np.random.default_rng(4)
    strength = random.random(30)
    sample = sample_of({str(i): list((random.random(50) < p).astype(float)) for i, p in enumerate(strength)})
    better, p_values = differences((sample,)).better, paired_p_values((sample,))
    assert np.array_equal(better, p_values < 1 - LEVEL) and 100 < better.sum() < 400


@pytest.mark.parametrize(("won", "lost", "both"), [(10, 3, 60), (0, 4, 36), (30, 12, 336), (5, 5, 90)])
def test_a_difference_has_the_interval_of_bonett_and_price(won: int, lost: int, both: int) -> None:
    """Their equation 3, to a hundredth: a pair is added to either side."""
    a, b = [1.0] * won + [0.0] * lost + [1.0] * both, [0.0] * won + [1.0] * lost + [1.0] * both
    found = paired_difference(sample_of({"a": a, "b": b}), 0, 1, draws=20_000)
    n = won + lost + both + 2
    first, second = (won + 1) / n, (lost + 1) / n
    half = norm.ppf(0.975) * np.sqrt((first + second - (first - second) ** 2) / n)
    ends = first - second - half, first - second + half
    assert found and (found.interval.low, found.interval.high) == pytest.approx(ends, abs=0.012)


def test_differences_of_ranges_hold_every_score_that_is_possible() -> None:
    """Two models between 0.4 and 0.6 each: the difference may be anything from -0.2 to 0.2 and the noise."""
    low, high = (sample_of({"a": [value] * 50, "b": [value] * 50}) for value in (0.4, 0.6))
    found, exact = differences((low,), (high,)).of(0, 1), differences((low,)).of(0, 1)
    assert found and exact
    assert found.interval.low < -0.19 and found.interval.high > 0.19
    assert exact.interval.low > -0.12 and found.value == exact.value == 0
    assert paired_p_values((low,), (high,))[0, 1] == 1


def test_models_of_other_tasks_are_compared_on_those_that_both_have() -> None:
    """Each pair is as it is alone, whatever the others ran; with many selections too."""
    random = np.random.default_rng(8)
    values = (random.random((4, 40)) < 0.5).astype(float)
    values[1, :10], values[2, 30:] = np.nan, np.nan
    sample = sample_of({str(i): list(row) for i, row in enumerate(values)})
    found = differences((sample,))
    for i, j in ((0, 1), (1, 2), (2, 3), (3, 0)):
        shared = ~np.isnan(values[i]) & ~np.isnan(values[j])
        both = {"a": list(values[i][shared]), "b": list(values[j][shared])}
        alone = paired_difference(sample_of(both), 0, 1)
        together = found.of(i, j)
        assert alone and together and together.tasks == shared.sum() == alone.tasks
        assert together.value == pytest.approx(values[i][shared].mean() - values[j][shared].mean())
        assert together.interval.low == pytest.approx(alone.interval.low, abs=0.03)
    values[random.random((4, 40)) < 0.2] = np.nan
    rows = {
        f"{i} {j}": list(np.where(np.arange(40) == j, np.nan, values[i])) for i in range(4) for j in range(5)
    }
    many = differences((sample_of(rows),))
    assert not np.isnan(many.low).any() and np.allclose(many.values, -many.values.T)


def test_a_mean_over_several_sets_is_less_sure_where_they_are_small() -> None:
    """Its variance is raised by n / (n - 1) and Student's t for the smallest, also where that is one task."""
    sample = sample_of({"a": [1.0] * 11 + [0.0] * 9, "b": [0.0] * 9 + [1.0] * 11})
    one, twice = differences((sample,)).of(0, 1), differences((sample, sample)).of(0, 1)
    assert one and twice and one.value == twice.value
    widths = [found.interval.high - found.interval.low for found in (one, twice)]
    raised = np.sqrt(20 / 19) * student.ppf(0.975, 19) / norm.ppf(0.975)
    assert widths[1] / widths[0] == pytest.approx(raised, abs=0.01)
    assert differences((sample, sample_of({"a": [1.0], "b": [0.0]}))).of(0, 1)


@pytest.mark.parametrize(("tasks", "seeds"), [(1, 1), (3, 3), (4, 8), (8, 4), (5, 5), (60, 60)])
def test_a_ratio_of_few_seeds_has_no_interval(tasks: int, seeds: int) -> None:
    """Of all to none solved, five seeds and tasks say that little is left; fewer that anything may be."""
    before, after = (sample_of({"m": [passed] * tasks}, suite=f"evolved/{passed}") for passed in (1.0, 0.0))
    names = tuple((str(task % seeds), str((task + tasks) % seeds)) for task in range(tasks))
    found = ratio_interval(before, replace(after, seeds=names))
    assert found.known == (min(tasks, seeds) >= 5)
    assert not found.known or 0 < found.low < found.high < 1


COVERAGE = Path(__file__).parents[2] / "benchmarks/coverage.py"
KINDS: dict[str, Callable[[int], Iterable[Any]]] = runpy.run_path(str(COVERAGE))["KINDS"]


@pytest.mark.parametrize("row", rows(Path(__file__).with_name("experiments.csv")), ids=str)
def test_numbers_are_as_sure_as_they_say(row: dict[str, str]) -> None:
    """93 % of the 95 % intervals hold the truth; what is equal is called different in 6 % at most."""
    experiments, settings = int(row["experiments"]), int(row["settings"])
    cells = list(islice(KINDS[row["kind"]](experiments), settings))
    low, high = cells[0].wanted
    shares = [cell.share for cell in cells]
    assert len(cells) == settings
    if low:
        assert np.mean(shares) >= low and min(shares) >= low - 0.05, [str(cell) for cell in cells]
    else:
        assert np.mean(shares) <= high and max(shares) <= high + 0.05, [str(cell) for cell in cells]


ALL = [1.0] * 60
HALF = [1.0] * 30 + [0.0] * 30
NONE = [0.0] * 60


def solved(count: int, of: int, seed: int | None = None) -> list[float]:
    """So many ones among zeros: first, or in places that the seed chooses."""
    order = np.arange(of) if seed is None else np.random.default_rng(seed).permutation(of)
    return list((order < count).astype(float))


def test_rounding_noise_makes_no_rank() -> None:
    """Equal scores, added in another order, share all places; a model without a score pushes nobody down."""
    scores = sample_of({"a": [0.1, 0.2, 0.3], "b": [0.3, 0.2, 0.1], "c": [0.0, 0.1, 0.0]}).scores()
    assert ranking.smallest_ranks(scores) == list(rankdata(-scores, method="min")) == [1, 1, 3]
    assert ranking.percentiles(scores).tolist() == [75, 75, 0] and ranking.percentiles([1.0]).tolist() == [50]
    assert correlations([scores, np.array([5.0, 5.0, 1.0])])[0, 1].spearman == pytest.approx(1)
    assert ranking.smallest_ranks([0.5, math.nan, 0.9]) == [2, None, 1]
    counts = (21, 17), (15, 16), (17, 23), (17, 15), (14, 18), (21, 16)  # 3.5 / 6 of both, over 30 tasks
    sets = [sample_of({"a": solved(one, 30), "b": solved(other, 30)}) for one, other in counts]
    assert ranking.smallest_ranks(mean_scores(sets)) == [1, 1]
    draws = np.array([[0.1, math.nan, 0.5, 0.5, math.nan], [0.9, math.nan, 0.2, 0.3, math.nan]])
    assert ranking.drawn_ranks(draws).best.tolist() == [[3, 4, 1, 1, 4], [1, 4, 3, 2, 4]]


def test_a_clear_leader_has_a_narrow_rank_interval() -> None:
    """The best of three, far ahead on 100 tasks, is first for sure; two near equal ones share 2 to 3."""
    middle = np.array(solved(50, 100, seed=5))
    sample = sample_of({"best": [1.0] * 100, "b": list(middle), "c": list(1 - middle)})
    found = ranking.ranks(sample.scores(), differences((sample,)).better)
    assert [(one.low, one.high) for one in found if one] == [(1, 1), (2, 3), (2, 3)]


@pytest.mark.parametrize(("better", "worse", "tasks", "sure"), [(180, 60, 200, True), (3, 2, 5, False)])
def test_a_shift_is_baseline_rank_minus_rank(better: int, worse: int, tasks: int, sure: bool) -> None:
    """Second by the baseline and first here: risen by one, which five tasks cannot tell from chance."""
    high, low = solved(better, tasks), solved(worse, tasks)
    here, base = sample_of({"a": high, "b": low}), sample_of({"a": low, "b": high})
    of_here, of_base = (ranking.drawn_ranks(draw(sample)) for sample in (here, base))
    found = ranking.rank_shifts(here.scores(), of_here, base.scores(), of_base)
    assert [(one.shift, one.significant) for one in found if one] == [(1, sure), (-1, sure)]


def test_ranks_of_ranges_hold_every_order_that_is_possible() -> None:
    """What may be 0.2 or 0.9 has no place or tier of its own; what is above all others stays first."""
    low = sample_of({"a": [1.0] * 90, "b": [0.2] * 90, "c": [0.5] * 90, "d": [0.3] * 90})
    high = sample_of({"a": [1.0] * 90, "b": [0.9] * 90, "c": [0.5] * 90, "d": [0.3] * 90})
    found = ranking.ranks(low.scores(), differences((low,), (high,)).better)
    spans = [(one.rank, one.low, one.high) for one in found if one]
    assert spans == [(1, 1, 1), (4, 2, 4), (2, 2, 3), (3, 3, 4)]
    assert ranking.tiers([low], low.scores()) == [1, 4, 2, 3]
    assert ranking.tiers([low], low.scores(), [high]) == [1, 3, 2, 3]
    within = ranking.drawn_ranks(low.scores()[None, :], high.scores()[None, :])
    assert within.best.tolist() == [[1, 2, 2, 3]] and within.worst.tolist() == [[1, 4, 3, 4]]


@pytest.mark.parametrize(("lowest", "rises"), [(0.5, True), (0.25, False)])
def test_a_shift_of_a_range_needs_every_score_that_is_possible(lowest: float, rises: bool) -> None:
    """Last by the baseline; here first with its lower end alone, or only with its upper one."""
    base = ranking.drawn_ranks(np.tile([3.0, 2.0, 1.0], (100, 1)))
    here = ranking.drawn_ranks(np.tile([0.2, 0.3, lowest], (100, 1)), np.tile([0.2, 0.3, 0.9], (100, 1)))
    found = ranking.rank_shifts(np.array([0.2, 0.3, 0.5]), here, np.array([3.0, 2.0, 1.0]), base)[2]
    assert found is not None and (found.shift, found.significant) == (2, rises)


LEADER = [1.0] * 60 + [0.0] * 40
SURELY_WORSE, PERHAPS_WORSE = [1.0] * 50 + [0.0] * 50, [0.0] * 50 + [1.0] * 50
"""Ten tasks behind the leader: of what it solves, or of other tasks."""
STRONG = [solved(count, 100, seed=count) for count in (90, 88, 60)]
TIERS: dict[str, tuple[list[list[float]], list[int | None]]] = {
    "what tasks cannot tell apart": ([solved(52, 100, 2), solved(50, 100, 3), solved(10, 100)], [1, 1, 2]),
    "from the best": ([NONE, ALL, HALF], [3, 1, 2]),
    "without a score": ([[1.0] * 5, [math.nan] * 5], [1, None]),
    "three tasks": ([[1.0] * 3, [0.0] * 3], [1, 1]),
    "one score, whatever the order": ([LEADER, SURELY_WORSE, PERHAPS_WORSE], [1, 2, 2]),
    "one score, the other way round": ([LEADER, PERHAPS_WORSE, SURELY_WORSE], [1, 2, 2]),
    "two strong models and a weaker one": (STRONG, [1, 1, 2]),
    "weak models widen no tier above": ([*STRONG, *[[0.0] * 100] * 40], [1, 1, 2, *[3] * 40]),
}


@pytest.mark.parametrize("case", TIERS)
def test_tiers(case: str) -> None:
    """Models that the tasks cannot tell from the best of their tier; numbered from the best."""
    models, expected = TIERS[case]
    sample = sample_of({f"{place:02}": row for place, row in enumerate(models)})
    assert ranking.tiers([sample], sample.scores()) == expected


def by_definition(scores: np.ndarray, costs: np.ndarray) -> list[bool]:
    """No other model costs no more, scores no less, and is better in one of the two."""
    models = list(zip(costs, scores, strict=True))
    return [
        not any(paid <= cost and got >= score and (paid, got) != (cost, score) for paid, got in models)
        for cost, score in models
    ]


def test_undominated_follows_the_definition() -> None:
    """On random tables with many ties, the frontier is that of the definition."""
    random = np.random.default_rng(1)
    for models in (1, 2, 7, 12):
        costs = random.integers(1, 5, models).astype(float)
        for scores in random.integers(0, 6, (40, models)).astype(float):
            assert ranking.undominated(scores, costs).tolist() == by_definition(scores, costs)


def test_draws_follow_their_interval() -> None:
    """The central 95 % of the draws of a score are its interval, also near the end of the scale."""
    intervals = [Interval(40.0, 60.0), Interval(97.0, 99.9), Interval(0.0, 4.0)] * 40
    values = [50.0, 99.0, 1.0] * 40
    draws = ranking.interval_draws(values, intervals, 100.0, "ends")
    for kind in range(3):
        own = draws[:, kind::3].ravel()
        low, high = np.quantile(own, [0.025, 0.975])
        assert low == pytest.approx(intervals[kind].low, abs=0.6)
        assert high == pytest.approx(intervals[kind].high, abs=0.6)
        assert np.median(own) == pytest.approx(values[kind], abs=0.6)
