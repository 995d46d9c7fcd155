"""How often the sequential test of `triathlon gate` errs, and how many tasks it needs, on recorded outcomes.

    python benchmarks/gate.py RECORDED [--experiments 2000]

RECORDED is a folder of EVALOOOP's per-model files (`<model>.json.gz`: keys are loops sustained, values list
tasks). A model's score on a task is its part of ASL, (loops / 10)^2 with s = 1. Compared with McNemar's exact
test of pass@1 on all tasks, which looks once, at the end. Then sets like EvoEval's combine and combine
naive are invented, whose tasks have a second seed that makes no cluster.
"""

import argparse
import gzip
import json
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binomtest

from triathlon_runner.gate import SequentialTest

Array = NDArray[np.float64]
MAX_LOOPS = 10
SEEDS = 164


def read_outcomes(folder: Path) -> Array:
    """Loops sustained: models × tasks."""
    models = []
    for path in sorted(folder.glob("*.json.gz")):
        with gzip.open(path, "rt") as file:
            content = json.load(file)
        models.append({task["task_id"]: int(loops) for loops, tasks in content.items() for task in tasks})
    tasks = sorted(models[0])
    return np.array([[model[task] for task in tasks] for model in models], dtype=float)


def decide(differences: Array) -> tuple[str, int]:
    """The verdict and the number of tasks that it took."""
    test = SequentialTest()
    for difference in differences:
        test.add(float(difference))
        if test.verdict != "undecided":
            break
    return test.verdict, test.count


def same_model_twice(loops: Array, experiments: int, draw: np.random.Generator) -> Iterator[Array]:
    """Differences of two models that are equal: two models' outcomes, swapped by chance on each task."""
    scores = (loops / MAX_LOOPS) ** 2
    for _ in range(experiments):
        before, after = draw.choice(len(scores), 2, replace=False)
        differences = (scores[after] - scores[before]) * draw.choice([-1.0, 1.0], scores.shape[1])
        yield draw.permutation(differences)


def equal_models_on_pairs(
    tasks: int, common: float, experiments: int, draw: np.random.Generator
) -> Iterator[Array]:
    """By cluster, differences of two models that solve half of tasks made from two seeds each; `common`: how
    much of a model's ease of a task is its own ease of the seeds.
    """
    pairs = np.array([draw.choice(SEEDS, 2, replace=False) for _ in range(tasks)])
    clusters, place = np.unique(pairs[:, 0], return_inverse=True)
    largest = np.bincount(place).max()
    for _ in range(experiments):
        of_seeds = draw.standard_normal((2, SEEDS))[:, pairs].sum(axis=2) / 2**0.5
        ease = common**0.5 * of_seeds + (1 - common) ** 0.5 * draw.standard_normal((2, tasks))
        before, after = (ease < 0).astype(float)
        yield draw.permutation(np.bincount(place, after - before, len(clusters)) / largest)


def main() -> None:
    """Prints the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("recorded", type=Path)
    parser.add_argument("--experiments", type=int, default=2000)
    options = parser.parse_args()
    loops, draw = read_outcomes(options.recorded), np.random.default_rng(1)
    called = sum(
        decide(differences)[0] != "undecided"
        for differences in same_model_twice(loops, options.experiments, draw)
    )
    print(f"equal models called worse or better: {called / options.experiments:.2%} of {options.experiments}")

    scores = (loops / MAX_LOOPS) ** 2
    settled: list[int] = []
    opposite = fixed = 0
    pairs = list(combinations(range(len(loops)), 2))
    for before, after in pairs:
        differences = draw.permutation(scores[after] - scores[before])
        verdict, tasks = decide(differences)
        if verdict != "undecided":
            settled.append(tasks)
            opposite += differences.sum() * (1 if verdict == "better" else -1) < 0
        solved_here, solved_there = loops[after] > 0, loops[before] > 0
        won, lost = int((solved_here & ~solved_there).sum()), int((solved_there & ~solved_here).sum())
        fixed += won + lost > 0 and binomtest(won, won + lost).pvalue < 0.05
    print(
        f"{len(pairs)} pairs of {len(loops)} models, {loops.shape[1]} tasks:"
        f" {len(settled) / len(pairs):.1%} settled, with a median of {np.median(settled):.0f} tasks;"
        f" {opposite} of {len(settled)} opposite to the sign of all tasks"
    )
    print(f"McNemar's exact test on all {loops.shape[1]} tasks: {fixed / len(pairs):.1%} significant")
    for tasks in (100, 1074):
        for common in (0.3, 0.7):
            found = equal_models_on_pairs(tasks, common, options.experiments, draw)
            called = sum(decide(differences)[0] != "undecided" for differences in found)
            print(
                f"{tasks} pairs of {SEEDS} seeds, {common} common: equal models called worse or better:"
                f" {called / options.experiments:.2%}"
            )


if __name__ == "__main__":
    main()
