"""Synthetic results of many models on whole suites, in the runner's own format, written quickly.

A few models of different strengths are made record by record; each of the many takes every unit from one of
the few that are near its own strength, so that no two are alike.
"""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from support.results import FakeModel, FakeSuite, fake_manifest, fake_records
from triathlon_runner import catalogue
from triathlon_runner.records import Usage
from triathlon_runner.suites import SuiteEntry

POOL: Final = 9
FULL: Final = {
    "loop/core": 80,
    "loop/mbpp-plus": 378,
    "loop/humaneval-plus": 164,
    "translation/core": 76,
    "translation/mbxp": 957,
    "runtime/core": 395,
    "runtime/dreval": 690,
    "runtime/humaneval": 439,
    "runtime/classeval": 484,
    "evolved/core-seeds": 80,
    "evolved/core-difficult": 40,
    "evolved/core-creative": 40,
    "evolved/core-subtle": 40,
    "evolved/core-combine": 40,
    "evolved/core-tool_use": 40,
    "evolved/core-tool_use-main_only": 40,
    "evolved/core-verbose": 80,
    "evolved/core-concise": 80,
    "evolved/core-decompose": 50,
    "evolved/core-combine_naive": 100,
    "evolved/humaneval": 164,
    "evolved/humaneval-plus": 164,
    "evolved/difficult": 100,
    "evolved/creative": 100,
    "evolved/subtle": 100,
    "evolved/combine": 100,
    "evolved/tool_use": 100,
    "evolved/tool_use-main_only": 100,
    "evolved/verbose": 164,
    "evolved/concise": 164,
    "evolved/combine_naive": 1074,
}
"""Units of each suite under `run --profile full`, counted with the official data of 2024 to 2026."""


@dataclass(frozen=True)
class _Line:
    """One record of the pool, its model's id left open."""

    before: bytes
    after: bytes
    outcome: str
    usage: Usage


def full_suites(*, official: bool = True) -> dict[SuiteEntry, int]:
    """Every suite that has a board, with its number of units; variants are asked for by name only."""
    chosen = {entry: FULL[entry.id] for entry in catalogue.entries() if entry.id in FULL}
    return {entry: units for entry, units in chosen.items() if official or entry.core}


def write_many(
    root: Path, models: Sequence[str], suites: dict[SuiteEntry, int], *, padding: int = 0, seed: int = 1
) -> None:
    """`runs/<model>/<suite>.jsonl` with its manifest, for every model and suite."""
    for entry, units in suites.items():
        suite = FakeSuite(entry, tasks=units, padding=padding)
        pool = [list(_pooled(place, suite)) for place in range(POOL)]
        for place, model in enumerate(models):
            _write(root, model, suite, _mixed(pool, place, len(models), f"{seed} {model} {entry.id}"))


def _pooled(place: int, suite: FakeSuite) -> Iterator[_Line]:
    share = place / (POOL - 1)
    fake = FakeModel(f"@pool-{place}@", -2 + 4 * share, 0.5 + 0.45 * share)
    for record in fake_records(fake, suite):
        before, after = record.model_dump_json(by_alias=True).split(fake.id, 1)
        yield _Line(before.encode(), after.encode() + b"\n", str(record.outcome), record.usage)


def _mixed(pool: list[list[_Line]], place: int, models: int, name: str) -> list[_Line]:
    random = np.random.default_rng(list(name.encode()))
    middle = 1 + (POOL - 3) * place / max(models - 1, 1)
    chosen = np.clip(np.rint(random.normal(middle, 0.8, size=len(pool[0]))), 0, POOL - 1)
    return [pool[int(which)][unit] for unit, which in enumerate(chosen)]


def _write(root: Path, model: str, suite: FakeSuite, lines: Sequence[_Line]) -> None:
    path = root / "runs" / model / f"{suite.entry.id}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    name = model.encode()
    path.write_bytes(b"".join(part for line in lines for part in (line.before, name, line.after)))
    manifest = fake_manifest(model, suite.entry.id, [], suite).model_copy(
        update={
            "outcomes": dict(Counter(line.outcome for line in lines)),
            "usage": sum((line.usage for line in lines), Usage()),
        }
    )
    path.with_name(path.name.removesuffix(".jsonl") + ".manifest.json").write_text(
        json.dumps(manifest.model_dump(mode="json", by_alias=True), indent=1)
    )
