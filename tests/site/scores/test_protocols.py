"""Which rows share a ranking: those of one protocol; ranges stand in the order of their middles."""

from collections.abc import Mapping
from dataclasses import replace

import pytest

from support.aggregates import aggregate
from support.hashes import hashes
from support.results import fake_manifest
from triathlon_runner import catalogue
from triathlon_runner.records import Manifest, known_protocols
from triathlon_site.load import FileAggregate, Results
from triathlon_site.scores import UNITS_ARE_OPEN, Board, plan_boards, score_board

SUITE = "loop/core"
ENTRY = next(entry for entry in catalogue.entries() if entry.id == SUITE)
OWN = known_protocols()[SUITE, ""]


def asked(model: str, protocol: str, low: float, high: float | None = None) -> FileAggregate:
    """A model with the same score in twenty tasks."""
    scores = {metric.id: low for metric in ENTRY.metrics} | {"asl_high": low if high is None else high}
    metrics = {name: {f"t{n}": value for n in range(20)} for name, value in scores.items()}
    found = aggregate(model, SUITE, metrics, outcomes={"passed": 20})
    return replace(found, protocol=OWN if protocol == "own" else hashes(protocol))


def board_of(*files: FileAggregate) -> Board:
    (plan,) = (plan for plan in plan_boards([ENTRY]) if plan.suites[0].id == SUITE)
    board = score_board(plan, Results(files, {}, ()))
    assert board is not None
    return board


@pytest.mark.parametrize(
    ("protocols", "ranked"),
    [
        ({"a": "p", "b": "p", "c": "q"}, {"a", "b"}),
        ({"a": "p", "b": "own"}, {"b"}),
        ({"a": "p", "b": "q"}, {"a"}),
        ({"a": "p", "b": "p"}, {"a", "b"}),
    ],
)
def test_the_ranking_is_that_of_most_models(protocols: Mapping[str, str], ranked: set[str]) -> None:
    """Equal: the suite's own. The others have their scores, no rank, no tier, no shift, and stand below."""
    board = board_of(
        *(asked(model, protocol, 0.9 - 0.1 * n) for n, (model, protocol) in enumerate(protocols.items()))
    )
    assert set(board.models) == set(protocols)
    for column in board.columns:
        assert set(column.scores) == ranked == set(board.of_suite(SUITE))
        assert set(column.apart) == set(protocols) - ranked
        for score in column.apart.values():
            assert (score.rank, score.tier, score.shift) == (None,) * 3
    assert set(board.models[: len(ranked)]) == ranked
    assert all(board.headline.shown(model) for model in protocols)


def planned(tasks: int, open_units: int) -> Manifest:
    """Of a run of which 20 tasks have a line."""
    made = fake_manifest("m", SUITE, [])
    changes = {"tasks_planned": tasks, "open_units": open_units, "outcomes": {"passed": 20}}
    return made.model_copy(update=changes)


@pytest.mark.parametrize(
    ("tasks", "open_units", "missing"), [(20, 0, 0), (21, 1, 1), (80, 60, 60), (80, 0, 60), (20, 5, 5)]
)
def test_a_row_that_lacks_planned_units_is_not_ranked(tasks: int, open_units: int, missing: int) -> None:
    """Its manifest calls them open, or names more tasks than have lines: what is missing may have failed."""
    found = replace(asked("lacking", "own", 1.0), manifest=planned(tasks, open_units))
    board = board_of(found, asked("whole", "own", 0.5))
    assert board.open_units("lacking") == missing
    for column in board.columns:
        score = column.shown("lacking")
        assert score and score.apart == (UNITS_ARE_OPEN if missing else "")
        if missing:
            assert (score.rank, score.tier, score.shift) == (None,) * 3
            assert list(column.scores) == ["whole"]
    assert board.models == (("whole", "lacking") if missing else ("lacking", "whole"))


def test_a_board_may_have_no_rank_at_all() -> None:
    """Where every row lacks units."""
    board = board_of(replace(asked("a", "own", 1.0), manifest=planned(80, 60)))
    assert board.models == ("a",) and not board.headline.scores
    assert board.headline.shown("a") and board.headline in board.shown


def test_a_range_is_ordered_by_its_middle() -> None:
    """A judge alone moves no model: the one without stands by its middle, and only apart ranges differ."""
    board = board_of(
        asked("judged", "own", 4.0), asked("wide", "own", 3.9, 4.3), asked("low", "own", 1.0, 1.2)
    )
    ranks = {model: score.rank.rank for model, score in board.headline.scores.items() if score.rank}
    assert ranks == {"wide": 1, "judged": 2, "low": 3}
    tiers = {model: score.tier for model, score in board.headline.scores.items()}
    assert tiers == {"wide": 1, "judged": 1, "low": 2}
