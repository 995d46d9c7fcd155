"""The loop's suites: three data sets, each with every variant of the paper."""

from collections import Counter
from pathlib import Path

from triathlon_runner import loop
from triathlon_runner.datasets import DataStore
from triathlon_runner.records import LoopRecord

ENTRIES = {entry.id: entry for entry in loop.catalogue()}
OFFICIAL = ("loop/mbpp-plus", "loop/humaneval-plus")


def test_three_data_sets_with_all_variants() -> None:
    """Only core needs no download."""
    names = [variant.name for variant in loop.VARIANTS]
    counts = Counter(variant.kind for variant in loop.VARIANTS)
    assert counts == {"prompts": 5, "temperatures": 4, "attacks": 3}
    for data in ("loop/core", *OFFICIAL):
        assert ENTRIES[data].variant_of is None
        assert all(ENTRIES[f"{data}@{name}"].variant_of == data for name in names)
    variants = ("", *(f"+{name}" for name in names))
    own = {f"{data}@own-prompts{variant}" for data in OFFICIAL for variant in variants}
    assert own < set(ENTRIES) and len(ENTRIES) == 3 * 13 + len(own)
    kinds = {None, "own-prompts", *counts, *(f"own-prompts+{kind}" for kind in counts)}
    assert {entry.variant_kind for entry in ENTRIES.values()} == kinds
    repeated = {entry.id for entry in ENTRIES.values() if entry.default_samples == 5}
    assert repeated == {f"{data}@temperature-0.8" for data in OFFICIAL}
    for entry in ENTRIES.values():
        assert (entry.discipline, entry.record, entry.metrics != ()) == ("loop", LoopRecord, True)
        assert entry.core == entry.id.startswith("loop/core")


def test_core_needs_no_data() -> None:
    suite = ENTRIES["loop/core"].build(DataStore(cache=Path("nowhere"), fetch=False))
    assert isinstance(suite, loop.LoopSuite) and suite.id == "loop/core"
    assert len(suite.tasks()) >= 20 and all(task.level for task in suite.tasks())
    assert all(problem.assertion.startswith("assert ") for problem in suite.problems)
