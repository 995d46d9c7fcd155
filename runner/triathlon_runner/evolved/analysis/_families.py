"""Family links: which problems a problem was evolved from.

Who is linked with whom depends on the lists of problems alone, which models share: it is found once.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

from triathlon_runner.evolved._units import PASSED, Linked
from triathlon_runner.significance import sign_test


@dataclass(frozen=True, slots=True, eq=False)
class Problems:
    """The problems of one set with their parents. Equal only to itself: a cheap key for a cache."""

    parents: Mapping[str, tuple[str, ...]]
    """By task_id; a problem without parents, one of a seed set, has itself as its parent."""


@dataclass(frozen=True, slots=True)
class Outcomes:
    """How the first sample of each task of a set ended, for one model."""

    problems: Problems
    solved: frozenset[str]


Links = Mapping[str, tuple[str, ...]]
"""By task_id, the problems of another set that each problem is compared with."""


def outcomes(units: Iterable[Linked]) -> Outcomes:
    """The outcomes of the first sample of each task: family links compare greedy samples."""
    first = [unit for unit in units if unit.sample == 0]
    names = tuple([unit.task_id for unit in first])
    problems = _problems(names, tuple([unit.parents for unit in first]))
    return Outcomes(problems, frozenset([unit.task_id for unit in first if unit.outcome == PASSED]))


@lru_cache(maxsize=256)
def _problems(names: tuple[str, ...], parents: tuple[tuple[str, ...], ...]) -> Problems:
    """One object for all models that were asked the same."""
    return Problems({name: seeds or (name,) for name, seeds in zip(names, parents, strict=True)})


@lru_cache(maxsize=256)
def links(parents: Problems, children: Problems) -> Links:
    """The children whose parents are all there."""
    known = parents.parents.keys()
    return {child: names for child, names in children.parents.items() if known >= set(names)}


@dataclass(frozen=True, slots=True)
class Paired:
    """Two outcomes of one model on linked problems, with McNemar's exact test.

    On a set as hard as its seeds (subtle, verbose, concise) a surplus of `first_only` says that the seed was
    remembered rather than understood; on a harder set it says difficulty.
    """

    both: int
    first_only: int
    """The parent (or the problem of the first set) is solved, the other is not."""
    second_only: int
    neither: int
    p_value: float
    """Two-sided, exact; 1 where no pair differs."""

    @property
    def n(self) -> int:
        return self.both + self.first_only + self.second_only + self.neither

    def swapped(self) -> "Paired":
        """The second set before the first."""
        return replace(self, first_only=self.second_only, second_only=self.first_only)


def paired(both: int, first_only: int, second_only: int, neither: int) -> Paired:
    """These counts, and whether both kinds of difference are equally likely."""
    return Paired(both, first_only, second_only, neither, sign_test(first_only, second_only))


def parents_against_children(parents: Outcomes, children: Outcomes) -> Paired:
    """Solved the parent (of several: all) but not the child, and the reverse."""
    return _compare_linked(links(parents.problems, children.problems), parents, children)


def sets_against_each_other(first: Outcomes, second: Outcomes) -> Paired:
    """Any two sets of one family, problem by problem: siblings, parents and children, wholes and parts.

    A problem is compared with those of the other set that stem from its own parents and no others, all of
    which must be solved; where these do not cover all its parents, it is left out. Where no problem of
    `second` is covered so, those of `first` are (a set of combined problems before one of single ones).
    """
    if links := _covered(first.problems, second.problems):
        return _compare_linked(links, first, second)
    links = _covered(second.problems, first.problems)
    return _compare_linked(links, second, first).swapped()


def _compare_linked(links: Links, parents: Outcomes, children: Outcomes) -> Paired:
    first = {child for child, names in links.items() if parents.solved.issuperset(names)}
    second = children.solved & links.keys()
    return paired(
        len(first & second), len(first - second), len(second - first), len(links) - len(first | second)
    )


@lru_cache(maxsize=256)
def _covered(parts: Problems, wholes: Problems) -> Links:
    """Each whole whose parents the parts cover, with these parts."""
    parts_of: dict[frozenset[str], list[str]] = defaultdict(list)
    for part, names in parts.parents.items():
        parts_of[frozenset(names)].append(part)
    by_ancestor: dict[str, list[frozenset[str]]] = defaultdict(list)
    for group in parts_of:
        for name in group:
            by_ancestor[name].append(group)
    whole_of_parts: dict[str, tuple[str, ...]] = {}
    for whole, names in wholes.parents.items():
        parents = frozenset(names)
        related = {group for name in parents for group in by_ancestor[name] if group <= parents}
        if frozenset[str]().union(*related) == parents:
            whole_of_parts[whole] = tuple(part for group in related for part in parts_of[group])
    return whole_of_parts
