"""Composition, decomposition and recomposition (EvoEval, section 4.2, tables 2 and 3)."""

from collections import defaultdict
from dataclasses import dataclass

from triathlon_runner.evolved.analysis._families import Outcomes, links


@dataclass(frozen=True, slots=True)
class Composition:
    """Problems made of two, by how many of the two the model solves alone; how many of each it solves."""

    both: int
    one: int
    none: int
    solved_both: int
    solved_one: int
    solved_none: int

    @property
    def n(self) -> int:
        """Combined problems whose two parents were both asked."""
        return self.both + self.one + self.none


def composition(seeds: Outcomes, combined: Outcomes) -> Composition:
    """One model's composition on combine or combine_naive."""
    counts = [0, 0, 0]
    together = [0, 0, 0]
    for child, parents in links(seeds.problems, combined.problems).items():
        missing = sum(parent not in seeds.solved for parent in parents)
        counts[missing] += 1
        together[missing] += child in combined.solved
    return Composition(*counts, *together)


@dataclass(frozen=True, slots=True)
class Decomposition:
    """Seeds that were split in two: how many of the two halves are solved, by whether the seed is."""

    passed_both: int
    passed_one: int
    passed_none: int
    failed_both: int
    failed_one: int
    failed_none: int

    @property
    def n(self) -> int:
        """Seeds that were asked together with both halves."""
        solved = self.passed_both + self.passed_one + self.passed_none
        return solved + self.failed_both + self.failed_one + self.failed_none


def decomposition(seeds: Outcomes, halves: Outcomes) -> Decomposition:
    """One model's decomposition over the seeds that have exactly two halves among the results."""
    solved_halves_of: dict[str, list[bool]] = defaultdict(list)
    for half, parents in links(seeds.problems, halves.problems).items():
        if len(parents) == 1:
            solved_halves_of[parents[0]].append(half in halves.solved)
    counts = {(seed, missing): 0 for seed in (True, False) for missing in range(3)}
    for seed, solved_halves in solved_halves_of.items():
        if len(solved_halves) == 2:
            counts[seed in seeds.solved, solved_halves.count(False)] += 1
    return Decomposition(*counts.values())
