"""Which problems a problem was evolved from, and what one model solves of both (EvoEval, section 4.2)."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Protocol

from scipy.special import bdtr

from triathlon_runner.metrics import Sampled
from triathlon_runner.records import Outcome


class Unit(Sampled, Protocol):
    """One sample of one task, how it ended and what its problem was evolved from, such as a record."""

    @property
    def sample(self) -> int: ...

    @property
    def parents(self) -> tuple[str, ...]:
        """task_ids; empty in a seed set."""
        ...


@dataclass(frozen=True, slots=True)
class Outcomes:
    """How the first sample of each task of a set ended, for one model."""

    parents: Mapping[str, tuple[str, ...]]
    """By task_id; a problem without parents, one of a seed set, has itself as its parent."""
    solved: frozenset[str]

    def as_seeds(self) -> "Outcomes":
        """The same problems as parents of others, whatever they were evolved from themselves."""
        return replace(self, parents={name: (name,) for name in self.parents})


def outcomes(units: Iterable[Unit]) -> Outcomes:
    """The outcomes of the first sample of each task: family links compare greedy samples."""
    first = [unit for unit in units if unit.sample == 0]
    parents = {unit.task_id: unit.parents or (unit.task_id,) for unit in first}
    return Outcomes(parents, frozenset(unit.task_id for unit in first if unit.outcome == Outcome.PASSED))


def _covered(parts: Outcomes, wholes: Outcomes) -> dict[str, tuple[str, ...]]:
    """Each whole whose parents the parts cover, with these parts. Of a seed set these are its parents."""
    parts_of: dict[frozenset[str], list[str]] = defaultdict(list)
    for part, names in parts.parents.items():
        parts_of[frozenset(names)].append(part)
    groups_of: dict[str, list[frozenset[str]]] = defaultdict(list)
    for group in parts_of:
        for name in group:
            groups_of[name].append(group)
    parts_of_whole: dict[str, tuple[str, ...]] = {}
    for whole, names in wholes.parents.items():
        parents = frozenset(names)
        related = {group for name in parents for group in groups_of[name] if group <= parents}
        if frozenset[str]().union(*related) == parents:
            parts_of_whole[whole] = tuple(part for group in related for part in parts_of[group])
    return parts_of_whole


@dataclass(frozen=True, slots=True)
class Paired:
    """Two outcomes of one model on linked problems.

    On a set as hard as its seeds (subtle, verbose, concise) a surplus of `first_only` says that the seed was
    remembered rather than understood; on a harder set it says difficulty.
    """

    both: int
    first_only: int
    """The parent (or the problem of the first set) is solved, the other is not."""
    second_only: int
    neither: int

    @property
    def n(self) -> int:
        return self.both + self.first_only + self.second_only + self.neither

    @property
    def p_value(self) -> float:
        """Of McNemar's exact test, two-sided: are both kinds of difference equally likely?"""
        differing = self.first_only + self.second_only
        # Both tails of the binomial distribution with p = 1/2 are alike.
        return min(1.0, 2 * float(bdtr(min(self.first_only, self.second_only), differing, 0.5)))


def sets_against_each_other(first: Outcomes, second: Outcomes) -> Paired | None:
    """Any two sets of one family, problem by problem: siblings, parents and children, wholes and parts.

    A problem is compared with those of the other set that stem from its own parents and no others, all of
    which must be solved; where these do not cover all its parents, it is left out. Where no problem of
    `second` is covered so, those of `first` are (a set of combined problems before one of single ones). None
    where there are none of these either.
    """
    if links := _covered(first, second):
        return _paired(links, first, second)
    if links := _covered(second, first):
        swapped = _paired(links, second, first)
        return replace(swapped, first_only=swapped.second_only, second_only=swapped.first_only)
    return None


def _paired(parts_of_whole: Mapping[str, tuple[str, ...]], parts: Outcomes, wholes: Outcomes) -> Paired:
    """Each whole against its parts, all of which must be solved."""
    by_parts = {whole for whole, names in parts_of_whole.items() if parts.solved.issuperset(names)}
    solved = wholes.solved & parts_of_whole.keys()
    both, neither = len(by_parts & solved), len(parts_of_whole) - len(by_parts | solved)
    return Paired(both, len(by_parts - solved), len(solved - by_parts), neither)


@dataclass(frozen=True, slots=True)
class SameSeeds:
    """A set against exactly the seeds that its problems came from (for subtle, the paper's 22.5 %)."""

    seeds: float
    """pass@1 in per cent on the parents of the set's problems."""
    evolved: float
    drop: float
    """Relative decrease in per cent; nan where no seed was solved."""
    problems: int


def relative_drop(before: float, after: float) -> float:
    """The decrease from `before` to `after` in per cent of `before`; negative for an increase."""
    return 100 * (before - after) / before


def against_same_seeds(seeds: Outcomes, children: Outcomes) -> SameSeeds | None:
    """One model's drop from the parents of a set's problems to these problems; None without a common one."""
    counts = sets_against_each_other(seeds, children)
    if counts is None:
        return None
    before = 100 * ((counts.both + counts.first_only) / counts.n)
    after = 100 * ((counts.both + counts.second_only) / counts.n)
    return SameSeeds(before, after, relative_drop(before, after) if before else float("nan"), counts.n)


@dataclass(frozen=True, slots=True)
class Composition:
    """Problems made of two, by how many of the two the model solves alone; how many of each it solves."""

    both: int
    one: int
    none: int
    solved_both: int
    solved_one: int
    solved_none: int


def composition(seeds: Outcomes, combined: Outcomes) -> Composition | None:
    """One model's composition on combine or combine_naive (table 2); None without problems and parents."""
    links = {child: parents for child, parents in _covered(seeds, combined).items() if len(parents) == 2}
    counts, together = [0, 0, 0], [0, 0, 0]
    for child, parents in links.items():
        missing = sum(parent not in seeds.solved for parent in parents)
        counts[missing] += 1
        together[missing] += child in combined.solved
    return Composition(*counts, *together) if links else None


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
    def passed(self) -> int:
        """Seeds that the model solves."""
        return self.passed_both + self.passed_one + self.passed_none

    @property
    def failed(self) -> int:
        """Seeds that it does not solve."""
        return self.failed_both + self.failed_one + self.failed_none

    @property
    def n(self) -> int:
        """Seeds that were asked together with both halves."""
        return self.passed + self.failed


def decomposition(seeds: Outcomes, halves: Outcomes) -> Decomposition | None:
    """One model's decomposition (table 3) over the seeds with exactly two halves; None where none has."""
    halves_of: dict[str, list[bool]] = defaultdict(list)
    for half, (seed, *_) in _covered(seeds, halves).items():
        halves_of[seed].append(half in halves.solved)
    counts = {(solved, missing): 0 for solved in (True, False) for missing in range(3)}
    for seed, solved_halves in halves_of.items():
        if len(solved_halves) == 2:
            counts[seed in seeds.solved, solved_halves.count(False)] += 1
    return Decomposition(*counts.values()) if any(counts.values()) else None
