"""The library of hostile programs against the live engine."""

import pytest

from support.attacks import Attack, attack, library
from triathlon_runner.sandbox import doctor

FAST = {
    "answer-keys", "answer-reads-frame", "answer-reads-frame-of-class", "answer-reads-module", "change-modes",
    "class-answers-frames", "class-patches-unittest",
    "class-that-lies", "datagram-from-a-pair", "environment", "equals-everything", "exit-zero",
    "forge-before-inputs",
    "fork-bomb", "giant-frame", "half-characters", "kill-parent", "left-over-files-1",
    "left-over-files-2", "overwrite-file", "print-success", "reduce-code", "signal-by-descriptor",
    "raw-calls", "symlink-out", "truncate-by-reading", "unconfine", "walk-files",
}  # fmt: skip


def test_the_library_is_large_and_documented() -> None:
    """At least 100 attacks of all kinds, on functions and on classes, each with a sentence of its own."""
    attacks = library()
    assert len(attacks) >= 100 and {one.on_class for one in attacks} == {True, False}
    assert {one.kind for one in attacks} == {"cheat", "theft", "sabotage", "dos"}
    assert len({one.what for one in attacks}) == len(attacks)
    assert all(one.what.endswith(".") for one in attacks)


ALL = pytest.param({one.name for one in library()}, marks=pytest.mark.slow)


@pytest.mark.parametrize("names", [FAST, ALL])
@pytest.mark.parametrize("level", ["namespaces", "lite"])
async def test_the_engine_holds(level: str, names: set[str]) -> None:
    """None of a fast selection, or of the whole library, scores, steals, harms or survives."""
    chosen = [one for one in library() if one.name in names]
    assert {one.name for one in chosen} == names
    assert [result for result in await attack(level, chosen) if not result.held] == []


async def test_what_gets_out_is_noticed() -> None:
    """The check itself can fail: a right answer of a cheat scores, a trace of loot is stolen."""
    scoring = Attack("right", "Is right.", "cheat", honest=False, source="def f(x):\n    return x + 1\n")
    stealing = Attack(
        "loot", "Leaves a trace.", "theft", honest=True, source="loot('x', 1)\ndef f(x):\n    return x + 1\n"
    )
    results = await attack(attacks=(scoring, stealing))
    assert [(bool(result.scored), bool(result.stole)) for result in results] == [(True, False), (False, True)]
    assert not any(result.held for result in results)


async def test_doctor_names_level_and_languages() -> None:
    """The doctor tries what there is: a level, and every language with a version or what is missing."""
    health = await doctor()
    assert health.level in ("namespaces", "lite")
    assert len(health.languages) == 5
    assert all(bool(one.version) != bool(one.fault) for one in health.languages)
