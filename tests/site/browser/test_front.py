"""The front page for a hurried newcomer, and tables that fold, in a real browser."""

import re
import shutil
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from support.results import FakeModel
from support.site import small_results
from support.visit import settle, visit
from triathlon_runner.models_yaml import Registry
from triathlon_site.build import build

pytestmark = pytest.mark.browser
PUBLISHED = Path(__file__).parents[3] / "results" / "published"
MODELS = (
    FakeModel("forgetful", 4.0, 0.15),
    *(FakeModel(f"steady-{n}", 0.4 + 0.1 * n, 0.97) for n in range(10)),
)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One model solves nearly everything once and keeps none of it; sizes, licences and prices are known."""
    root = tmp_path_factory.mktemp("front")
    results = small_results(root / "results", MODELS, tasks=30)
    shutil.copytree(PUBLISHED, results / "published")
    facts = {"organization": "A", "parameters": "7B", "license": "mit", "open_weights": True}
    rows = [
        {"id": model.id, **facts, "api": {"base_url": "http://127.0.0.1:1/v1", "model": "m"}}
        for model in MODELS
    ]
    rows[0] |= {"open_weights": False, "price": {"input": 2, "output": 8}}
    build(results, root / "_site", Registry.model_validate({"models": rows}), cache=root / "cache")
    return root / "_site"


@pytest.mark.parametrize(
    ("width", "height", "rank", "screens"), [(1360, 900, 3, 1), (390, 844, 1, 2)], ids=["desktop", "phone"]
)
def test_the_first_ranks_are_seen_at_once(
    browser: Browser, site: Path, width: int, height: int, rank: int, screens: int
) -> None:
    """Three on the first screen of a desktop, the first one on the second screen of a phone."""
    context = browser.new_context(viewport={"width": width, "height": height})
    page = context.new_page()
    page.goto((site / "index.html").as_uri())
    page.wait_for_selector(".ready")
    box = page.locator("table.board tbody tr").nth(rank - 1).bounding_box()
    assert box is not None and box["y"] + box["height"] <= height * screens
    context.close()


def test_the_index_is_seen_on_a_phone(browser: Browser, site: Path) -> None:
    """Beside rank and model, before the table is moved sideways."""
    context = browser.new_context(viewport={"width": 390, "height": 844})
    page = context.new_page()
    page.goto((site / "index.html").as_uri())
    page.wait_for_selector(".ready")
    for part in ("b", "small"):
        box = page.locator("table.board tbody tr").first.locator(f"td:nth-child(3) {part}").bounding_box()
        assert box is not None and box["x"] + box["width"] <= 390
    context.close()


@pytest.mark.parametrize(("path", "count"), [("index.html", 5), ("overall-core.html", 7)])
def test_each_question_leads_to_its_answer(page: Page, site: Path, path: str, count: int) -> None:
    """One that sorts finds its column; one with an anchor finds its place."""
    page.goto((site / path).as_uri())
    links = page.locator(".asks a")
    questions = {link.inner_text(): link.get_attribute("href") or "" for link in links.all()}
    assert len(questions) == count, questions
    for text, address in questions.items():
        page.goto((site / path).as_uri())
        page.locator(".asks a", has_text=text).click()
        if "sort=" in address:
            page.wait_for_url("**sort=*")
            settle(page)
            expect(page.locator("th[aria-sort]")).to_have_count(1)
            expect(page.locator("th[aria-sort]")).to_be_visible()
        if "#" in address:
            settle(page)
            expect(page.locator(f"[id='{address.partition('#')[2]}']")).to_be_in_viewport()


@pytest.mark.parametrize("path", ["index.html", "overall-core.html", "loop.html", "evolved.html"])
def test_rows_are_one_line_until_details_are_asked_for(page: Page, site: Path, path: str) -> None:
    """Every row alike; a button opens what stands below the scores, and the address keeps it."""
    visit(page, (site / path).as_uri())
    heights = "[...document.querySelector('table.board').tBodies[0].rows].map(row => row.offsetHeight)"
    assert len({round(height) for height in page.evaluate(heights)}) == 1
    assert page.evaluate(heights)[0] < 30
    page.get_by_role("button", name="Details").click()
    assert max(page.evaluate(heights)) > 40
    page.reload()
    settle(page)
    assert max(page.evaluate(heights)) > 40
    expect(page.get_by_role("button", name="Details")).to_have_attribute("aria-pressed", "true")


def test_a_column_comes_when_it_is_asked_for(page: Page, site: Path) -> None:
    """Tier and rank shift are not there at first; the menu brings one, and the address keeps it."""
    visit(page, (site / "loop.html").as_uri())
    tier = page.get_by_role("columnheader", name="Tier")
    expect(tier).to_have_count(0)
    page.locator("summary", has_text="Columns").click()
    page.get_by_role("checkbox", name="Tier").check()
    expect(tier).to_be_visible()
    assert "show=tier" in page.url
    page.reload()
    settle(page)
    expect(tier).to_be_visible()
    cells = page.locator("table.board tbody tr").first.locator("td:visible, th:visible")
    assert cells.count() == page.locator("table.board thead th:visible").count()


@pytest.mark.parametrize(("width", "seen"), [(1280, 0), (1600, 1)])
def test_a_wide_window_has_licence_and_price(browser: Browser, site: Path, width: int, seen: int) -> None:
    """A narrower one has them in the menu; the table never needs to be moved sideways."""
    page = browser.new_page(viewport={"width": width, "height": 900})
    visit(page, (site / "index.html").as_uri())
    for name in ("Licence", "Price"):
        expect(page.get_by_role("columnheader", name=name)).to_have_count(seen)
    expect(page.locator(".table-frame.fits > table.all-models")).to_be_visible()
    page.close()


def test_models_are_found_by_evidence_and_disciplines(page: Page, site: Path) -> None:
    """Every row is in the page; filters choose by grade and by having two disciplines or more."""
    visit(page, (site / "index.html").as_uri())
    rows = page.locator("table.board tbody tr")
    whole = rows.count()
    assert whole > 250
    intervals = page.locator("td.rank small").filter(visible=True)
    expect(intervals).not_to_have_count(0)
    page.get_by_label("Results in").select_option("two disciplines or more")
    expect(intervals).to_have_count(0)  # these are of the ranks among all
    several = rows.count()
    assert 0 < several < whole
    assert all(" " in (row.get_attribute("data-has") or "") for row in rows.all())
    page.get_by_label("Results in").select_option("runtime")
    assert all("runtime" in (row.get_attribute("data-has") or "") for row in rows.all())
    page.get_by_label("Find a model").fill("steady-3")
    page.get_by_label("Results in").select_option("")
    expect(rows).to_have_count(1)
    expect(rows.locator("a.flag")).to_have_attribute("href", "overall-core.html#steady-3")


def test_weights_make_an_order_and_the_index_comes_back(page: Page, site: Path) -> None:
    """All weight on one discipline: the models that have it, best first, without the index's rank intervals;
    then all by the index again.
    """
    visit(page, (site / "index.html").as_uri())
    heads = page.locator("table.board thead th")
    first = page.locator("table.board tbody th").first.inner_text()
    index = page.locator("table.board tbody tr td:nth-child(3)").first.inner_text()
    visit(page, (site / "index.html").as_uri() + "?w=100.0.0")
    expect(heads.nth(2)).to_contain_text("Your mean")
    expect(page.locator("td.rank small").filter(visible=True)).to_have_count(0)
    expect(page.locator("td.rank").filter(visible=True).last).to_have_text("–")
    scores = page.evaluate(LOOP_SCORES)
    assert len(scores) > 90 and scores == sorted(scores, reverse=True)
    page.get_by_role("button", name="Back to the index").click()
    expect(heads.nth(2)).to_contain_text("Index")
    assert page.locator("table.board tbody th").first.inner_text() == first
    assert page.locator("table.board tbody tr td:nth-child(3)").first.inner_text() == index


LOOP_SCORES = """() => [...document.querySelector('table.board').tBodies[0].rows]
  .filter(row => row.cells[2].dataset.v !== '').map(row => Number(row.cells[4].dataset.v))"""


def test_a_link_into_a_page_holds_while_its_tables_grow(page: Page, site: Path) -> None:
    """A section below a ranking is still in sight when the ranking has been given its whole height."""
    for part in ("published/evaloop.html#evaloop_attacks", "runtime.html#outcomes"):
        visit(page, f"{site.as_uri()}/{part}")
        expect(page.locator(f"[id='{part.partition('#')[2]}'] h2")).to_be_in_viewport()


def test_a_fall_opens_where_it_is_told(page: Page, site: Path) -> None:
    """From a drop in the ranking to the reasons, even where they are folded; then to the evidence."""
    visit(page, (site / "overall-core.html").as_uri() + "?rows=details")
    drop = page.locator("a[title='Why it falls']").first
    anchor = (drop.get_attribute("href") or "").partition("#")[2]
    drop.click()
    told = page.locator(f"[id='{anchor}']")
    expect(told).to_be_visible()
    told.locator("li a").first.click()
    assert "/evidence/" in page.url
    expect(page.locator("#unit article.unit")).to_be_visible()


def test_a_long_table_unfolds_without_scripts_and_on_paper(browser: Browser, site: Path) -> None:
    """Six rows until it is asked for all of them; a sheet of paper has them all."""
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto((site / "published/evoeval.html").as_uri())
    section = page.locator("section", has=page.locator("details.all")).first
    rows = section.locator("tbody tr")
    shown = re.search(r"The first 6 of (\d+) rows", section.locator("summary").inner_text())
    assert shown and rows.count() == int(shown[1]) > 9
    expect(rows.nth(5)).to_be_visible()
    expect(rows.nth(6)).to_be_hidden()
    page.emulate_media(media="print")
    expect(rows.nth(6)).to_be_visible()
    page.emulate_media(media="screen")
    section.locator("summary").click()
    expect(rows.nth(6)).to_be_visible()
    context.close()


@pytest.mark.parametrize(
    "path", ["index.html", "overall-core.html", "evolved.html", "models/forgetful.html", "agreement.html"]
)
def test_paper_cuts_no_table_and_carries_no_controls(page: Page, site: Path, path: str) -> None:
    """On a sheet of A4 on its side; a visitor who chose dark prints dark on white all the same."""
    page.goto((site / path).as_uri())
    page.set_viewport_size({"width": 1032, "height": 700})
    page.evaluate("document.documentElement.dataset.theme = 'dark'")
    page.emulate_media(media="print", color_scheme="dark")
    for table in page.locator("table:visible").all():
        assert table.evaluate("table => table.getBoundingClientRect().right") <= 1032
    expect(
        page.locator("button:not(.sort):visible, input:visible, select:visible, nav:visible")
    ).to_have_count(0)
    ink = page.evaluate("getComputedStyle(document.body).color")
    assert max(map(int, re.findall(r"\d+", ink))) < 64
