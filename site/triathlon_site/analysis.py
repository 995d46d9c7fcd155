"""Analyses of the evolved sets beyond pass@1 (EvoEval): drops, pairs, composition, decomposition.

Pure functions over results or over published tables: which problems a problem was evolved from and what one
model solves of both (section 4.2); boards, pass@1 of models on sets, and what is read off them; and one
object with all analyses over measured results.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from statistics import fmean
from typing import Final, TypeVar

from scipy.special import bdtr

from triathlon_runner.evolved import SEED, SEMANTIC_ALTERING
from triathlon_runner.metrics import pass_at_k_by_task
from triathlon_runner.records import Outcome
from triathlon_runner.suites import SuiteEntry
from triathlon_site.load import TaskResult

T = TypeVar("T")
SEMANTIC_PRESERVING: Final = ("verbose", "concise")
SELF_INVOKING: Final = ("humaneval-pro", "mbpp-pro")

Row = Mapping[str, float]
"""pass@1 in per cent by set; a set that was not measured is absent."""
Board = Mapping[str, Row]
"""Rows by model."""


@dataclass(frozen=True, slots=True)
class Outcomes:
    """How the first sample of each task of a set ended, for one model."""

    parents: Mapping[str, tuple[str, ...]]
    """By task_id; a problem without parents, one of a seed set, has itself as its parent."""
    solved: frozenset[str]


def outcomes(units: Iterable[TaskResult]) -> Outcomes:
    """The outcomes of the first sample of each task: family links compare greedy samples."""
    first = [unit for unit in units if unit.sample == 0]
    parents = {unit.task_id: unit.parents or (unit.task_id,) for unit in first}
    return Outcomes(parents, frozenset(unit.task_id for unit in first if unit.outcome == Outcome.PASSED))


def _of_seeds(seeds: Outcomes, changed: Outcomes) -> dict[str, frozenset[str]]:
    """The problems whose parents are all among the seeds, with these; others take no part."""
    parents = {problem: frozenset(names) for problem, names in changed.parents.items()}
    return {problem: names for problem, names in parents.items() if names <= seeds.parents.keys()}


@dataclass(frozen=True, slots=True)
class Paired:
    """One model on the problems of a set and on the seeds of each, which are solved where all of them are.

    On a set as hard as its seeds (subtle, verbose, concise) a surplus of `first_only` says that the seed was
    remembered rather than understood; on a harder set it says difficulty.
    """

    both: int
    first_only: int
    """The seeds are solved, the problem is not."""
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

    @property
    def drop(self) -> float | None:
        """The relative drop from the seeds to exactly these problems (for subtle, the paper's 22.5 %); None
        where no seed is solved.
        """
        before = self.both + self.first_only
        return relative_drop(before, self.both + self.second_only) if before else None


def against_seeds(seeds: Outcomes, changed: Outcomes) -> Paired | None:
    """Each problem against its own seeds; None where no problem has all of them among `seeds`."""
    links = _of_seeds(seeds, changed)
    before = {problem for problem, names in links.items() if names <= seeds.solved}
    after = changed.solved & links.keys()
    counts = len(before & after), len(before - after), len(after - before), len(links) - len(before | after)
    return Paired(*counts) if links else None


def relative_drop(before: float, after: float) -> float:
    """The decrease from `before` to `after` in per cent of `before`; negative for an increase."""
    return 100 * (before - after) / before


HOW_MANY: Final = ("both", "one", "none")
"""How many of the two parts of a problem are solved, in the order of the counts below."""


@dataclass(frozen=True, slots=True)
class InTwoParts:
    """Problems that have two parts each, by how many of the two a model solves: `HOW_MANY`."""

    solved: tuple[int, ...]
    """Those that it solves whole."""
    failed: tuple[int, ...]
    problems: Sequence[tuple[bool, int, tuple[str, ...]]] = field(default=(), compare=False)
    """Of each whether it is solved whole, how many of its parts are not (a place in the counts), and its
    parts; those that are solved whole first."""

    @property
    def of_both(self) -> list[tuple[str, ...]]:
        """The two parts of each problem whose parts are both solved; of those that are solved whole first."""
        return [parts for _, missing, parts in self.problems if not missing]

    @property
    def every(self) -> tuple[int, ...]:
        """Both kinds together."""
        return tuple(map(sum, zip(self.solved, self.failed, strict=True)))


def _in_two_parts(
    parts_of: Mapping[str, Collection[str]], wholes: Outcomes, parts: Outcomes
) -> InTwoParts | None:
    """None where no problem has exactly two parts."""
    problems = [
        (whole in wholes.solved, sum(part not in parts.solved for part in own), tuple(sorted(own)))
        for whole, own in sorted(parts_of.items(), key=lambda item: item[0] not in wholes.solved)
        if len(own) == 2
    ]
    counts = Counter((whole, missing) for whole, missing, _ in problems)
    solved, failed = (tuple(counts[whole, missing] for missing in range(3)) for whole in (True, False))
    return InTwoParts(solved, failed, problems) if counts else None


def composition(seeds: Outcomes, combined: Outcomes) -> InTwoParts | None:
    """One model's composition on combine or combine_naive, whose parts are the parents (table 2)."""
    return _in_two_parts(_of_seeds(seeds, combined), combined, seeds)


def decomposition(seeds: Outcomes, halves: Outcomes) -> InTwoParts | None:
    """One model's decomposition: seeds whose parts are the halves that they were split into (table 3)."""
    halves_of: dict[str, list[str]] = defaultdict(list)
    for half, names in _of_seeds(seeds, halves).items():
        halves_of[min(names)].append(half)
    return _in_two_parts(halves_of, seeds, halves)


@dataclass(frozen=True, slots=True)
class Drops:
    """Relative decreases from the seed set, in per cent."""

    of_five_sets: Mapping[str, float]
    """By model: mean of its drops on the five sets."""
    per_model: Mapping[str, float]
    """From the seed set to the EvoEval average, the mean of all six (the paper: 19.6 to 47.7)."""

    @property
    def overall(self) -> float:
        """Mean over the models and the five sets (EvoEval, section 4.1: 38.1)."""
        return fmean(self.of_five_sets.values())

    @property
    def models(self) -> int:
        return len(self.per_model)


def drops(board: Board, seed: str = SEED) -> Drops | None:
    """Drops over the models that have all six scores and solve something of the seed set, if any do."""
    names = (seed, *SEMANTIC_ALTERING)
    rows = {model: row for model, row in board.items() if row.keys() >= set(names) and row[seed] > 0}
    of_five_sets = {
        model: fmean(relative_drop(row[seed], row[name]) for name in SEMANTIC_ALTERING)
        for model, row in rows.items()
    }
    per_model = {
        model: relative_drop(row[seed], fmean(row[name] for name in names)) for model, row in rows.items()
    }
    return Drops(of_five_sets, per_model) if rows else None


@dataclass(frozen=True, slots=True)
class Change:
    """Mean relative change from one set to another over some models, in per cent (positive: more solved)."""

    change: float
    models: int


def change(board: Board, before: str, after: str) -> Change | None:
    """The mean over the models that have both scores and solve something of the first set, if any do."""
    pairs = [(row[before], row[after]) for row in board.values() if row.get(before) and after in row]
    return Change(fmean(100 * (new - old) / old for old, new in pairs), len(pairs)) if pairs else None


def change_by_kind(
    board: Board, kinds: Mapping[str, str], after: str, before: str = SEED
) -> dict[str, Change]:
    """`change` for `instruct` and `base` models apart (EvoEval, sections 4.1 and 4.3)."""
    changes = {
        kind: change({m: row for m, row in board.items() if kinds.get(m) == kind}, before, after)
        for kind in ("instruct", "base")
    }
    return {kind: result for kind, result in changes.items() if result is not None}


@dataclass(frozen=True)
class Measured:
    """The analyses of one family of sets. Sets and models without results are absent, never 0."""

    entries: Sequence[SuiteEntry]
    """Those of one board, the seeds that most of them were evolved from first."""
    results: Mapping[str, Mapping[str, Sequence[TaskResult]]]
    """By model and suite id; other suites are passed over."""
    kinds: Mapping[str, str]
    """Of each model, as models.yaml has it."""
    protocols: Mapping[tuple[str, str], object] = field(default_factory=dict)
    """By model and suite id, under which it was asked; left out, all under one."""

    @cached_property
    def sets(self) -> Mapping[str, SuiteEntry]:
        """By name."""
        return {entry.set_name: entry for entry in self.entries}

    @cached_property
    def units(self) -> Mapping[str, Mapping[str, Sequence[TaskResult]]]:
        """By model and set."""
        names = {entry.id: entry.set_name for entry in self.entries}
        return {
            model: {names[suite]: units for suite, units in suites.items() if suite in names and units}
            for model, suites in self.results.items()
        }

    @property
    def seed(self) -> str:
        """The set that the others evolved from: `seeds`, `humaneval`, or a user's own."""
        return next(iter(self.sets))

    def seed_of(self, name: str) -> str:
        """The set that one set evolved from, which for the sets on MBPP is another than `seed`.

        Its own name where its problems are seeds.
        """
        seeds = self.sets[name].seeds
        return next((seed for seed, entry in self.sets.items() if entry.id == seeds), name)

    def made_by(self, *transformations: str) -> list[str]:
        """The sets that were evolved from seeds in these ways, a user's own among them."""
        evolved = [(name, entry) for name, entry in self.sets.items() if self.seed_of(name) != name]
        return [name for way in transformations for name, entry in evolved if entry.transformation == way]

    @cached_property
    def board(self) -> Board:
        """pass@1 in per cent by model and set; with several samples a task their mean."""
        return {
            model: {name: 100 * fmean(pass_at_k_by_task(units, 1).values()) for name, units in sets.items()}
            for model, sets in self.units.items()
        }

    def alike(self, before: str, *others: str) -> Board:
        """The rows that a mean over models is of: those with these sets and something solved of the first,
        under the protocols that most of them share.
        """
        groups: dict[tuple[object, ...], dict[str, Row]] = defaultdict(dict)
        for model, row in self.board.items():
            if row.get(before) and row.keys() >= set(others):
                asked = (self.protocols.get((model, self.sets[name].id)) for name in (before, *others))
                groups[tuple(asked)][model] = row
        return max(groups.values(), key=len, default={})

    @cached_property
    def _outcomes(self) -> dict[str, dict[str, Outcomes]]:
        """By model and set."""
        return {
            model: {name: outcomes(units) for name, units in sets.items()}
            for model, sets in self.units.items()
        }

    @cached_property
    def drops(self) -> Drops | None:
        """Relative drops per set and overall, as section 4.1 has them: over models with all six sets."""
        return drops(self.board, self.seed)

    @cached_property
    def pairs(self) -> dict[str, dict[str, Paired]]:
        """By set and model: each problem of the set against its own seeds."""
        return self._by_set(against_seeds, *(name for name in self.sets if self.seed_of(name) != name))

    @cached_property
    def compositions(self) -> dict[str, dict[str, InTwoParts]]:
        """By set (combine, combine_naive) and model: solved by how many parents are (table 2)."""
        return self._by_set(composition, *self.made_by("combine", "combine_naive"))

    @cached_property
    def decompositions(self) -> dict[str, dict[str, InTwoParts]]:
        """By set and model: halves solved by whether their seed is (table 3)."""
        return self._by_set(decomposition, *self.made_by("decompose"))

    @cached_property
    def by_kind(self) -> dict[str, dict[str, Change]]:
        """By set and kind of model, the mean relative change: verbose, concise and subtle from the seeds
        (section 4.1), tool_use from the same problems without helper functions (section 4.3: 59.2 % more for
        instruct models, 122.0 % for base models).
        """
        before = {name: self.seed_of(name) for name in self.made_by(*SEMANTIC_PRESERVING, "subtle")}
        if self.sets.keys() >= {"tool_use", "tool_use-main_only"}:
            before["tool_use"] = "tool_use-main_only"
        by_set = {
            name: change_by_kind(self.alike(seed, name), self.kinds, name, seed)
            for name, seed in before.items()
        }
        return {name: changes for name, changes in by_set.items() if changes}

    def _by_set(
        self, analyse: Callable[[Outcomes, Outcomes], T | None], *names: str
    ) -> dict[str, dict[str, T]]:
        """By set and model, `analyse(seeds, set)` where it is not None and the model has both."""
        by_set: dict[str, dict[str, T]] = {}
        for name in names:
            for model, sets in self._outcomes.items():
                seeds = sets.get(self.seed_of(name))
                if seeds is None or name not in sets:
                    continue
                result = analyse(seeds, sets[name])
                if result is not None:
                    by_set.setdefault(name, {})[model] = result
        return by_set
