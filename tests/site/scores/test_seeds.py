"""Tasks that were made from the same problems hang together in every number."""

import numpy as np
import pytest
from scipy.special import ndtri

from support.results import FakeModel, FakeSuite, task_id, write_results
from support.site import SUITES, entries
from support.statistics import sample_of
from triathlon_site.build import gather
from triathlon_site.scores import ColumnScores, seeds_of
from triathlon_site.uncertainty import Sample, central, differences, draw, score_intervals


@pytest.fixture(scope="module")
def columns(tmp_path_factory: pytest.TempPathFactory) -> dict[str, ColumnScores]:
    """Of the board of the evolved sets, by their titles; the second model has some tasks only."""
    root = tmp_path_factory.mktemp("seeds")
    write_results(root, [FakeModel("a", 1.0)], [FakeSuite(entry, tasks=12) for entry in entries()])
    partial = [FakeSuite(entry, tasks=12, planned=5) for entry in entries(SUITES[2:])]
    write_results(root, [FakeModel("b", 0.0)], partial)
    (board,) = (board for board in gather(root, None).boards if board.plan.id == "evolved-core")
    return {column.column.title: column for column in board.columns}


def test_a_task_has_the_seeds_that_its_record_names(columns: dict[str, ColumnScores]) -> None:
    """One parent, two, or the problem itself; the same names in every set."""
    seeds = [(task_id("evolved/core-seeds", n),) for n in range(12)]
    assert list(columns["seeds"].samples[0].origins) == seeds
    assert list(columns["difficult"].samples[0].origins) == seeds
    combined = [(*seeds[n], *seeds[(n + 1) % 12]) for n in range(12)]
    assert list(columns["combine"].samples[0].origins) == combined


def test_problems_of_other_names_are_known() -> None:
    """DREval's programs are HumanEval's and ClassEval's, MBXP's problems are MBPP's."""
    known = {
        "DREval/2": "HumanEval/3",
        "DREval/84": "HumanEval/161",
        "DREval/85": "ClassEval_1",
        "DREval/153": "ClassEval_97",
        "mine/1": "mine/1",
    }
    found = seeds_of(list(known), [])
    assert [name for (name,) in found] == list(known.values())
    assert seeds_of(["MBXP/11"], []) == (("Mbpp/11",),)


def _six_sets(random: np.random.Generator, rows: int, chance: float) -> list[Sample]:
    """80 seeds, four sets of 40 made from one, one of 40 made from two; tasks of one seed hang together."""
    ease = random.standard_normal((rows, 80))
    sets: list[list[tuple[int, ...]]] = [[(seed,) for seed in range(80)]]
    sets += [[(int(seed),) for seed in random.choice(80, 40, replace=False)] for _ in range(4)]
    sets += [[tuple(map(int, random.choice(80, 2, replace=False))) for _ in range(40)]]
    samples = []
    for place, tasks in enumerate(sets):
        common = np.stack([ease[:, list(seeds)].sum(axis=1) / len(seeds) ** 0.5 for seeds in tasks], axis=1)
        solved = 0.4**0.5 * common + 0.6**0.5 * random.standard_normal(common.shape) < ndtri(chance)
        names = tuple(tuple(f"seed {seed}" for seed in seeds) for seeds in tasks)
        table = {str(row): list(values.astype(float)) for row, values in enumerate(solved)}
        samples.append(sample_of(table, suite=f"set {place}", seeds=names))
    return samples


@pytest.mark.parametrize("chance", [0.2, 0.5])
def test_the_mean_of_sets_from_the_same_seeds_is_as_sure_as_it_says(chance: float) -> None:
    """Correlation 0.23 to 0.26 between a task and its seed: 92 % of the intervals or more hold the truth.

    With a weight of its own for each task it is 86 to 89 %.
    """
    samples = _six_sets(np.random.default_rng(31), 400, chance)
    spans = score_intervals(samples)
    assert np.mean([one.low <= chance <= one.high for one in spans]) >= 0.92


def test_a_difference_of_two_means_is_as_sure_as_it_says() -> None:
    """Two models of equal strength, each with seeds that it finds easy: 92 % or more hold zero."""
    found = differences(tuple(_six_sets(np.random.default_rng(43), 800, 0.3)), draws=1000)
    first, second = np.arange(0, 800, 2), np.arange(1, 800, 2)
    assert np.mean((found.low[first, second] <= 0) & (found.low[second, first] <= 0)) >= 0.92


def test_a_drop_is_surer_for_its_seeds_being_known() -> None:
    """What a seed adds to both sides does not count: the interval is narrower than of unrelated tasks."""
    seeds, changed = _six_sets(np.random.default_rng(41), 30, 0.5)[:2]
    alone = sample_of(
        {m: list(row) for m, row in zip(changed.models, changed.numerators, strict=True)}, suite="set 1"
    )
    widths = []
    for other in (changed, alone):
        low, high = central(draw(seeds) - draw(other))
        widths.append(float(np.mean(high - low)))
    assert widths[0] < 0.95 * widths[1]
