"""All analyses over measured results: one object a family of sets, made of every model's units by suite."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, TypeVar

from triathlon_runner.errors import UserError
from triathlon_runner.evolved.analysis import _board, _families
from triathlon_runner.evolved.analysis._board import Board, Change, Drops, Placed
from triathlon_runner.evolved.analysis._families import (
    Composition,
    Decomposition,
    Outcomes,
    Paired,
    SameSeeds,
    Unit,
)
from triathlon_runner.llm import ModelKind
from triathlon_runner.records import EvolvedRecord
from triathlon_runner.store import ResultsFolder, read_records

Source = Literal["core", "official"]
"""Whose problems: ours (`evolved/core-…`) or the official ones. Never mixed: they are different problems."""

T = TypeVar("T")


def read_results(folder: ResultsFolder) -> dict[str, dict[str, tuple[EvolvedRecord, ...]]]:
    """Records by model and suite id; lines of another protocol than their manifest's are left out.

    Raises:
        UserError: there are no results of this discipline, or a line that is no record.
    """
    results: dict[str, dict[str, tuple[EvolvedRecord, ...]]] = {}
    for model, suite in folder.files():
        if not suite.startswith("evolved/"):
            continue
        manifest = folder.read_manifest(model, suite)
        records = read_records(folder.lines(model, suite), EvolvedRecord)
        results.setdefault(model, {})[suite] = tuple(
            record for record in records if manifest is None or record.protocol == manifest.protocol
        )
    if not results:
        raise UserError(
            f"expected results of the evolved discipline in {str(folder.root / 'runs')!r}, found none;"
            " run `triathlon run` first or name another folder at --results"
        )
    return results


def source_of(suite: str) -> tuple[Source, str] | None:
    """`evolved/core-tool_use` → (core, tool_use); None for other disciplines and for variants (`@`)."""
    discipline, _, name = suite.partition("/")
    if discipline != "evolved" or "@" in name:
        return None
    return ("core", name.removeprefix("core-")) if name.startswith("core-") else ("official", name)


def measured(
    results: Mapping[str, Mapping[str, Sequence[Unit]]], kinds: Mapping[str, ModelKind]
) -> dict[Source, "Measured"]:
    """The families that there are results of.

    Args:
        results: by model and suite id; those of other disciplines and variants are passed over.
        kinds: of each model, as models.yaml has it.
    """
    by_source: dict[Source, dict[str, dict[str, Sequence[Unit]]]] = {"core": {}, "official": {}}
    for model, suites in results.items():
        for suite, units in suites.items():
            if units and (place := source_of(suite)):
                by_source[place[0]].setdefault(model, {})[place[1]] = units
    return {source: Measured(source, units, kinds) for source, units in by_source.items() if units}


@dataclass(frozen=True)
class Measured:
    """One family of sets. Sets and models without results are absent, never 0."""

    source: Source
    units: Mapping[str, Mapping[str, Sequence[Unit]]]
    """By model and set."""
    kinds: Mapping[str, ModelKind]

    @property
    def seed(self) -> str:
        """The set that the others evolved from: `seeds` or `humaneval`."""
        return "seeds" if self.source == "core" else _board.SEED

    def seed_of(self, name: str) -> str:
        """The set that one set evolved from, which for the sets on MBPP is another than `seed`."""
        return self.seed if self.source == "core" else _board.seed_of(name)

    @property
    def old(self) -> str:
        """The set that `regions` takes for the old benchmark (EvoEval, figure 2)."""
        return "seeds" if self.source == "core" else "humaneval-plus"

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
        return self._by_set(_families.composition, "combine", "combine_naive")

    @cached_property
    def decompositions(self) -> dict[str, Decomposition]:
        """By model: halves solved by whether their seed is (table 3)."""
        return self._by_set(_families.decomposition, "decompose").get("decompose", {})

    @cached_property
    def by_kind(self) -> dict[str, dict[str, Change]]:
        """By set and kind of model, the mean relative change: verbose, concise and subtle from the seeds
        (section 4.1), tool_use from the same problems without helper functions (section 4.3: 59.2 % more for
        instruct models, 122.0 % for base models).
        """
        before = dict.fromkeys((*_board.SEMANTIC_PRESERVING, "subtle"), self.seed)
        before["tool_use"] = "tool_use-main_only"
        by_set = {n: _board.change_by_kind(self.board, self.kinds, n, old) for n, old in before.items()}
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
        both = first in sets and second in sets
        return _families.sets_against_each_other(sets[first], sets[second]) if both else None

    def _by_set(
        self, analyse: Callable[[Outcomes, Outcomes], T | None], *names: str
    ) -> dict[str, dict[str, T]]:
        """By set and model, `analyse(seeds, set)` where it is not None and the model has both."""
        by_set: dict[str, dict[str, T]] = {}
        for name in names:
            for model, sets in self._outcomes.items():
                seeds = sets.get(self.seed_of(name))
                result = analyse(seeds, sets[name]) if seeds is not None and name in sets else None
                if result is not None:
                    by_set.setdefault(name, {})[model] = result
        return by_set
