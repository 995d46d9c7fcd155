"""Why a model falls: found from the front page, told with numbers, ending on evidence."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

from support.results import FakeModel, FakeSuite, write_results
from support.site import SUITES, build_small, entries
from triathlon_site.build import gather
from triathlon_site.pages import Gathered
from triathlon_site.pages.model import drops_of, falls_of, retention_on, steepest

FEWEST = 2
"""Other models below which a task says nothing."""
FORGETFUL = FakeModel("forgetful", 4.0, 0.15)
"""Solves nearly everything once and keeps none of it."""
MODELS = (FORGETFUL, *(FakeModel(f"steady-{n}", 0.4 + 0.1 * n, 0.97) for n in range(4)))


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A built site on which one model falls from the first place to the last."""
    root = tmp_path_factory.mktemp("falls")
    write_results(root / "results", MODELS, [FakeSuite(entry, tasks=40) for entry in entries(SUITES)])
    build_small(root)
    return root


@pytest.fixture(scope="module")
def site(root: Path) -> Gathered:
    return gather(root / "results", None)


def test_only_solved_tasks_can_be_lost(root: Path, site: Gathered) -> None:
    """The loops of a task count where it was solved at all, as the records say."""
    board = next(board for board in site.boards if board.plan.id == "loop-core")
    found = retention_on(board, {})
    (kept,) = found.suites
    for row, model in enumerate(found.models):
        lines = (root / f"results/runs/{model}/loop/core.jsonl").read_text().splitlines()
        loops = {record["task_id"]: record["sustained_loops"] for record in map(json.loads, lines)}
        values = dict(zip(kept.tasks, kept.values[row].tolist(), strict=True))
        assert {name: value for name, value in values.items() if not np.isnan(value)} == {
            name: count for name, count in loops.items() if count
        }


def test_a_changed_problem_counts_where_its_seeds_are_solved(site: Gathered) -> None:
    """What a model could not do before it cannot lose."""
    board = next(board for board in site.boards if board.plan.id == "evolved-core")
    files = {file.suite: file for file in board.files["forgetful"]}
    parents = {task.task_id: task.parents for file in files.values() for task in file.tasks}
    solved = {t.task_id for t in files["evolved/core-seeds"].tasks if t.outcome == "passed"}
    found = retention_on(board, parents)
    row = found.models.index("forgetful")
    assert [kept.suite.partition("-")[2] for kept in found.suites] == [
        "difficult",
        "creative",
        "subtle",
        "combine",
        "tool_use",
    ]
    for kept in found.suites:
        for task, value in zip(kept.tasks, kept.values[row].tolist(), strict=True):
            assert np.isnan(value) == (not parents[task] or not set(parents[task]) <= solved)


def test_a_changed_problem_that_a_model_did_not_run_counts_for_nobody_beside_it(site: Gathered) -> None:
    """Whoever ran a part is compared on that part; what is reckoned for the others stays as it is."""
    board = next(board for board in site.boards if board.plan.id == "evolved-core")
    parents = {t.task_id: t.parents for file in board.files["forgetful"] for t in file.tasks}
    full = retention_on(board, parents)
    dropped = next(task for task in full.suites[0].tasks if parents[task])
    part = retention_on(board, {task: names for task, names in parents.items() if task != dropped})
    place = part.suites[0].tasks.index(dropped)
    assert np.isnan(part.suites[0].values[:, place]).all() and not part.suites[0].gaps[:, place].any()


def test_a_gap_is_what_the_other_models_keep_more(site: Gathered) -> None:
    """Mean of the others minus the model's own, as a share; nothing where too few others count."""
    board = next(board for board in site.boards if board.plan.id == "loop-core")
    (kept,) = retention_on(board, {}).suites
    for row, own in enumerate(kept.values):
        others = np.delete(kept.values, row, axis=0)
        for place, gap in enumerate(kept.gaps[row]):
            known = others[~np.isnan(others[:, place]), place]
            expected = (known.mean() - own[place]) / kept.most if len(known) >= FEWEST else 0
            assert gap == pytest.approx(max(0, np.nan_to_num(expected)))


def test_a_fall_names_what_others_keep(site: Gathered) -> None:
    """Its tasks are ones that the model solved and others keep longer; the steepest is the front page's."""
    fall = next(f for f in falls_of(site.models["forgetful"], site.boards) if f.board.plan.id == "loop-core")
    assert fall.shift.significant and fall.shift.shift == -4 and len(fall.examples) == 5
    own, most, others = map(float, re.findall(r"[\d.]+\d|\d+", fall.text[0]))
    assert most == 10 and own < others <= most
    for example in fall.examples:
        lasts, _, count, mean = map(float, re.findall(r"\d+\.?\d*", example.note))
        assert lasts < mean and count >= 2
    found = steepest(site.boards)
    assert found is not None and (found.model, found.board.plan.id, found.places) == (
        "forgetful",
        "loop-core",
        4,
    )


def test_two_clicks_from_the_front_page_to_the_evidence(root: Path) -> None:
    """The question leads to the place on the model's page, its tasks to the film of each."""
    out = root / "_site"
    front = (out / "index.html").read_text()
    question = re.search(r'<a href="(models/forgetful\.html)#(fall-loop-core)">Why did forgetful fall', front)
    assert question
    page = (out / question[1]).read_text()
    section = page.partition(f'id="{question[2]}"')[2].partition("</details>")[0]
    for path, anchor in re.findall(r'href="\.\./(evidence/[^"#]+)#([^"]+)"', section):
        assert f'id="{anchor}"' in (out / path).read_text()
    assert section.count("evidence/") == 5


def test_every_drop_on_a_board_leads_to_why(root: Path) -> None:
    """From the front page and the discipline's, at each negative shift and no other."""
    out = root / "_site"
    for name in ("index.html", "loop.html"):
        page = (out / name).read_text()
        links = re.findall(r'<a href="([^"#]+)#(fall-[^"]+)" title="Why it falls">(.)', page)
        assert links and {sign for _, _, sign in links} == {"−"}
        for path, anchor, _ in links:
            assert f'id="{anchor}"' in (out / path).read_text()


def test_drops_are_in_points_and_end_on_a_failed_task(root: Path, site: Gathered) -> None:
    """From the first loop to the last and from seeds to sets, the largest first, as the records say."""
    info = site.models["forgetful"]
    drops = drops_of(info, site.boards)
    points = [drop.points for drop in drops]
    assert points == sorted(points, reverse=True) and points[-1] > 0
    loop = next(drop for drop in drops if drop.second == "loop 10")
    lines = (root / "results/runs/forgetful/loop/core.jsonl").read_text().splitlines()
    loops = [record["sustained_loops"] for record in map(json.loads, lines)]
    assert loop.before == pytest.approx(100 * sum(count > 0 for count in loops) / len(loops))
    assert loop.after == pytest.approx(100 * sum(count == 10 for count in loops) / len(loops))
    page = (root / "_site" / info.page).read_text()
    assert "Its largest drops" in page and all(drop.second in page for drop in drops)


def test_a_rank_is_said_among_five_models(tmp_path: Path) -> None:
    """Among four the table is ordered, and no rank, tier, shift or badge is there."""
    for count, said in ((4, False), (5, True)):
        root = tmp_path / str(count)
        suite = [FakeSuite(entry, tasks=8) for entry in entries(["loop/core"])]
        write_results(root / "results", [FakeModel(f"m{n}", n - 2.0, 0.9) for n in range(count)], suite)
        build_small(root)
        board = (root / "_site/loop.html").read_text()
        assert ("<b>1</b>" in board) is said and (">rank 1" in board) is said
        assert (root / "_site/badges/m3-loop-core.svg").exists() is said
