"""Tables in a real browser: order, filters, columns, addresses, keys alone, and windows of all widths."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from support.visit import names, visit

pytestmark = pytest.mark.browser

NONSENSE = (
    "?sort=-nothing.constructor..-&hide=rank.model.__proto__&w=abc.-1.1e999&open=perhaps&size=huge&q=%00%FF",
    "?license=__proto__&has=x&kind=%3Cscript%3Ealert(1)%3C/script%3E&org=%E2%80%AE&year=0&w=1.2.3.4.5",
    "?sort=&hide=&w=&q=&open&=&&&#nowhere",
)


def test_a_mean_stays_above_what_it_is_of(page: Page, site: Path) -> None:
    """A smaller table sorts numbers as numbers; one with many rows is scrolled in its frame."""
    visit(page, (site / "published/evoeval.html").as_uri())
    section = page.locator("#drops")
    section.get_by_role("button", name="combine").click()
    head = [text.strip() for text in section.locator("thead th").all_inner_texts()]
    cells = section.locator(f"tbody td:nth-child({head.index('combine') + 1})").all_inner_texts()
    assert " to " in cells[1]
    numbers = [float(text) for text in cells[2:]]
    assert numbers == sorted(numbers, reverse=True) and len(numbers) > 20
    assert section.locator(".table-frame").evaluate("box => box.scrollHeight > box.clientHeight")


def test_a_long_table_is_searched_and_sorted_as_a_whole(page: Page, browser: Browser, site: Path) -> None:
    """Rows that the page does not lay out are found, and come when they are asked for."""
    address = (site / "published/evoeval.html").as_uri()
    visit(page, address)
    rows = page.locator("table.board").first.locator("tbody tr")
    first, more = rows.count(), page.locator("button.more").first
    of_all = int((more.text_content() or "").split()[4])
    assert 20 < first < of_all
    page.get_by_label("Find a model").fill("qwen-7b")
    expect(rows.first).to_contain_text("qwen-7b", ignore_case=True)
    page.get_by_label("Find a model").fill("")
    more.click()
    expect(rows).to_have_count(of_all)
    context = browser.new_context(java_script_enabled=False)
    plain = context.new_page()
    plain.goto(address)
    assert f"of {of_all} rows" in plain.locator("noscript").first.inner_text()
    context.close()


@pytest.mark.parametrize("query", NONSENSE)
def test_a_nonsense_address_breaks_nothing(page: Page, site: Path, query: str) -> None:
    """What no table knows is passed over: the board is whole, and still sorts."""
    visit(page, (site / "overall-core.html").as_uri() + query.replace("&q=%00%FF", ""))
    assert names(page) == ["Alpha", "Beta", "Gamma", "Delta", "Epsilon"]
    page.get_by_role("button", name="Model", exact=True).click()
    assert names(page) == ["Alpha", "Beta", "Delta", "Epsilon", "Gamma"]
    visit(page, (site / "overall-core.html").as_uri() + query)
    visit(page, (site / "compare.html").as_uri() + query + "&m=%FF,alpha,alpha,,nobody")
    expect(page.locator("#compare .lede").first).to_contain_text("Switch from Alpha to Beta?")


def test_columns_are_chosen_with_keys_alone(page: Page, site: Path) -> None:
    """Enter opens the list, Space takes a column away, Escape closes and leads back; the address knows."""
    visit(page, (site / "overall-core.html").as_uri())
    page.get_by_role("button", name="Columns").focus()
    page.keyboard.press("Enter")
    box = page.get_by_role("checkbox", name="Licence")
    while not box.evaluate("box => box === document.activeElement"):
        page.keyboard.press("Tab")
    page.keyboard.press("Space")
    expect(page.get_by_role("columnheader", name="Licence")).to_have_count(0)
    cells = page.locator("tbody tr").first.locator("td:visible, th:visible")
    assert cells.count() == page.locator("table.board thead th:visible").count()
    page.keyboard.press("Escape")
    expect(page.locator(".choices:popover-open")).to_have_count(0)
    assert page.evaluate("document.activeElement.textContent") == "Columns"
    assert "hide=licence" in page.url


def test_a_first_press_on_a_head(page: Page, site: Path) -> None:
    """Best first, ranks turned, because they are sorted already; the caption says in words what is on top.

    Columns of cost are off at first: the address turns them on.
    """
    for path, head, sort, first in (
        ("runtime.html", "Output", "descending", "the highest first"),
        ("overall-core.html", "Run", "ascending", "the oldest first"),
        ("overall-core.html", "Rank", "descending", "the worst first"),
        ("overall-core.html", "Licence", "ascending", "A first"),
        ("loop.html?show=output-tokens-a-unit", "Output tokens a unit", "ascending", "the lowest first"),
    ):
        visit(page, f"{site.as_uri()}/{path}")
        page.get_by_role("button", name=head, exact=True).first.click()
        expect(page.locator("thead th[aria-sort]").first).to_have_attribute("aria-sort", sort)
        expect(page.locator("caption").first).to_contain_text(f"Sorted by {head}, {first}")


def test_what_has_the_focus_is_not_behind_the_head(page: Page, site: Path) -> None:
    """Going back through a scrolled table with Shift and Tab, each link is seen when it is reached."""
    page.set_viewport_size({"width": 1700, "height": 330})
    page.emulate_media(reduced_motion="reduce")
    visit(page, (site / "overall-core.html").as_uri())
    page.wait_for_selector(".table-frame.fits", state="attached")
    links = page.locator("tbody th a")
    links.last.focus()
    page.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
    for _ in range(links.count() - 1):
        page.keyboard.press("Shift+Tab")
        assert page.evaluate("probe.focusSeen"), page.evaluate("document.activeElement.outerHTML")


def test_without_its_script_a_table_is_as_without_scripts(browser: Browser, site: Path) -> None:
    """What does not come leaves whole tables, and no gap where controls would have been; rows are missed."""
    opened = browser.new_page()  # the console says that the script is missing, which no other page may
    opened.route("**/tables-*.js", lambda route: route.abort())
    opened.goto((site / "overall-core.html").as_uri())
    opened.wait_for_selector("html:not(.js)", state="attached")
    assert names(opened) == ["Alpha", "Beta", "Gamma", "Delta", "Epsilon"]
    gap = opened.evaluate("getComputedStyle(document.querySelector('.table-frame:has(.board)')).marginTop")
    assert gap == "16px"
    opened.route("**/choose-*.js", lambda route: route.abort())
    opened.goto((site / "choose.html").as_uri())
    expect(opened.locator("#unscripted table").first).to_be_visible()
    opened.unroute_all()
    opened.route("**/front-rows-*.js", lambda route: route.abort())
    opened.goto((site / "index.html").as_uri())
    expect(opened.locator("caption output.status")).to_have_text(
        re.compile(r"60 models; \d+ more could not be loaded")
    )
    opened.close()


@pytest.mark.parametrize("width", [1440, 1280, 1024, 390])
def test_the_charts_name_their_models_whole(page: Page, site: Path, width: int) -> None:
    """No name is cut, a line or two are enough for each, and the ends of the axis stand apart."""
    page.set_viewport_size({"width": width, "height": 900})
    visit(page, (site / "index.html").as_uri())
    assert page.locator(".chart li:visible").count() >= 8
    assert page.evaluate("probe.cut", ".chart li > :first-child") == []
    assert max(page.evaluate("probe.lines")) < 50
    assert page.evaluate("probe.endsApart")


@pytest.mark.parametrize("path", ["evolved.html", "published/evoeval.html", "published/evalplus.html"])
def test_a_small_window_scrolls_the_page_and_no_box_in_it(page: Page, site: Path, path: str) -> None:
    """A table that is longer than a window of 1,024 pixels is no box with a scroll bar of its own."""
    page.set_viewport_size({"width": 1024, "height": 400})
    visit(page, (site / path).as_uri())
    assert page.locator("table.board").first.evaluate("table => table.offsetHeight") > 150
    assert page.evaluate("probe.boxes") == 0


def test_heads_and_names_stay_in_sight(page: Page, site: Path) -> None:
    """In a frame that is scrolled the head stays on top and the name on the left."""
    page.set_viewport_size({"width": 1100, "height": 150})
    visit(page, (site / "evolved.html").as_uri())
    page.locator("table.board").first.evaluate("table => { table.style.minWidth = '1500px'; }")
    page.wait_for_function("!document.querySelector('.table-frame:has(> .board)').matches('.fits')")
    frame = page.locator(".table-frame", has=page.locator("table.board")).first
    frame.evaluate("frame => frame.scrollTo(300, 120)")
    places = page.evaluate("probe.places")
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
    page.get_by_role("button", name="show all").click()
    whole = rows.count()
    assert whole > 200
    last = rows.last.get_attribute("id")
    page.goto("about:blank")
    visit(page, f"{address}#{last}")
    expect(page.locator(f"[id='{last}']:target")).to_be_in_viewport()


def test_a_long_name_pushes_no_score_out_of_the_window(page: Page, site: Path) -> None:
    """It is whole, in several lines."""
    long = "An-Organisation/" + "-".join(f"a-part-of-the-name-{n}" for n in range(9))
    page.set_viewport_size({"width": 1440, "height": 900})
    for name in ("index.html", "loop.html"):
        visit(page, (site / name).as_uri())
        model = page.locator("th.model a").first
        model.evaluate("(model, name) => { model.textContent = name; }", long)
        score = page.locator("td.score").first.bounding_box()
        assert score and score["x"] + score["width"] < 1000
        assert model.evaluate("model => model.scrollWidth <= model.clientWidth + 1")
