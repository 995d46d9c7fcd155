"""What a build found, small enough to be kept: places on the boards, and what they rest on."""

from collections.abc import Mapping, Sequence
from typing import Final

from triathlon_runner.records import Strict
from triathlon_site.load import Results
from triathlon_site.scores import Board, Overall

HASH_DIGITS: Final = 16
"""Digits of a hash: enough to distinguish two states of one file."""


class Place(Strict):
    """One model on one board."""

    rank: int
    of: int
    """Models that the board ranks."""


class SuiteState(Strict):
    """One file of results."""

    protocol: str
    sha256: str
    """The first `HASH_DIGITS` digits of the file's."""
    tasks: int


class Snapshot(Strict):
    """Everything that changes are computed from."""

    places: dict[str, dict[str, Place]]
    """By board (`overall-core` for an overall one) and model."""
    suites: dict[str, dict[str, SuiteState]]
    """By model and suite."""


def snapshot_of(results: Results, boards: Sequence[Board], overalls: Mapping[str, Overall]) -> Snapshot:
    places = {f"overall-{family}": _overall_places(overall) for family, overall in overalls.items()}
    places |= {board.plan.id: _places(board) for board in boards}
    suites: dict[str, dict[str, SuiteState]] = {}
    for file in results.files:
        if file.units:
            state = SuiteState(protocol=file.protocol, sha256=file.sha256[:HASH_DIGITS], tasks=file.units)
            suites.setdefault(file.model, {})[file.suite] = state
    return Snapshot(places=places, suites=suites)


def _overall_places(overall: Overall) -> dict[str, Place]:
    ranked = [row for row in overall.rows if row.rank]
    return {row.model: Place(rank=row.rank.rank, of=len(ranked)) for row in ranked if row.rank}


def _places(board: Board) -> dict[str, Place]:
    scores = board.headline.scores
    return {
        model: Place(rank=score.rank.rank, of=len(scores)) for model, score in scores.items() if score.rank
    }
