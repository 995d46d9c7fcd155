"""Tasks that were made from the same problems hang together in every number."""

import pytest

from support.results import FakeModel, FakeSuite, task_id, write_results
from support.site import SUITES, entries
from triathlon_site.build import gather
from triathlon_site.scores import ColumnScores, seeds_of


@pytest.fixture(scope="module")
def columns(tmp_path_factory: pytest.TempPathFactory) -> dict[str, ColumnScores]:
    """Of the board of the evolved sets, by their titles; the second model has some tasks only."""
    root = tmp_path_factory.mktemp("seeds")
    write_results(root, [FakeModel("a", 1.0)], [FakeSuite(entry, tasks=12) for entry in entries()])
    partial = [FakeSuite(entry, tasks=12, planned=5) for entry in entries(SUITES[2:])]
    write_results(root, [FakeModel("b", 0.0)], partial)
    (board,) = (board for board in gather(root, None).boards if board.plan.id == "evolved-core")
    return {column.column.title: column for column in board.columns}


def test_a_task_has_the_seeds_that_its_record_names(columns: dict[str, ColumnScores]) -> None:
    """One parent, two, or the problem itself; the same names in every set."""
    seeds = [(task_id("evolved/core-seeds", n),) for n in range(12)]
    assert list(columns["seeds"].samples[0].origins) == seeds
    assert list(columns["difficult"].samples[0].origins) == seeds
    combined = [(*seeds[n], *seeds[(n + 1) % 12]) for n in range(12)]
    assert list(columns["combine"].samples[0].origins) == combined


def test_problems_of_other_names_are_known() -> None:
    """DREval's programs are HumanEval's and ClassEval's, MBXP's problems are MBPP's."""
    known = {
        "DREval/2": "HumanEval/3",
        "DREval/84": "HumanEval/161",
        "DREval/85": "ClassEval_1",
        "DREval/153": "ClassEval_97",
        "mine/1": "mine/1",
    }
    found = seeds_of(list(known), [])
    assert [name for (name,) in found] == list(known.values())
    assert seeds_of(["MBXP/11"], []) == (("Mbpp/11",),)
