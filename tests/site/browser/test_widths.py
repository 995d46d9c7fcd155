"""What windows of different widths, and paper, show of the pages that people open first."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from support.visit import visit

pytestmark = pytest.mark.browser
CUT = """selector => [...document.querySelectorAll(selector)].filter(
  one => one.offsetParent && (one.scrollWidth > one.clientWidth || one.textContent.includes('…'))
).map(one => one.textContent)"""
LINES = """() => [...document.querySelectorAll('.chart li')].map(line => line.offsetHeight)"""
ENDS = """() => [...document.querySelectorAll('.chart .axis')].map(axis => [...axis.querySelectorAll('text')]
  .map(text => text.getBoundingClientRect())).filter(([first]) => first.width)
  .every(([first, last]) => first.right < last.left)"""
BOXES = """() => [...document.querySelectorAll('.table-frame:has(> .board)')].filter(
  box => box.scrollHeight > box.clientHeight + 2 && getComputedStyle(box).overflowY !== 'visible'
).length"""

PLACES = """() => {
  const frame = document.querySelector('.table-frame:has(table.board)').getBoundingClientRect();
  const head = document.querySelector('table.board thead').getBoundingClientRect();
  const name = document.querySelector('table.board tbody th').getBoundingClientRect();
  return { top: frame.top, left: frame.left, head: head.top, name: name.left };
}"""


@pytest.mark.parametrize("width", [1440, 1280, 1024, 390])
def test_the_charts_name_their_models_whole(browser: Browser, site: Path, width: int) -> None:
    """No name is cut, a line or two are enough for each, and the ends of the axis stand apart."""
    page = browser.new_page(viewport={"width": width, "height": 900})
    visit(page, (site / "index.html").as_uri())
    assert page.locator(".chart li:visible").count() >= 8
    assert page.evaluate(CUT, ".chart li > :first-child") == []
    assert max(page.evaluate(LINES)) < 50
    assert page.evaluate(ENDS)
    page.close()


@pytest.mark.parametrize("path", ["evolved.html", "published/evoeval.html", "published/evalplus.html"])
def test_a_small_window_scrolls_the_page_and_no_box_in_it(browser: Browser, site: Path, path: str) -> None:
    """A table that is longer than a window of 1,024 pixels is no box with a scroll bar of its own."""
    page = browser.new_page(viewport={"width": 1024, "height": 400})
    visit(page, (site / path).as_uri())
    assert page.locator("table.board").first.evaluate("table => table.offsetHeight") > 150
    assert page.evaluate(BOXES) == 0
    page.close()


def test_heads_and_names_stay_in_sight(page: Page, site: Path) -> None:
    """In a frame that is scrolled the head stays on top and the name on the left."""
    page.set_viewport_size({"width": 1100, "height": 150})
    visit(page, (site / "evolved.html").as_uri())
    page.locator("table.board").first.evaluate("table => { table.style.minWidth = '1500px'; }")
    page.wait_for_function("!document.querySelector('.table-frame:has(> .board)').matches('.fits')")
    frame = page.locator(".table-frame", has=page.locator("table.board")).first
    frame.evaluate("frame => frame.scrollTo(300, 120)")
    places = page.evaluate(PLACES)
    assert frame.evaluate("frame => frame.scrollLeft") > 0
    assert frame.evaluate("frame => frame.scrollTop") > 0
    assert places["head"] == pytest.approx(places["top"], abs=1)
    assert places["name"] == pytest.approx(places["left"], abs=1)


def test_every_row_is_reached_from_the_first_rows(page: Page, site: Path) -> None:
    """Sixty rows at first; a button brings the others, and an address with the name of one leads to it."""
    address = (site / "index.html").as_uri()
    visit(page, address)
    rows = page.locator("table.all-models tbody tr")
    expect(rows).to_have_count(60)
    assert page.evaluate("document.querySelectorAll('*').length") <= 5_000
    page.get_by_role("button", name="show all").click()
    whole = rows.count()
    assert whole > 200
    last = rows.last.get_attribute("id")
    page.goto("about:blank")
    visit(page, f"{address}#{last}")
    expect(page.locator(f"[id='{last}']:target")).to_be_in_viewport()


def test_without_scripts_the_first_rows_lead_to_all_models(browser: Browser, site: Path) -> None:
    """The page says how many there are; the list of names has each model's page."""
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto((site / "index.html").as_uri())
    assert "The first 60 of" in page.locator(".footnote").first.inner_text()
    page.get_by_role("link", name="All models by name").click()
    assert page.locator(".names a").count() > 200
    page.locator(".names a").first.click()
    expect(page.locator("h1")).to_be_visible()
    context.close()
