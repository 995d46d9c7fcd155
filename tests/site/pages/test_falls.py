"""Where a model falls: found from the tables, told with numbers, ending on evidence."""

import json
import re
from pathlib import Path

import pytest

from support.results import FakeModel, FakeSuite, write_results
from support.site import SUITES, build_small, entries
from triathlon_site.build import gather
from triathlon_site.pages import Gathered
from triathlon_site.pages._sides import drops_of, falls_of

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


def test_a_fall_is_told_on_the_models_page(root: Path, site: Gathered) -> None:
    """Its section has an anchor for each; beside it drops end on the evidence of a task."""
    shifts = {board.plan.id: shift for board, _, shift in falls_of("forgetful", site.boards)}
    assert shifts["loop-core"].significant and shifts["loop-core"].shift == -4
    out = root / "_site"
    page = (out / "models/forgetful.html").read_text()
    section = page.partition('id="falls"')[2].partition("</section>")[0]
    assert 'id="fall-loop-core"' in section
    links = re.findall(r'href="\.\./(evidence/[^"#]+)#([^"]+)"', section)
    assert links
    for path, anchor in links:
        assert f'id="{anchor}"' in (out / path).read_text()


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
