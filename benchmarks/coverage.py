"""How often the intervals that the pages show hold the truth, and how often equal models are told apart.

python benchmarks/coverage.py                     all kinds, 400 experiments each
python benchmarks/coverage.py ranks tiers --experiments 2000

Each line is one setting: models and tasks are invented with a known truth, scored as the site scores them,
and the share of experiments is printed in which the interval held the truth (or, for tiers, shifts and sides,
in which something was called different that is equal). Where one experiment is a whole table, as for ranks,
every model of it counts, and there are fewer tables. The same command prints the same lines.
"""

import argparse
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "site"))

from triathlon_site.agreement import correlate
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
from triathlon_site.uncertainty import Draws, Sample, central, differences, draw, draw_ends, interval, rounded

Array = NDArray[np.float64]
TASKS: Final = (40, 80, 100, 164, 378)
CHANCES: Final = (0.05, 0.2, 0.5, 0.9)
PROGRAMS: Final = (40, 80, 154)
"""Of a runtime suite."""
ROWS: Final = 400
"""Experiments that are scored together, as models of one table."""


@dataclass(frozen=True)
class Cell:
    """One setting."""

    setting: str
    share: float
    wanted: tuple[float, float]

    def __str__(self) -> str:
        low, high = self.wanted
        mark = "" if low <= self.share <= high else "  (outside)" if self.share < low else "  (wider)"
        return f"{self.setting}: {self.share:.3f}{mark}"


HELD: Final = (0.93, 0.97)
FALSE: Final = (0.0, 0.06)
Kind = Callable[[int], Iterator[Cell]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("kinds", nargs="*", choices=[*KINDS, []], help=f"some of {', '.join(KINDS)}")
    parser.add_argument("--experiments", type=int, default=400, help="a setting")
    arguments = parser.parse_args()
    for kind in arguments.kinds or KINDS:
        print(f"{kind}: {(KINDS[kind].__doc__ or '').splitlines()[0]}", flush=True)
        shares = []
        for cell in KINDS[kind](arguments.experiments):
            print(f"  {cell}", flush=True)
            shares.append(cell.share)
        print(f"  {len(shares)} settings, {min(shares):.3f} to {max(shares):.3f}", flush=True)


def sample_of(
    values: NDArray[Any],
    *,
    suite: str = "some",
    maximum: float = 1.0,
    weights: NDArray[Any] | None = None,
    seeds: tuple[tuple[str, ...], ...] = (),
) -> Sample:
    """Rows of scores a task; with weights, of ratios of sums."""
    rows, tasks = values.shape
    return Sample(
        suite,
        tuple(map(str, range(rows))),
        tuple(f"{suite} {task}" for task in range(tasks)),
        values.astype(float),
        np.ones_like(values, dtype=float) if weights is None else weights.astype(float),
        maximum if weights is not None else 1.0,
        maximum,
        seeds,
    )


def held(samples: list[Sample], truth: float) -> NDArray[np.bool_]:
    """Whether each row's interval for the mean over the samples holds the truth."""
    ends = [draw_ends(sample) for sample in samples]
    low, high = (np.mean(own, axis=0) for own in zip(*ends, strict=True))
    spans = interval((low, high), rounded(np.mean([sample.scores() for sample in samples], axis=0)))
    return np.array([one.low <= truth + 1e-9 and truth - 1e-9 <= one.high for one in spans])


def blocks(experiments: int, rows: int = ROWS) -> Iterator[int]:
    """Sizes that add up to all experiments."""
    for start in range(0, experiments, rows):
        yield min(rows, experiments - start)


def pass_at_1(experiments: int) -> Iterator[Cell]:
    """Intervals of pass@1: tasks that pass with one chance."""
    random = np.random.default_rng(1)
    for tasks in TASKS:
        for chance in CHANCES:
            found = [
                held([sample_of(random.random((rows, tasks)) < chance)], chance)
                for rows in blocks(experiments)
            ]
            yield Cell(f"{tasks} tasks, {chance:.0%} solved", float(np.concatenate(found).mean()), HELD)


def asl(experiments: int) -> Iterator[Cell]:
    """Intervals of ASL: a share of tasks passes at first, then every loop is survived with one chance."""
    random = np.random.default_rng(2)
    for tasks in TASKS:
        for chance in CHANCES:
            for survival in (0.6, 0.8, 0.95):
                exactly = chance * (1 - survival) * survival ** np.arange(10)
                exactly[9] = chance * survival**9
                truth = float(exactly @ np.arange(1, 11) ** 2 / 10)
                found = []
                for rows in blocks(experiments):
                    loops = np.minimum(random.geometric(1 - survival, (rows, tasks)), 10)
                    solved = random.random((rows, tasks)) < chance
                    found.append(held([sample_of(solved * loops**2 / 10, maximum=10.0)], truth))
                share = float(np.concatenate(found).mean())
                yield Cell(f"{tasks} tasks, {chance:.0%} solved, {survival:.0%} survive a loop", share, HELD)


def consistency(experiments: int) -> Iterator[Cell]:
    """Intervals of IC: 3 to 15 chains a program, whose answers are right with a chance of the program's."""
    random = np.random.default_rng(3)
    for programs in PROGRAMS:
        for chance in CHANCES:
            many = _chain_scores(_ease(random, chance, (200_000, 1)), random)
            truth = 100 * float(many.mean())
            found = []
            for rows in blocks(experiments):
                chains = random.integers(3, 16, (rows, programs))
                ease = np.repeat(_ease(random, chance, (rows, programs))[:, :, None], 15, axis=2)
                scores = _chain_scores(ease, random) * (np.arange(15) < chains[:, :, None])
                sample = sample_of(scores.sum(axis=2), maximum=100.0, weights=chains)
                found.append(held([sample], truth))
            share = float(np.concatenate(found).mean())
            yield Cell(f"{programs} programs, {chance:.0%} of answers right, IC {truth:.1f}", share, HELD)


def _ease(random: np.random.Generator, chance: float, shape: tuple[int, ...]) -> Array:
    return np.asarray(random.beta(4 * chance, 4 * (1 - chance), shape))


def _chain_scores(ease: Array, random: np.random.Generator) -> Array:
    right = np.cumprod(random.random((4, *ease.shape)) < ease, axis=0).sum(axis=0)
    return np.asarray(np.array([0, 0.125, 0.25, 0.5, 1])[right])


@dataclass(frozen=True)
class Family:
    """Sets of tasks made from common seeds: by set, the seeds of each task."""

    name: str
    sets: tuple[tuple[tuple[int, ...], ...], ...]

    @property
    def seeds(self) -> int:
        return 1 + max(seed for tasks in self.sets for seeds in tasks for seed in seeds)

    def latent(self, random: np.random.Generator, rows: int, common: float) -> list[Array]:
        """By set, standard normal ease of each task; `common`: correlation of two tasks of one seed."""
        seeds = random.standard_normal((rows, self.seeds))
        found = []
        for tasks in self.sets:
            own = np.stack([seeds[:, list(seed)].sum(axis=1) / len(seed) ** 0.5 for seed in tasks], axis=1)
            found.append(common**0.5 * own + (1 - common) ** 0.5 * random.standard_normal(own.shape))
        return found

    def names(self) -> list[tuple[tuple[str, ...], ...]]:
        return [tuple(tuple(f"seed {seed}" for seed in seeds) for seeds in tasks) for tasks in self.sets]


def families() -> Iterator[Family]:
    """As our own problems and EvoEval's have them: the seeds, four sets of one parent, one of two."""
    random = np.random.default_rng(4)
    for name, seeds, tasks in (("own problems", 80, 40), ("EvoEval", 164, 100)):
        single = [
            tuple((int(s),) for s in sorted(random.choice(seeds, tasks, replace=False))) for _ in range(4)
        ]
        double = tuple(tuple(map(int, random.choice(seeds, 2, replace=False))) for _ in range(tasks))
        yield Family(name, (tuple((seed,) for seed in range(seeds)), *single, double))


def mean_of_sets(experiments: int) -> Iterator[Cell]:
    """Intervals of the mean over six sets whose tasks come from the same seeds."""
    random = np.random.default_rng(5)
    for family in families():
        for chance in CHANCES:
            for common in (0.0, 0.2, 0.4, 0.7):
                found, both = [], []
                for rows in blocks(experiments):
                    solved = [ease < ndtri(chance) for ease in family.latent(random, rows, common)]
                    samples = [
                        sample_of(own, suite=f"set {place}", seeds=names)
                        for place, (own, names) in enumerate(zip(solved, family.names(), strict=True))
                    ]
                    found.append(held(samples, chance))
                    pairs = solved[0][:, [seeds[0] for seeds in family.sets[1]]], solved[1]
                    both.append(np.corrcoef(pairs[0].ravel(), pairs[1].ravel())[0, 1])
                share = float(np.concatenate(found).mean())
                setting = f"{family.name}, {chance:.0%} solved, correlation {np.mean(both):.2f}"
                yield Cell(setting, share, HELD)


def drops(experiments: int) -> Iterator[Cell]:
    """Intervals of the relative drop from the seeds to one set."""
    random = np.random.default_rng(6)
    for family in families():
        for chance, after in ((0.9, 0.6), (0.5, 0.3), (0.2, 0.2), (0.2, 0.05)):
            truth, found = 100 * (chance - after) / chance, []
            for rows in blocks(experiments):
                ease = family.latent(random, rows, 0.4)[:2]
                samples = [
                    sample_of(own < ndtri(p), suite=f"set {place}", seeds=names)
                    for place, (own, p, names) in enumerate(
                        zip(ease, (chance, after), family.names(), strict=False)
                    )
                ]
                low, high = drop_ends(*map(draw, samples))
                found.append((low <= truth) & (truth <= high))
            yield Cell(
                f"{family.name}, from {chance:.0%} to {after:.0%}", float(np.concatenate(found).mean()), HELD
            )


def drop_ends(seeds: Draws, changed: Draws) -> tuple[Array, Array]:
    """As the page of the evolved sets has them."""
    return central(100 * (seeds - changed) / seeds)


def of_two_models(experiments: int) -> Iterator[Cell]:
    """Intervals of the difference of two models on the same tasks."""
    random = np.random.default_rng(7)
    for tasks in TASKS:
        for chance in CHANCES:
            for gap in (0.0, 0.5):
                for common in (0.0, 0.6):
                    truth, found = chance * gap, []
                    for pairs in blocks(experiments, 60):
                        ease = random.standard_normal((pairs, tasks))
                        rows = []
                        for p in (chance, chance * (1 - gap)):
                            noise = random.standard_normal((pairs, tasks))
                            rows.append(common**0.5 * ease + (1 - common) ** 0.5 * noise < ndtri(p))
                        spans = differences((sample_of(np.concatenate(rows)),))
                        place = np.arange(pairs), np.arange(pairs, 2 * pairs)
                        found.append(
                            (spans.low[place] <= truth + 1e-6) & (spans.low[place[::-1]] <= 1e-6 - truth)
                        )
                    setting = f"{tasks} tasks, {chance:.0%} against {chance * (1 - gap):.1%}, {common} common"
                    yield Cell(setting, float(np.concatenate(found).mean()), HELD)


def of_two_means(experiments: int) -> Iterator[Cell]:
    """Intervals of the difference of two models in the mean over six sets of the same seeds."""
    random = np.random.default_rng(8)
    for family in families():
        for chance in CHANCES:
            for common in (0.0, 0.4):
                found = []
                for pairs in blocks(experiments, 60):
                    tasks = family.latent(random, pairs, 0.0)
                    own = [family.latent(random, pairs, common) for _ in range(2)]
                    samples = tuple(
                        sample_of(
                            np.concatenate(
                                [(0.6**0.5 * ease + 0.4**0.5 * one[place]) < ndtri(chance) for one in own]
                            ),
                            suite=f"set {place}",
                            seeds=names,
                        )
                        for place, (ease, names) in enumerate(zip(tasks, family.names(), strict=True))
                    )
                    spans = differences(samples)
                    place = np.arange(pairs), np.arange(pairs, 2 * pairs)
                    found.append((spans.low[place] <= 0) & (spans.low[place[::-1]] <= 0))
                setting = f"{family.name}, {chance:.0%} solved, each model's own ease of a seed {common}"
                yield Cell(setting, float(np.concatenate(found).mean()), HELD)


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
    return [one is not None and one.low <= true <= one.high for true, one in enumerate(placed, 1)]


def of_ranks(experiments: int) -> Iterator[Cell]:
    """Intervals of ranks: models of different strengths, every one of them counts."""
    random = np.random.default_rng(9)
    for tasks in TASKS:
        for models in (12, 40):
            for name, spread in SPREADS.items():
                chances = 0.5 + spread * np.linspace(0.5, -0.5, models)
                found: list[bool] = []
                for _ in range(max(1, experiments // (4 if models == 12 else 10))):
                    sample = sample_of(_table(random, chances, tasks))
                    found += true_ranks_held(ranks(sample.scores(), differences((sample,)).better))
                yield Cell(f"{tasks} tasks, {models} models, {name}", float(np.mean(found)), HELD)


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
                        sample_of(own, suite=suite, seeds=names if common else ())
                        for own, suite in ((here, "here"), (base, "base"))
                    ]
                    found = _shifts(*samples)
                    marked += [one.significant for one in found if one]
                where = "on the same tasks" if common else "on other tasks"
                yield Cell(f"{tasks} tasks, 12 models, {name}, {where}", float(np.mean(marked)), FALSE)


def _shifts(here: Sample, base: Sample) -> list[RankShift | None]:
    return rank_shifts(here.scores(), _placed(here), base.scores(), _placed(base))


def sides(experiments: int) -> Iterator[Cell]:
    """Share of sets that are named strong or weak sides where each model has one rank in all of them."""
    random = np.random.default_rng(12)
    for family in families():
        for name, spread in SPREADS.items():
            chances = 0.5 + spread * np.linspace(0.5, -0.5, 12)
            named = []
            for _ in range(max(1, experiments // 8)):
                tasks = family.latent(random, 1, 0.4)
                own = family.latent(random, 12, 0.4)
                samples = [
                    sample_of(
                        0.5**0.5 * ease + 0.5**0.5 * noise < ndtri(chances)[:, None],
                        suite=f"set {place}",
                        seeds=names,
                    )
                    for place, (ease, noise, names) in enumerate(zip(tasks, own, family.names(), strict=True))
                ]
                drawn = [draw(sample) for sample in samples]
                scores = rounded(np.mean([sample.scores() for sample in samples], axis=0))
                headline = drawn_ranks(sum(drawn[1:], drawn[0]) / len(drawn))
                for sample, draws in zip(samples, drawn, strict=True):
                    found = rank_shifts(sample.scores(), drawn_ranks(draws), scores, headline)
                    named += [one.significant for one in found if one]
            yield Cell(f"{family.name}, 12 models, {name}", float(np.mean(named)), FALSE)


def overall_ranks(experiments: int) -> Iterator[Cell]:
    """Intervals of overall ranks: three disciplines on the same seeds, one strength of a model in all."""
    random = np.random.default_rng(13)
    for tasks in (40, 80, 164):
        names = tuple((f"seed {task}",) for task in range(tasks))
        for name, spread in SPREADS.items():
            chances = 0.5 + spread * np.linspace(0.5, -0.5, 12)
            found: list[bool] = []
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
                found += true_ranks_held(
                    ranks(rounded(np.mean(scores, axis=0)), better_in_draws(means, means))
                )
            yield Cell(f"{tasks} tasks, 12 models, {name}", float(np.mean(found)), HELD)


def correlations(experiments: int) -> Iterator[Cell]:
    """Intervals of Spearman's and Kendall's coefficient over models from a bivariate normal distribution."""
    random = np.random.default_rng(14)
    for models in (5, 8, 12, 24, 60):
        for r in (0.0, 0.5, 0.9):
            rho, tau = 6 / np.pi * np.arcsin(r / 2), 2 / np.pi * np.arcsin(r)
            counts = np.zeros(2)
            for _ in range(experiments):
                x, noise = random.standard_normal((2, models))
                found = correlate(x, r * x + (1 - r * r) ** 0.5 * noise)
                counts += (
                    found.spearman_low <= rho <= found.spearman_high,
                    found.kendall_low <= tau <= found.kendall_high,
                )
            for name, count in zip(("Spearman", "Kendall"), counts, strict=True):
                yield Cell(f"{models} models, r = {r}, {name}", count / experiments, HELD)


KINDS: Final[dict[str, Kind]] = {
    "pass@1": pass_at_1,
    "asl": asl,
    "ic": consistency,
    "mean": mean_of_sets,
    "drops": drops,
    "differences": of_two_models,
    "mean-differences": of_two_means,
    "ranks": of_ranks,
    "tiers": of_tiers,
    "shifts": shifts,
    "sides": sides,
    "overall": overall_ranks,
    "correlations": correlations,
}

if __name__ == "__main__":
    main()
