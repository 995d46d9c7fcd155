"""The numbers of the board over all disciplines."""

import json
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import rankdata

from support.results import FakeModel, FakeSuite, write_results
from support.site import entries, rendered_texts, small_results
from triathlon_site.build import gather
from triathlon_site.scores import Board, Overall, overall

MODELS = tuple(FakeModel(f"m{place}", -1.5 + 0.7 * place, 0.9 - 0.07 * place) for place in range(6))


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Overall:
    """Six models in three disciplines, and one that has two."""
    root = small_results(tmp_path_factory.mktemp("overall"), MODELS)
    write_results(root, [FakeModel("half")], [FakeSuite(e) for e in entries(["loop/core", "runtime/core"])])
    return gather(root, None).overalls["core"]


def complete(board: Board) -> np.ndarray:
    """Headline scores of the models that have every discipline."""
    return np.array([board.headline.scores[model.id].value for model in MODELS])


def test_percentiles_are_ranks_among_the_ranked(found: Overall) -> None:
    """100 · (midrank - 1) / (n - 1) in each discipline, over the models that have all; their mean ranks."""
    shares = np.array([100 * (rankdata(complete(board)) - 1) / 5 for board in found.boards]).T
    rows = {row.model: row for row in found.rows}
    for model, expected in zip(MODELS, shares, strict=True):
        assert rows[model.id].percentiles == pytest.approx(tuple(expected))
        assert rows[model.id].percentile == pytest.approx(expected.mean())
    order = rankdata(-np.round(shares.mean(axis=1), 9), method="min")
    assert [row.rank.rank for m in MODELS if (row := rows[m.id]).rank] == order.tolist()
    for row in found.rows[:-1]:
        assert row.rank and row.rank.low <= row.rank.rank <= row.rank.high


def test_a_model_without_a_discipline_has_no_rank(found: Overall) -> None:
    """It stands last, shows what it has, and takes no place."""
    row = found.rows[-1]
    assert (row.model, row.rank, row.percentile) == ("half", None, None)
    assert [score is not None for score in row.scores] == [True, True, False]


def test_few_models_are_ordered_only(tmp_path: Path) -> None:
    """Below five with every discipline the page and the data have no rank or percentile;
    the order is that of the mean percentile all the same.
    """
    site = gather(small_results(tmp_path, MODELS[2:]), None)
    rows = site.overalls["core"].rows
    models = sorted(site.models)
    places = [rankdata([-board.headline.scores[m].value for m in models]) for board in site.boards]
    by_mean = sorted(zip(np.sum(places, axis=0), models, strict=True))
    assert [row.model for row in rows] == [model for _, model in by_mean]
    assert {(row.rank, row.percentile, row.percentiles) for row in rows} == {(None, None, (None, None, None))}
    pages = rendered_texts(site)
    page = pages["index.html"]
    assert not any(words in page.lower() for words in ("percentile", "rank: by"))
    numbers = [
        value
        for row in json.loads(pages["data/overall-core.json"])["rows"]
        for name, value in row.items()
        if "percentile" in name or "rank" in name
    ]
    assert numbers and set(numbers) == {None}


def test_one_discipline_alone_is_its_own_order(tmp_path: Path) -> None:
    """Overall ranks of one board are that board's."""
    write_results(tmp_path, MODELS, [FakeSuite(entry) for entry in entries(["loop/core"])])
    (board,) = gather(tmp_path, None).boards
    rows = overall([board]).rows
    ranks = [score.rank.rank for m in board.models if (score := board.headline.scores[m]).rank]
    assert [row.rank.rank for row in rows if row.rank] == ranks
