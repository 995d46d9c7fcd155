"""Ranks, overall ranks and tiers of whole tables of models, and what is called different in them."""

from collections.abc import Iterator
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from benchmarks.interval_coverage.experiment import (
    CHANCES,
    FALSE,
    HELD,
    TASKS,
    Array,
    Cell,
    sample_of,
)
from triathlon_site.ranking import (
    DrawnRanks,
    Rank,
    RankShift,
    better_in_draws,
    drawn_ranks,
    percentiles,
    rank_shifts,
    ranks,
    tiers,
)
from triathlon_site.uncertainty import Sample, differences, draw, rounded


def _table(random: np.random.Generator, chances: Array, tasks: int) -> NDArray[np.bool_]:
    """Models × tasks: solved or not, tasks of different ease."""
    ease = random.standard_normal(tasks)
    noise = random.standard_normal((len(chances), tasks))
    return np.asarray(0.5**0.5 * ease + 0.5**0.5 * noise < ndtri(chances)[:, None])


def _placed(sample: Sample) -> DrawnRanks:
    return drawn_ranks(draw(sample))


SPREADS: Final = {"nearly equal": 0.02, "close": 0.2, "spread": 0.6}


def true_ranks_held(placed: list[Rank | None]) -> list[bool]:
    """Of models in the order of their true strength."""
    return [rank is not None and rank.low <= true <= rank.high for true, rank in enumerate(placed, 1)]


def of_ranks(experiments: int) -> Iterator[Cell]:
    """Intervals of ranks: models of different strengths, every one of them counts."""
    random = np.random.default_rng(9)
    for tasks in TASKS:
        for models in (12, 40):
            for name, spread in SPREADS.items():
                chances = 0.5 + spread * np.linspace(0.5, -0.5, models)
                held: list[bool] = []
                for _ in range(max(1, experiments // (4 if models == 12 else 10))):
                    sample = sample_of(_table(random, chances, tasks))
                    held += true_ranks_held(ranks(sample.scores(), differences((sample,)).better))
                yield Cell(f"{tasks} tasks, {models} models, {name}", float(np.mean(held)), HELD)


def of_tiers(experiments: int) -> Iterator[Cell]:
    """Share of tables of equal models that are split into tiers."""
    random = np.random.default_rng(10)
    for tasks in TASKS:
        for models in (12, 40):
            for chance in CHANCES:
                split = 0
                for _ in range(experiments):
                    sample = sample_of(_table(random, np.full(models, chance), tasks))
                    split += max(tier or 0 for tier in tiers([sample], sample.scores())) > 1
                yield Cell(f"{tasks} tasks, {models} models, {chance:.0%} solved", split / experiments, FALSE)


def shifts(experiments: int) -> Iterator[Cell]:
    """Share of rank shifts that are marked where no model moves."""
    random = np.random.default_rng(11)
    for tasks in TASKS:
        for name, spread in SPREADS.items():
            chances = 0.5 + spread * np.linspace(0.5, -0.5, 12)
            for common in (False, True):
                marked = []
                for _ in range(max(1, experiments // 4)):
                    here, base = (_table(random, chances, tasks) for _ in range(2))
                    names = tuple((f"seed {task}",) for task in range(tasks))
                    samples = [
                        sample_of(solved, suite=suite, seeds=names if common else ())
                        for solved, suite in ((here, "here"), (base, "base"))
                    ]
                    marks = _shifts(*samples)
                    marked += [shift.significant for shift in marks if shift]
                where = "on the same tasks" if common else "on other tasks"
                yield Cell(f"{tasks} tasks, 12 models, {name}, {where}", float(np.mean(marked)), FALSE)


def _shifts(here: Sample, base: Sample) -> list[RankShift | None]:
    return rank_shifts(here.scores(), _placed(here), base.scores(), _placed(base))


def overall_ranks(experiments: int) -> Iterator[Cell]:
    """Intervals of overall ranks: three disciplines on the same seeds, one strength of a model in all."""
    random = np.random.default_rng(13)
    for tasks in (40, 80, 164):
        names = tuple((f"seed {task}",) for task in range(tasks))
        for name, spread in SPREADS.items():
            chances = 0.5 + spread * np.linspace(0.5, -0.5, 12)
            held: list[bool] = []
            for _ in range(max(1, experiments // 4)):
                seeds = random.standard_normal((12, tasks))
                places, scores = [], []
                for suite in ("loop", "runtime", "evolved"):
                    ease, noise = random.standard_normal(tasks), random.standard_normal((12, tasks))
                    solved = 0.5**0.5 * ease + 0.3**0.5 * seeds + 0.2**0.5 * noise < ndtri(chances)[:, None]
                    sample = sample_of(solved, suite=suite, seeds=names)
                    places.append(_placed(sample).best)
                    scores.append(percentiles(sample.scores()))
                means = -np.mean(places, axis=0)
                held += true_ranks_held(
                    ranks(rounded(np.mean(scores, axis=0)), better_in_draws(means, means))
                )
            yield Cell(f"{tasks} tasks, 12 models, {name}", float(np.mean(held)), HELD)
