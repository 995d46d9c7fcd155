"""Family links: a problem beside the problems that it was evolved from, for one model."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from triathlon_runner.evolved._units import Linked, Unit, passed
from triathlon_runner.significance import sign_test


def solved(units: Iterable[Unit]) -> dict[str, bool]:
    """Whether the first sample of each task passed."""
    return {unit.task_id: passed(unit) for unit in units if unit.sample == 0}


@dataclass(frozen=True, slots=True)
class Pair:
    """One problem and its parents."""

    task_id: str
    child: bool
    """Solved."""
    parents: tuple[bool, ...]

    @property
    def parent(self) -> bool:
        """All parents are solved."""
        return all(self.parents)


@dataclass(frozen=True, slots=True)
class Family:
    """The outcomes of one model on a set of parents, to which the problems of other sets are linked."""

    parents: Mapping[str, bool]

    def pairs(self, children: Iterable[Linked]) -> list[Pair]:
        """The children whose parents are all there; a problem without parents is its own (a seed set)."""
        known = self.parents
        found = []
        for unit in children:
            names = unit.parents or (unit.task_id,)
            if unit.sample == 0 and known.keys() >= set(names):
                found.append(Pair(unit.task_id, passed(unit), tuple([known[name] for name in names])))
        return found


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


def paired(outcomes: Iterable[tuple[bool, bool]]) -> Paired:
    """Counts the cases of (first, second) and tests whether both kinds of difference are equally likely."""
    counts = Counter(outcomes)
    first, second = counts[True, False], counts[False, True]
    return Paired(counts[True, True], first, second, counts[False, False], sign_test(first, second))


def parents_against_children(parents: Iterable[Unit], children: Iterable[Linked]) -> Paired:
    """Solved the parent (of several: all) but not the child, and the reverse."""
    return paired((pair.parent, pair.child) for pair in Family(solved(parents)).pairs(children))


def sets_against_each_other(first: Iterable[Linked], second: Iterable[Linked]) -> Paired:
    """Any two sets of one family, problem by problem: siblings, parents and children, wholes and parts.

    A problem is compared with those of the other set that stem from its own parents and no others, all of
    which must be solved; where these do not cover all its parents, it is left out. Where no problem of
    `second` is covered so, those of `first` are (a set of combined problems before one of single ones).
    """
    one, two = list(first), list(second)
    found = _covered(one, two) or [(left, right) for right, left in _covered(two, one)]
    return paired(found)


def _covered(parts: Iterable[Linked], wholes: Iterable[Linked]) -> list[tuple[bool, bool]]:
    """For each whole whose parents the parts cover: whether these are all solved, and whether it is."""
    outcome_of: dict[frozenset[str], bool] = {}
    for unit in parts:
        if unit.sample == 0:
            names = _ancestors(unit)
            outcome_of[names] = outcome_of.get(names, True) and passed(unit)
    by_ancestor: dict[str, list[frozenset[str]]] = defaultdict(list)
    for names in outcome_of:
        for name in names:
            by_ancestor[name].append(names)
    found = []
    for whole in wholes:
        if whole.sample == 0:
            own = _ancestors(whole)
            related = {names for name in own for names in by_ancestor[name] if names <= own}
            if frozenset[str]().union(*related) == own:
                found.append((all(outcome_of[names] for names in related), passed(whole)))
    return found


def _ancestors(unit: Linked) -> frozenset[str]:
    return frozenset(unit.parents or (unit.task_id,))
