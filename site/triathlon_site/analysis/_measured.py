"""All analyses over measured results: one object a family of sets, made of every model's units by suite."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

from triathlon_runner.llm import ModelKind
from triathlon_runner.suites import SuiteEntry
from triathlon_site.analysis import _board, _families
from triathlon_site.analysis._board import Board, Change, Drops, Placed
from triathlon_site.analysis._families import Composition, Decomposition, Outcomes, Paired, SameSeeds, Unit

T = TypeVar("T")


def measured(
    sets: Sequence[SuiteEntry],
    results: Mapping[str, Mapping[str, Sequence[Unit]]],
    kinds: Mapping[str, ModelKind],
) -> "Measured":
    """The analyses of one family of sets.

    Args:
        sets: those of one board, the seeds that most of them were evolved from first.
        results: by model and suite id; other suites are passed over.
        kinds: of each model, as models.yaml has it.
    """
    names = {entry.id: entry.set_name for entry in sets}
    units = {
        model: {names[suite]: units for suite, units in suites.items() if suite in names and units}
        for model, suites in results.items()
    }
    return Measured({entry.set_name: entry for entry in sets}, units, kinds)


@dataclass(frozen=True)
class Measured:
    """One family of sets. Sets and models without results are absent, never 0."""

    sets: Mapping[str, SuiteEntry]
    """By name."""
    units: Mapping[str, Mapping[str, Sequence[Unit]]]
    """By model and set."""
    kinds: Mapping[str, ModelKind]

    @property
    def seed(self) -> str:
        """The set that the others evolved from: `seeds`, `humaneval`, or a user's own."""
        return next(iter(self.sets))

    @cached_property
    def _names(self) -> dict[str, str]:
        return {entry.id: name for name, entry in self.sets.items()}

    def seed_of(self, name: str) -> str:
        """The set that one set evolved from, which for the sets on MBPP is another than `seed`.

        Its own name where its problems are seeds.
        """
        return self._names.get(self.sets[name].seeds or "", name)

    def made_by(self, *transformations: str) -> list[str]:
        """The sets that were evolved from seeds in these ways, a user's own among them."""
        evolved = [(name, entry) for name, entry in self.sets.items() if self.seed_of(name) != name]
        return [name for way in transformations for name, entry in evolved if entry.transformation == way]

    @property
    def old(self) -> str:
        """The set that `regions` takes for the old benchmark (EvoEval, figure 2)."""
        return "humaneval-plus" if "humaneval-plus" in self.sets else self.seed

    @cached_property
    def board(self) -> Board:
        """pass@1 in per cent by model and set; with several samples a task their mean."""
        return {model: _board.row_of(sets) for model, sets in self.units.items()}

    @cached_property
    def _outcomes(self) -> dict[str, dict[str, Outcomes]]:
        """By model and set."""
        return {
            model: {name: _families.outcomes(units) for name, units in sets.items()}
            for model, sets in self.units.items()
        }

    @cached_property
    def averages(self) -> dict[str, float]:
        """The EvoEval average of the models that have all six sets (table 1)."""
        return _board.evoeval_column(self.board, self.seed)

    @cached_property
    def drops(self) -> Drops | None:
        """Relative drops per set and overall, as section 4.1 has them: over models with all six sets."""
        solves = any(self.board[model][self.seed] > 0 for model in self.averages)
        return _board.drops(self.board, self.seed) if solves else None

    @cached_property
    def changes(self) -> dict[str, Change]:
        """Mean relative change from its seeds to each other set, over the models that have both."""
        sets = dict.fromkeys(name for row in self.board.values() for name in row)
        changes = {name: _board.change(self.board, self.seed_of(name), name) for name in sets}
        return {name: c for name, c in changes.items() if c is not None and self.seed_of(name) != name}

    @cached_property
    def same_seeds(self) -> dict[str, dict[str, SameSeeds]]:
        """By set and model: the set against exactly its problems' own seeds (the paper: 22.5 % on subtle)."""
        return self._by_set(_families.against_same_seeds, *self.changes)

    @cached_property
    def compositions(self) -> dict[str, dict[str, Composition]]:
        """By set (combine, combine_naive) and model: solved by how many parents are (table 2)."""
        return self._by_set(_families.composition, *self.made_by("combine", "combine_naive"))

    @cached_property
    def decompositions(self) -> dict[str, dict[str, Decomposition]]:
        """By set and model: halves solved by whether their seed is (table 3)."""
        return self._by_set(_families.decomposition, *self.made_by("decompose"))

    @cached_property
    def by_kind(self) -> dict[str, dict[str, Change]]:
        """By set and kind of model, the mean relative change: verbose, concise and subtle from the seeds
        (section 4.1), tool_use from the same problems without helper functions (section 4.3: 59.2 % more for
        instruct models, 122.0 % for base models).
        """
        before = {name: self.seed_of(name) for name in self.made_by(*_board.SEMANTIC_PRESERVING, "subtle")}
        if self.sets.keys() >= {"tool_use", "tool_use-main_only"}:
            before["tool_use"] = "tool_use-main_only"
        by_set = {
            name: _board.change_by_kind(self.board, self.kinds, name, seed) for name, seed in before.items()
        }
        return {name: changes for name, changes in by_set.items() if changes}

    @cached_property
    def helped_by_tools(self) -> Change | None:
        """tool_use against the same problems without helper functions (section 4.3: 80.1 % more)."""
        return _board.change(self.board, "tool_use-main_only", "tool_use")

    @cached_property
    def regions(self) -> dict[str, Placed]:
        """The old benchmark against the average over the new one (figure 2); empty below three models."""
        old = _board.column(self.board, self.old)
        return _board.regions(old, self.averages) if len(old.keys() & self.averages.keys()) > 2 else {}

    def paired(self, model: str, first: str, second: str) -> Paired | None:
        """Compares any two sets for one model: solved only in the first, only in the second; McNemar's test.

        None where the model lacks one of them or no problem of the one belongs to one of the other.
        """
        sets = self._outcomes.get(model, {})
        if first not in sets or second not in sets:
            return None
        before = sets[first].as_seeds() if first == self.seed_of(second) else sets[first]
        return _families.sets_against_each_other(before, sets[second])

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
                result = analyse(seeds.as_seeds(), sets[name])
                if result is not None:
                    by_set.setdefault(name, {})[model] = result
        return by_set
