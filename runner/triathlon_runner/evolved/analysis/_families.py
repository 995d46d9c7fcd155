"""Family links: a problem beside the problems that it was evolved from, for one model."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from scipy.stats import binomtest

from triathlon_runner.records import EvolvedRecord, Outcome, UnitRecord


def solved(records: Iterable[UnitRecord]) -> dict[str, bool]:
    """Whether the first sample of each task passed."""
    return {record.task_id: record.outcome is Outcome.PASSED for record in records if record.sample == 0}


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

    def pairs(self, children: Iterable[EvolvedRecord]) -> list[Pair]:
        """The children whose parents are all there; a problem without parents is its own (a seed set)."""
        found = []
        for record in children:
            names = record.parents or (record.task_id,)
            if record.sample == 0 and all(name in self.parents for name in names):
                outcomes = tuple(self.parents[name] for name in names)
                found.append(Pair(record.task_id, record.outcome is Outcome.PASSED, outcomes))
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
    cases = list(outcomes)
    counts = {
        case: cases.count(case) for case in ((True, True), (True, False), (False, True), (False, False))
    }
    first, second = counts[True, False], counts[False, True]
    p_value = float(binomtest(first, first + second, 0.5).pvalue) if first + second else 1.0
    return Paired(counts[True, True], first, second, counts[False, False], p_value)


def parents_against_children(parents: Iterable[UnitRecord], children: Iterable[EvolvedRecord]) -> Paired:
    """Solved the parent (of several: all) but not the child, and the reverse."""
    return paired((pair.parent, pair.child) for pair in Family(solved(parents)).pairs(children))


def sets_against_each_other(first: Sequence[EvolvedRecord], second: Sequence[EvolvedRecord]) -> Paired:
    """Two sets of one family, problem by problem: siblings, or parents and children.

    A problem of `second` is compared with the problems of `first` that stem from its own parents and from no
    others; where these do not cover all its parents, it is left out.
    """
    by_ancestors = [(frozenset(record.parents or (record.task_id,)), record) for record in first]
    outcomes: list[tuple[bool, bool]] = []
    for record in second:
        ancestors = frozenset(record.parents or (record.task_id,))
        related = [(names, one) for names, one in by_ancestors if names <= ancestors]
        if related and frozenset().union(*(names for names, _ in related)) == ancestors:
            passed = all(one.outcome is Outcome.PASSED for _, one in related)
            outcomes.append((passed, record.outcome is Outcome.PASSED))
    return paired(outcomes)
