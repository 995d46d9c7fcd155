"""Composition, decomposition and recomposition (EvoEval, section 4.2, tables 2 and 3)."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from triathlon_runner.evolved._units import Linked, Unit, passed
from triathlon_runner.evolved.analysis._families import Family, solved


def _percent(part: int, whole: int) -> float:
    return 100 * part / whole if whole else float("nan")


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

    @property
    def percentage(self) -> float:
        """Of the problems whose two parents are solved, the share that is solved (table 2), else nan."""
        return _percent(self.solved_both, self.both)


def composition(seeds: Iterable[Unit], combined: Iterable[Linked]) -> Composition:
    """One model's composition on combine or combine_naive."""
    counts = [0, 0, 0]
    together = [0, 0, 0]
    for pair in Family(solved(seeds)).pairs(combined):
        missing = pair.parents.count(False)
        counts[missing] += 1
        together[missing] += pair.child
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

    @property
    def decomposition(self) -> float:
        """Of the solved seeds, the share with both halves solved (table 3, Decomp. %)."""
        return _percent(self.passed_both, self.passed_both + self.passed_one + self.passed_none)

    @property
    def recomposition(self) -> float:
        """Of the unsolved seeds, the share with both halves solved (table 3, Recomp. %)."""
        return _percent(self.failed_both, self.failed_both + self.failed_one + self.failed_none)


def decomposition(seeds: Iterable[Unit], halves: Iterable[Linked]) -> Decomposition:
    """One model's decomposition over the seeds that have exactly two halves among the results."""
    whole = solved(seeds)
    parts: dict[str, list[bool]] = defaultdict(list)
    for half in halves:
        if half.sample == 0 and len(half.parents) == 1 and half.parents[0] in whole:
            parts[half.parents[0]].append(passed(half))
    counts = {(seed, missing): 0 for seed in (True, False) for missing in range(3)}
    for seed, outcomes in parts.items():
        if len(outcomes) == 2:
            counts[whole[seed], outcomes.count(False)] += 1
    return Decomposition(*counts.values())
