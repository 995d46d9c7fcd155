"""The analyses of the evolved sets: counted by hand on small families, and over measured results."""

from collections.abc import Mapping
from dataclasses import replace

import pytest

from triathlon_runner import catalogue
from triathlon_runner.llm import ModelKind
from triathlon_site import analysis
from triathlon_site.load import TaskResult

KINDS: dict[str, ModelKind] = {"i": "instruct", "b": "base", "c": "instruct"}
SEEDS = "evolved/core-seeds"
Units = tuple[TaskResult, ...]


def _units(text: str, **parents: tuple[str, ...]) -> Units:
    """`a+ b-`: a passed, b failed; parents by name."""
    return tuple(
        TaskResult(word[:-1], 0, "passed" if word[-1] == "+" else "failed", parents.get(word[:-1], ()))
        for word in text.split()
    )


def _set(text: str) -> Units:
    """As `_units`; a problem's parents are the letters a to d of its name."""
    letters = {word[:-1]: tuple(letter for letter in word if letter in "abcd") for word in text.split()}
    return _units(text, **letters)


COMPLETE = {
    SEEDS: _units("a+ b+ c- d-"),
    "evolved/core-difficult": _set("xa- xb-"),
    "evolved/core-creative": _set("xa+ xc-"),
    "evolved/core-subtle": _set("xa+ xb-"),
    "evolved/core-combine": _set("xab+ yba- xac+ xcd-"),
    "evolved/core-tool_use": _set("xa+ xb+ xc+ xd-"),
    "evolved/core-tool_use-main_only": _set("xa+ xb- xc- xd-"),
    "evolved/core-verbose": _units("a+ b-", a=("a",), b=("b",)),
    "evolved/core-decompose": _set("xa+ ya+ xb+ yb- xc+ yc+ xd- yd-"),
}


SETS = [entry for entry in catalogue.entries() if entry.set_name and entry.variant_of is None]
CORE = [entry for entry in SETS if entry.core]


def _measured(results: Mapping[str, Mapping[str, Units]]) -> analysis.Measured:
    return analysis.Measured(CORE, results, KINDS)


def test_families_stay_apart() -> None:
    """Our sets and the official ones are never mixed; other disciplines and variants are passed over."""
    both = {"i": {**COMPLETE, "evolved/humaneval": _units("h+"), "loop/core": _units("l+")}}
    both["i"]["evolved/humaneval@temperature-0.8"] = _units("h-")
    official = analysis.Measured([entry for entry in SETS if not entry.core], both, KINDS)
    assert official.board == {"i": {"humaneval": 100.0}}
    assert (_measured(both).seed, official.seed) == ("seeds", "humaneval")
    assert "humaneval" not in _measured(both).board["i"]


def test_a_users_set_is_one_of_its_family() -> None:
    """It is compared with the seeds that its row names; here with problems that were evolved themselves."""
    (difficult,) = (entry for entry in CORE if entry.set_name == "difficult")
    own = replace(
        difficult, id="evolved/mine", set_name="mine", seeds=difficult.id, transformation="decompose"
    )
    halves = _units("y+ z+ v-", y=("xa",), z=("xa",), v=("xb",))
    found = analysis.Measured([*CORE, own], {"i": {**COMPLETE, "evolved/mine": halves}}, KINDS)
    assert found.seed_of("mine") == "difficult"
    assert found.pairs["mine"]["i"] == analysis.Paired(0, 0, 2, 1)
    assert found.decompositions["mine"]["i"] == analysis.InTwoParts((0, 0, 0), (1, 0, 0))


def test_scores_and_drops() -> None:
    """Those of the models that have all six sets; without these, or a solved seed, there are none."""
    found = _measured({"i": COMPLETE, "b": {SEEDS: _units("a+")}})
    average = (50 + 0 + 50 + 50 + 50 + 75) / 6
    assert found.drops is not None and found.drops.models == 1
    assert found.drops.overall == pytest.approx((100 + 0 + 0 + 0 - 50) / 5)
    assert found.drops.per_model["i"] == pytest.approx(100 * (50 - average) / 50)
    partial = _measured({"i": {SEEDS: _units("a+ b-"), "evolved/core-subtle": _set("xa+")}})
    assert (partial.drops, partial.compositions, partial.decompositions) == (None, {}, {})
    assert partial.alike("seeds", "subtle").keys() == {"i"}
    assert _measured({"i": {**COMPLETE, SEEDS: _units("a- b- c- d-")}}).drops is None


def test_what_sets_say_of_their_seeds() -> None:
    """Tables 2 and 3 of the paper; a problem with a parent that was not asked takes no part."""
    combined = (*COMPLETE["evolved/core-combine"], *_units("x+", x=("a", "not asked")))
    results = {**COMPLETE, "evolved/core-combine": combined}
    found = _measured({"i": results, "c": {"evolved/core-combine": _set("xab+")}})
    assert found.pairs["subtle"]["i"].drop == 50.0
    assert found.pairs["combine"]["i"].drop == 0.0
    assert found.compositions == {"combine": {"i": analysis.InTwoParts((1, 1, 0), (1, 0, 1))}}
    assert found.decompositions["decompose"] == {"i": analysis.InTwoParts((1, 1, 0), (1, 0, 1))}


def test_changes_by_kind_are_of_models_that_have_both_scores() -> None:
    """For instruct and base models apart; averaged over those that start above 0, of one protocol."""
    found = _measured({"i": COMPLETE, "b": {**COMPLETE, "evolved/core-verbose": _units("a+ b+")}})
    changes = {kind: one.change for kind, one in found.by_kind["verbose"].items()}
    assert changes == {"instruct": 0.0, "base": 100.0}
    board = {
        "i": {"humaneval": 50.0, "verbose": 40.0},
        "c": {"humaneval": 50.0},
        "k": {"humaneval": 0.0, "verbose": 10.0},
        "b": {"humaneval": 20.0, "verbose": 30.0},
    }
    by_kind = analysis.change_by_kind(board, {**KINDS, "k": "instruct"}, "verbose")
    assert by_kind["instruct"] == analysis.Change(change=-20.0, models=1)
    assert by_kind["base"].change == 50.0
    found = analysis.Measured(CORE, dict.fromkeys("bic", COMPLETE), KINDS, {("b", SEEDS): "other words"})
    assert found.alike("seeds", "subtle").keys() == {"i", "c"} and "base" not in found.by_kind["subtle"]


def test_problems_against_their_own_seeds() -> None:
    """A problem of several seeds is held against all of them; further samples change pass@1 and no pair."""
    more = (*COMPLETE["evolved/core-subtle"], TaskResult("xa", 1, "failed", ("a",)))
    for subtle, score in ((COMPLETE["evolved/core-subtle"], 50.0), (more, 25.0)):
        found = _measured({"i": {**COMPLETE, "evolved/core-subtle": subtle}})
        assert found.board["i"]["subtle"] == score
        assert found.pairs["subtle"] == {"i": analysis.Paired(1, 1, 0, 0)}
        assert found.pairs["combine"] == {"i": analysis.Paired(1, 1, 1, 1)}
    assert "combine_naive" not in found.pairs and "seeds" not in found.pairs


def test_mcnemar() -> None:
    """The exact two-sided probability of a split so uneven, were both kinds equally likely."""
    for first, second, p_value in ((6, 0, 0.03125), (8, 1, 0.0390625), (0, 0, 1.0)):
        assert analysis.Paired(5, first, second, 3).p_value == pytest.approx(p_value)
