"""Each analysis reproduces the paper's figure from the published tables, or shows what they give instead."""

import csv
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import pytest

from support.published_evoeval import (
    published_board,
    published_composition,
    published_decomposition,
)
from triathlon_site import analysis
from triathlon_site.ranking import smallest_ranks

PUBLISHED = Path(__file__).resolve().parents[3] / "results" / "published"
SETS = ("humaneval", *analysis.SEMANTIC_ALTERING)


@pytest.fixture(scope="module")
def board() -> dict[str, dict[str, float]]:
    return published_board(PUBLISHED)


def _printed_ranks() -> dict[str, dict[str, str]]:
    """Table 1's rank columns as printed, by model."""
    with (Path(__file__).with_name("printed_ranks.csv")).open(encoding="utf-8") as lines:
        return {row["model"]: row for row in csv.DictReader(lines)}


def _ranks(scores: Mapping[str, float]) -> dict[str, str]:
    """Our ranks in table 1's notation: ties carry a star."""
    rounded = [round(score, 6) for score in scores.values()]
    counts = Counter(rounded)
    ranks = smallest_ranks(rounded)
    stars = ["*" if counts[score] > 1 else "" for score in rounded]
    return {model: f"{star}{rank}" for model, star, rank in zip(scores, stars, ranks, strict=True)}


def test_there_are_57_models(board: dict[str, dict[str, float]]) -> None:
    """The paper studies 57 models; a score that is not published is absent, not 0."""
    assert len(board) == len(analysis.evoeval_column(board)) == 57
    assert "verbose" not in board["GPT-4o"]


@pytest.mark.parametrize("name", SETS)
def test_ranks_are_those_of_table_1(board: dict[str, dict[str, float]], name: str) -> None:
    """Ranks with shared ties and stars equal the printed ones in all 51 rows."""
    ranks = _ranks(analysis.column(board, name))
    printed = {model: row[name] for model, row in _printed_ranks().items()}
    assert len(printed) == 51
    assert {model: ranks[model] for model in printed} == printed


def test_ranks_of_the_average(board: dict[str, dict[str, float]]) -> None:
    """Ranks by the EvoEval average equal the printed ones but one: 34.9 % is not rank 20."""
    ranks = _ranks(analysis.evoeval_column(board))
    wrong = {
        m: (ranks[m], row["evoeval"]) for m, row in _printed_ranks().items() if ranks[m] != row["evoeval"]
    }
    assert wrong == {"DS Coder-Inst 1.3b": ("30", "20")}


def test_composition_percentages() -> None:
    """Composition percentages of table 2 follow from its counts."""
    counts = published_composition(PUBLISHED)
    with (PUBLISHED / "evoeval_combine.csv").open(encoding="utf-8") as lines:
        printed = {(row["dataset"], row["model"]): float(row["composition"]) for row in csv.DictReader(lines)}
    assert len(printed) == 16
    composed = {key: 100 * one.solved_both / one.both for key, one in counts.items()}
    assert composed == pytest.approx(printed, abs=0.051)
    assert {
        one.both + one.one + one.none for (name, _), one in counts.items() if name == "combine_naive"
    } == {1074}


def test_composition_agrees_with_table_1(board: dict[str, dict[str, float]]) -> None:
    """What table 2 counts as solved on combine is the model's pass@1 there."""
    for (name, model), one in published_composition(PUBLISHED).items():
        if name == "combine":
            assert one.solved_both + one.solved_one + one.solved_none == board[model]["combine"]


def test_decomposition_percentages() -> None:
    """Decomposition and recomposition percentages of table 3 follow from its counts."""
    counts = published_decomposition(PUBLISHED)
    with (PUBLISHED / "evoeval_decompose.csv").open(encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines))
    assert len(rows) == 8
    for row in rows:
        one = counts[row["model"]]
        passed = one.passed_both + one.passed_one + one.passed_none
        failed = one.n - passed
        assert 100 * one.passed_both / passed == pytest.approx(float(row["decomposition"]), abs=0.051)
        assert 100 * one.failed_both / failed == pytest.approx(float(row["recomposition"]), abs=0.051)


def test_regions(board: dict[str, dict[str, float]]) -> None:
    """Most models are aligned; some do much better on HumanEval+ than their EvoEval score lets expect."""
    placed = analysis.regions(analysis.column(board, "humaneval-plus"), analysis.evoeval_column(board))
    over = {model for model, place in placed.items() if place.region == "better on the old"}
    assert len(placed) == 51
    assert {"DS Coder-Inst 1.3b", "OpenChat 7b", "MagiCoder-s-CL 7b"} <= over
    assert len(over) == 9
    assert not {"Claude-3.5", "GPT-4", "GPT-4-Turbo"} & over
