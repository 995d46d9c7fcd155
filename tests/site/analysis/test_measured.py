"""The analyses over measured results."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import pytest

from triathlon_runner import catalogue
from triathlon_runner.llm import ModelKind
from triathlon_site import analysis

KINDS: dict[str, ModelKind] = {"i": "instruct", "b": "base", "c": "instruct"}
SEEDS = "evolved/core-seeds"


@dataclass(frozen=True)
class Kept:
    """What a site keeps of a record: its outcome is a plain text there."""

    task_id: str
    outcome: str
    parents: tuple[str, ...] = ()
    sample: int = 0


def _units(text: str, **parents: tuple[str, ...]) -> tuple[Kept, ...]:
    """`a+ b-`: a passed, b failed; parents by name."""
    return tuple(
        Kept(word[:-1], "passed" if word[-1] == "+" else "failed", parents.get(word[:-1], ()))
        for word in text.split()
    )


def _of(child: str) -> tuple[str, ...]:
    return tuple(letter for letter in child if letter in "abcd")


def _set(text: str) -> tuple[Kept, ...]:
    """As `_units`; a problem's parents are the letters a to d of its name."""
    return _units(text, **{word[:-1]: _of(word) for word in text.split()})


COMPLETE = {
    SEEDS: _units("a+ b+ c- d-"),
    "evolved/core-difficult": _set("xa- xb-"),
    "evolved/core-creative": _set("xa+ xc-"),
    "evolved/core-subtle": _set("xa+ xb-"),
    "evolved/core-combine": _set("xab+ xac- xcd-"),
    "evolved/core-tool_use": _set("xa+ xb+ xc+ xd-"),
    "evolved/core-tool_use-main_only": _set("xa+ xb- xc- xd-"),
    "evolved/core-verbose": _units("a+ b-", a=("a",), b=("b",)),
    "evolved/core-decompose": _set("xa+ ya+ xb+ yb- xc+ yc+ xd- yd-"),
}


SETS = [entry for entry in catalogue.entries() if entry.set_name and entry.variant_of is None]
CORE = [entry for entry in SETS if entry.core]


def _measured(results: Mapping[str, Mapping[str, tuple[Kept, ...]]]) -> analysis.Measured:
    return analysis.measured(CORE, results, KINDS)


def test_families_stay_apart() -> None:
    """Our sets and the official ones are never mixed; other disciplines and variants are passed over."""
    both = {"i": {**COMPLETE, "evolved/humaneval": _units("h+"), "loop/core": _units("l+")}}
    both["i"]["evolved/humaneval@temperature-0.8"] = _units("h-")
    official = analysis.measured([entry for entry in SETS if not entry.core], both, KINDS)
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
    found = analysis.measured([*CORE, own], {"i": {**COMPLETE, "evolved/mine": halves}}, KINDS)
    assert found.seed_of("mine") == "difficult"
    assert found.paired("i", "difficult", "mine") == analysis.Paired(0, 0, 2, 1)
    assert found.decompositions["mine"]["i"] == analysis.Decomposition(0, 0, 0, 1, 0, 0)


def test_scores_and_drops() -> None:
    """The average and the drops are those of the models that have all six sets; the others take no part."""
    found = _measured({"i": COMPLETE, "b": {SEEDS: _units("a+")}})
    assert found.board["i"]["combine"] == pytest.approx(100 / 3)
    average = (50 + 0 + 50 + 50 + 100 / 3 + 75) / 6
    assert found.averages == {"i": pytest.approx(average)}
    assert found.drops is not None
    assert found.drops.models == 1
    assert found.drops.per_set["difficult"] == 100.0
    assert found.drops.per_set["tool_use"] == -50.0
    assert found.drops.per_model["i"] == pytest.approx(100 * (50 - average) / 50)


def test_incomplete_results() -> None:
    """What cannot be said is absent: no drops without all six sets, none where no seed is solved."""
    partial = _measured({"i": {SEEDS: _units("a+ b-"), "evolved/core-subtle": _set("xa+")}})
    assert (partial.drops, partial.averages, partial.decompositions) == (None, {}, {})
    assert partial.changes["subtle"].change == 100.0
    assert partial.compositions == {}
    assert partial.regions == {}
    assert partial.helped_by_tools is None
    assert _measured({"i": {**COMPLETE, SEEDS: _units("a- b- c- d-")}}).drops is None


def test_same_seeds_by_set() -> None:
    """Each set is set beside exactly the seeds of its problems."""
    found = _measured({"i": COMPLETE}).same_seeds
    assert found["subtle"]["i"] == analysis.SameSeeds(seeds=100.0, evolved=50.0, drop=50.0, problems=2)
    assert found["combine"]["i"].problems == 3


def test_composition_and_decomposition() -> None:
    """Tables 2 and 3 of the paper, from results."""
    found = _measured({"i": COMPLETE, "c": {"evolved/core-combine": _set("xab+")}})
    assert found.compositions == {"combine": {"i": analysis.Composition(1, 1, 1, 1, 0, 0)}}
    assert found.decompositions["decompose"] == {"i": analysis.Decomposition(1, 1, 0, 1, 0, 1)}


def test_helpers_and_other_words_by_kind() -> None:
    """tool_use against main_only, and verbose against the seeds, for instruct and base models apart."""
    found = _measured({"i": COMPLETE, "b": {**COMPLETE, "evolved/core-verbose": _units("a+ b+")}})
    assert found.helped_by_tools is not None
    assert found.helped_by_tools.change == 200.0
    assert {kind: one.change for kind, one in found.by_kind["verbose"].items()} == {
        "instruct": 0.0,
        "base": 100.0,
    }


def test_regions_of_three_models() -> None:
    """From three models on, each has its place beside the line of all."""
    assert set(_measured(dict.fromkeys("ibc", COMPLETE)).regions) == {"i", "b", "c"}


def test_any_pair_of_sets() -> None:
    """Seeds and children, siblings, wholes and parts; the order of the two sets only swaps the counts."""
    found = _measured({"i": COMPLETE})
    assert found.paired("i", "seeds", "subtle") == analysis.Paired(1, 1, 0, 0)
    assert found.paired("i", "subtle", "seeds") == analysis.Paired(1, 0, 1, 0)
    assert found.paired("i", "difficult", "subtle") == analysis.Paired(0, 0, 1, 1)
    assert found.paired("i", "combine", "seeds") == analysis.Paired(1, 0, 0, 2)
    assert found.paired("i", "seeds", "combine_naive") is None
    assert found.paired("nobody", "seeds", "subtle") is None


def test_only_the_first_sample_is_paired() -> None:
    """Further samples change pass@1 and no family link."""
    more = (*COMPLETE["evolved/core-subtle"], Kept("xa", "failed", ("a",), sample=1))
    found = _measured({"i": {**COMPLETE, "evolved/core-subtle": more}})
    assert found.board["i"]["subtle"] == 25.0
    assert found.paired("i", "seeds", "subtle") == analysis.Paired(1, 1, 0, 0)
    assert found.paired("i", "subtle", "difficult") == analysis.Paired(0, 1, 0, 1)


def test_each_set_falls_from_its_own_seeds() -> None:
    """MBPP Pro is held against MBPP+, HumanEval Pro against HumanEval, and neither against the other."""
    results = {
        "i": {
            "evolved/humaneval": _units("h0+ h1+"),
            "evolved/humaneval-pro": _units("p0+ p1-", p0=("h0",), p1=("h1",)),
            "evolved/mbpp-plus": _units("m2+ m3-"),
            "evolved/mbpp-pro": _units("q2- q3-", q2=("m2",), q3=("m3",)),
        }
    }
    found = analysis.measured([entry for entry in SETS if not entry.core], results, {})
    assert {name: one.change for name, one in found.changes.items()} == {
        "humaneval-pro": -50.0,
        "mbpp-pro": -100.0,
    }
    assert found.same_seeds["mbpp-pro"]["i"].problems == 2
    assert found.paired("i", "mbpp-plus", "mbpp-pro") == analysis.Paired(0, 1, 0, 1)
    assert found.paired("i", "humaneval", "mbpp-pro") is None
