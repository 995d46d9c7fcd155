"""All analyses over measured results: one object a family of sets, made of every model's units by suite."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, Literal, TypeVar, get_args

from triathlon_runner.endpoints import ModelKind
from triathlon_runner.evolved._units import Linked
from triathlon_runner.evolved.analysis._board import (
    SEED,
    SEMANTIC_PRESERVING,
    Board,
    column,
    evoeval_average,
    evoeval_column,
    row_of,
    seed_of,
)
from triathlon_runner.evolved.analysis._composition import (
    Composition,
    Decomposition,
    composition,
    decomposition,
)
from triathlon_runner.evolved.analysis._drops import Drops, SameSeeds, against_same_seeds, drops
from triathlon_runner.evolved.analysis._families import (
    Outcomes,
    Paired,
    outcomes,
    sets_against_each_other,
)
from triathlon_runner.evolved.analysis._regions import Placed, regions
from triathlon_runner.evolved.analysis._rewording import (
    Change,
    change,
    change_by_kind,
    helped_by_tools,
)

Source = Literal["core", "official"]
"""Whose problems: ours (`evolved/core-…`) or the official ones. Never mixed: they are different problems."""

T = TypeVar("T")

_SEEDS: Final[Mapping[Source, str]] = {"core": "seeds", "official": SEED}
_OLD: Final[Mapping[Source, str]] = {"core": "seeds", "official": "humaneval-plus"}
"""The benchmark that the evolved one is compared with (EvoEval, figure 2)."""
_ENOUGH: Final = 3
"""Models from which on a line through all of them says something."""

Results = Mapping[str, Mapping[str, Sequence[Linked]]]
"""Units by model and suite id: records, or what a site keeps of them."""


def source_of(suite: str) -> tuple[Source, str] | None:
    """`evolved/core-tool_use` → (core, tool_use); None for other disciplines and for variants (`@`)."""
    discipline, _, name = suite.partition("/")
    if discipline != "evolved" or "@" in name:
        return None
    return ("core", name.removeprefix("core-")) if name.startswith("core-") else ("official", name)


def measured(results: Results, kinds: Mapping[str, ModelKind]) -> dict[Source, "Measured"]:
    """The families that there are results of.

    Args:
        results: of any suites; those of other disciplines and variants are passed over.
        kinds: of each model, as models.yaml has it.
    """
    by_source: dict[Source, dict[str, dict[str, Sequence[Linked]]]] = {name: {} for name in get_args(Source)}
    for model, suites in results.items():
        for suite, units in suites.items():
            place = source_of(suite)
            if place is not None and units:
                by_source[place[0]].setdefault(model, {})[place[1]] = units
    return {source: Measured(source, units, kinds) for source, units in by_source.items() if units}


@dataclass(frozen=True)
class Measured:
    """One family of sets. Sets and models without results are absent, never 0."""

    source: Source
    units: Mapping[str, Mapping[str, Sequence[Linked]]]
    """By model and set."""
    kinds: Mapping[str, ModelKind]

    @property
    def seed(self) -> str:
        """The set that the others evolved from: `seeds` or `humaneval`."""
        return _SEEDS[self.source]

    def seed_of(self, name: str) -> str:
        """The set that one set evolved from, which for the sets on MBPP is another than `seed`."""
        return self.seed if self.source == "core" else seed_of(name)

    @property
    def old(self) -> str:
        """The set that `regions` takes for the old benchmark: `seeds` or `humaneval-plus`."""
        return _OLD[self.source]

    @cached_property
    def board(self) -> Board:
        """pass@1 in per cent by model and set; with several samples a task their mean."""
        return {model: row_of(sets) for model, sets in self.units.items()}

    @cached_property
    def outcomes(self) -> dict[str, dict[str, Outcomes]]:
        """By model and set."""
        return {
            model: {name: outcomes(units) for name, units in sets.items()}
            for model, sets in self.units.items()
        }

    @cached_property
    def averages(self) -> dict[str, float]:
        """The EvoEval average of the models that have all six sets (table 1)."""
        return evoeval_column(self.board, self.seed)

    @cached_property
    def drops(self) -> Drops | None:
        """Relative drops per set and overall, as section 4.1 has them: over models with all six sets."""
        complete = [row for row in self.board.values() if evoeval_average(row, self.seed) is not None]
        return drops(self.board, self.seed) if any(row[self.seed] > 0 for row in complete) else None

    @cached_property
    def changes(self) -> dict[str, Change]:
        """Mean relative change from its seeds to each other set, over the models that have both."""
        sets = dict.fromkeys(name for row in self.board.values() for name in row)
        evolved = (name for name in sets if self.seed_of(name) != name)
        changes_by_set = ((name, change(self.board, self.seed_of(name), name)) for name in evolved)
        return {name: result for name, result in changes_by_set if result is not None}

    @cached_property
    def same_seeds(self) -> dict[str, dict[str, SameSeeds]]:
        """By set and model: the set against exactly its problems' own seeds (the paper: 22.5 % on subtle)."""
        models_by_set = {name: self._with_seeds(_same_seeds, name) for name in self.changes}
        return {name: models for name, models in models_by_set.items() if models}

    @cached_property
    def compositions(self) -> dict[str, dict[str, Composition]]:
        """By set (combine, combine_naive) and model: solved by how many parents are (table 2)."""
        models_by_set = {name: self._with_seeds(_composition, name) for name in ("combine", "combine_naive")}
        return {name: models for name, models in models_by_set.items() if models}

    @cached_property
    def decompositions(self) -> dict[str, Decomposition]:
        """By model: halves solved by whether their seed is (table 3)."""
        return self._with_seeds(_decomposition, "decompose")

    @cached_property
    def helped_by_tools(self) -> dict[ModelKind | Literal["all"], Change]:
        """tool_use against the same problems without helper functions (section 4.3)."""
        return helped_by_tools(self.board, self.kinds)

    @cached_property
    def rewordings(self) -> dict[str, dict[ModelKind, Change]]:
        """By set (verbose, concise, and subtle as the paper compares it) and kind of model (section 4.1)."""
        names = (*SEMANTIC_PRESERVING, "subtle")
        changes_by_set = {name: change_by_kind(self.board, self.kinds, name, self.seed) for name in names}
        return {name: changes for name, changes in changes_by_set.items() if changes}

    @cached_property
    def regions(self) -> dict[str, Placed]:
        """The old benchmark against the average over the new one (figure 2); empty below three models."""
        old = column(self.board, self.old)
        both = old.keys() & self.averages.keys()
        return regions(old, self.averages) if len(both) >= _ENOUGH else {}

    def paired(self, model: str, first: str, second: str) -> Paired | None:
        """Compares any two sets for one model: solved only in the first, only in the second; McNemar's test.

        None where the model lacks one of them or no problem of the one belongs to one of the other.
        """
        sets = self.outcomes.get(model, {})
        if first not in sets or second not in sets:
            return None
        counts = sets_against_each_other(sets[first], sets[second])
        return counts if counts.n else None

    def _with_seeds(self, analyse: Callable[[Outcomes, Outcomes], T | None], name: str) -> dict[str, T]:
        """By model, `analyse(seeds, set)`; models without both sets and results of None are left out."""
        seed = self.seed_of(name)
        both = {m: sets for m, sets in self.outcomes.items() if name in sets and seed in sets}
        results = {model: analyse(sets[seed], sets[name]) for model, sets in both.items()}
        return {model: result for model, result in results.items() if result is not None}


def _same_seeds(seeds: Outcomes, children: Outcomes) -> SameSeeds | None:
    try:
        return against_same_seeds(seeds, children)
    except ValueError:  # no pair
        return None


def _composition(seeds: Outcomes, combined: Outcomes) -> Composition | None:
    result = composition(seeds, combined)
    return result if result.n else None


def _decomposition(seeds: Outcomes, halves: Outcomes) -> Decomposition | None:
    result = decomposition(seeds, halves)
    return result if result.n else None
