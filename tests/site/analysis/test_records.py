"""The analyses over records: counted by hand on small families."""

from collections.abc import Mapping

import pytest

from support.hashes import hashes
from triathlon_runner.llm import ModelKind
from triathlon_runner.records import EvolvedRecord, Outcome, Reply
from triathlon_site import analysis


def _records(
    outcomes: dict[str, bool], parents: Mapping[str, tuple[str, ...]] | None = None
) -> list[EvolvedRecord]:
    return [
        EvolvedRecord(
            suite="evolved/x",
            model="m",
            task_id=task,
            protocol=hashes(""),
            outcome=Outcome.PASSED if passed else Outcome.FAILED,
            prompt="",
            reply=Reply(text=""),
            program="",
            verdict=None,
            parents=(parents or {}).get(task, ()),
        )
        for task, passed in outcomes.items()
    ]


SEEDS = _records({"a": True, "b": True, "c": False, "d": False})
SEED_OUTCOMES = analysis.outcomes(SEEDS)


def test_row_of_records() -> None:
    """A model's row holds its pass@1 in per cent by set, and nothing for a set without records."""
    assert analysis.row_of({"humaneval": SEEDS, "subtle": []}) == {"humaneval": 50.0}
    assert analysis.evoeval_column({"m": {"humaneval": 50.0}}) == {}


def test_composition_by_parents() -> None:
    """Combined problems are counted by how many of their two parents are solved alone."""
    parents = {"ab": ("a", "b"), "ab2": ("b", "a"), "ac": ("a", "c"), "cd": ("c", "d"), "ax": ("a", "x")}
    combined = _records({"ab": True, "ab2": False, "ac": True, "cd": False, "ax": True}, parents)
    found = analysis.composition(SEED_OUTCOMES, analysis.outcomes(combined))
    assert found == analysis.Composition(2, 1, 1, 1, 1, 0)


def test_decomposition_by_seed() -> None:
    """Halves are counted by whether their seed is solved; a seed with one half only takes no part."""
    halves = {
        "a1": True,
        "a2": True,
        "b1": True,
        "b2": False,
        "c1": True,
        "c2": True,
        "d1": False,
        "d2": False,
    }
    records = _records({**halves, "a3x": True}, {name: (name[0],) for name in halves})
    found = analysis.decomposition(SEED_OUTCOMES, analysis.outcomes(records))
    assert found == analysis.Decomposition(1, 1, 0, 1, 0, 1)
    assert analysis.decomposition(SEED_OUTCOMES, analysis.outcomes(records[:1])) is None


def test_parents_against_children() -> None:
    """The four cases of parent and child, and McNemar's exact test on the two that differ."""
    parents = {f"{name}'": (name,) for name in "abcd"}
    children = _records({"a'": True, "b'": False, "c'": True, "d'": False}, parents)
    found = analysis.sets_against_each_other(SEED_OUTCOMES, analysis.outcomes(children))
    assert found is not None
    assert (found.both, found.first_only, found.second_only, found.neither, found.n) == (1, 1, 1, 1, 4)
    assert found.p_value == 1.0


@pytest.mark.parametrize(("first", "second", "p_value"), [(6, 0, 0.03125), (8, 1, 0.0390625), (0, 0, 1.0)])
def test_mcnemar(first: int, second: int, p_value: float) -> None:
    """The exact two-sided probability of a split so uneven, were both kinds equally likely."""
    found = analysis.Paired(both=5, first_only=first, second_only=second, neither=3)
    assert found.p_value == pytest.approx(p_value)


def test_change_by_kind() -> None:
    """Relative changes are averaged over the models of a kind that have both scores and start above 0."""
    board = {
        "i": {"humaneval": 50.0, "verbose": 40.0},
        "j": {"humaneval": 50.0},
        "k": {"humaneval": 0.0, "verbose": 10.0},
        "b": {"humaneval": 20.0, "verbose": 30.0},
    }
    kinds: dict[str, ModelKind] = {"i": "instruct", "j": "instruct", "k": "instruct", "b": "base"}
    found = analysis.change_by_kind(board, kinds, "verbose")
    assert found["instruct"] == analysis.Change(change=-20.0, before=50.0, after=40.0, models=1)
    assert found["base"].change == 50.0


def test_regions_find_the_one_below_the_line() -> None:
    """A model far below the line of the others is better on the old benchmark; scatter is aligned."""
    old = {f"m{n}": 10.0 * n for n in range(1, 9)}
    new = {model: score / 2 + (1 if index % 2 else -1) for index, (model, score) in enumerate(old.items())}
    placed = analysis.regions({**old, "x": 80.0}, {**new, "x": 10.0})
    assert [model for model, place in placed.items() if place.region != "aligned"] == ["x"]
    with pytest.raises(ValueError, match="at least 3"):
        analysis.regions({"x": 1.0}, {"x": 1.0})
