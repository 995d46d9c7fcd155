"""The built site in a real browser, opened from files unless a test says otherwise."""

import re
from pathlib import Path
from typing import Literal

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from support.case_files import listed
from support.visit import fits, names, narrow, settle, visit

pytestmark = pytest.mark.browser

MAIN, SAME_TEMPLATE = listed(Path(__file__).with_name("pages.txt")).values()
"""Pages of a template that a page of MAIN is checked for."""
LOOKS: tuple[tuple[Literal["light", "dark"], int], ...] = (("light", 1280), ("dark", 1280), ("light", 360))
"""Colours and width of the window: a desk by day and by night, and a phone."""


def test_a_task_that_moved_is_found(page: Page, site: Path) -> None:
    """Its address on a page that no longer has it leads to the page of the same suite that does."""
    now, old = site / "tasks/loop-core/1.html", site / "tasks/loop-core/9.html"
    task = re.findall(r'<section class="unit" id="([^"]+)"', now.read_text())[0]
    old.write_text(now.read_text().replace(f'id="{task}"', ""))
    page.goto(f"{old.as_uri()}#{task}")
    expect(page).to_have_url(f"{now.as_uri()}#{task}")
    old.unlink()


@pytest.mark.slow
@pytest.mark.parametrize("path", MAIN + SAME_TEMPLATE)
def test_page_is_self_contained_and_fits_a_phone(page: Page, site: Path, path: str) -> None:
    """No request to another host, no error, no breach of the content policy; 320 pixels are enough."""
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    visit(page, (site / f"{path}.html").as_uri())
    assert asked and all(url.startswith((site.as_uri(), "data:")) for url in asked)
    page.set_viewport_size({"width": 320, "height": 740})
    fits(page, 320)


@pytest.mark.slow
@pytest.mark.parametrize("path", MAIN)
def test_axe_finds_no_violation(browser: Browser, site: Path, path: str) -> None:
    """WCAG 2.2 AA as far as axe can tell."""
    context = browser.new_context(bypass_csp=True)  # the policy of the page would keep axe itself out
    opened = context.new_page()
    visit(opened, (site / f"{path}.html").as_uri())
    tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
    options = {"runOnly": {"type": "tag", "values": tags}, "resultTypes": ["violations"]}
    for scheme, width in LOOKS:
        opened.emulate_media(color_scheme=scheme)
        opened.set_viewport_size({"width": width, "height": 800})
        found = Axe().run(opened, options=options)
        assert found.violations_count == 0, f"{scheme}, {width} px: {found.generate_report()}"
    context.close()


def test_without_scripts_everything_is_there(browser: Browser, site: Path) -> None:
    """Tables are complete and fit, figures are drawn, links lead on; no control that would do nothing."""
    context = browser.new_context(java_script_enabled=False, viewport={"width": 1440, "height": 900})
    opened = context.new_page()
    opened.goto((site / "index.html").as_uri())
    expect(opened.locator("th", has_text="out, $/M")).to_be_visible()
    assert opened.locator("#table").evaluate("frame => frame.scrollWidth <= frame.clientWidth")
    opened.goto((site / "overall-core.html").as_uri())
    assert names(opened) == ["Alpha", "Beta", "Gamma", "Delta", "Epsilon"]
    controls = "button:not([popovertarget]):visible, input:visible, select:visible"  # those need no script
    assert opened.locator(controls).count() == 0
    opened.goto((site / "loop.html").as_uri())
    assert opened.locator("figure svg path.line").count() >= 4
    opened.goto((site / "models/alpha-tasks.html").as_uri())
    opened.locator("main h2 a").first.click()
    expect(opened.locator("ul.tasks li").nth(1)).to_be_visible()
    assert opened.locator(controls).count() == 0
    download = opened.locator("noscript a").first.get_attribute("href") or ""
    (site / "evidence/alpha" / download).resolve(strict=True)
    context.close()


@pytest.mark.parametrize(
    "path", ["index.html", "choose.html", "evolved.html", "models/alpha.html", "agreement.html"]
)
def test_paper_cuts_no_table_and_carries_no_controls(page: Page, site: Path, path: str) -> None:
    """A4 on its side, long names; who chose dark prints dark on white. Every cell stands below its head."""
    page.set_viewport_size({"width": 1032, "height": 700})
    visit(page, (site / path).as_uri())
    page.evaluate("document.documentElement.dataset.theme = 'dark'")
    page.evaluate("document.querySelectorAll('th.model a').forEach(a => a.append('-Coder-33B-Instruct'))")
    page.emulate_media(media="print", color_scheme="dark")
    for table in page.locator("table:visible").all():
        assert table.evaluate("table => table.getBoundingClientRect().right") <= 1032
        assert table.evaluate("probe.shifted") == []
    controls = page.locator("button:not(.sort):visible, input:visible, select:visible, nav:visible")
    expect(controls).to_have_count(0)
    if path == "index.html":
        expect(page.locator("th", has_text="out, $/M").first).to_be_visible()
    ink = page.evaluate("getComputedStyle(document.body).color")
    assert max(map(int, re.findall(r"\d+", ink))) < 64


def test_filtering_leaves_ranks_as_they_are(page: Page, site: Path) -> None:
    """They are those among all models, which the status counts."""
    visit(page, (site / "overall-core.html").as_uri())
    narrow(page, "Organisation", "Other")
    assert names(page) == ["Gamma", "Delta"]
    assert page.locator("td.rank:visible b").all_inner_texts() == ["3", "4"]
    expect(page.locator("output.status").last).to_have_text("2 of 5 models")


def test_a_second_order_keeps_the_first_in_ties(page: Page, site: Path) -> None:
    """Enter sorts, then turns the order; the address has both orders, and gives them again."""
    visit(page, (site / "overall-core.html").as_uri())
    page.get_by_role("button", name="Model", exact=True).focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Licence", exact=True).click()
    for _ in range(2):
        assert names(page) == ["Gamma", "Delta", "Beta", "Alpha", "Epsilon"]
        assert "sort=licence.-model" in page.url
        page.reload()
        settle(page)


def test_the_theme_can_be_chosen(page: Page, site: Path) -> None:
    """The switch turns the page and the next page remembers."""
    visit(page, (site / "overall-core.html").as_uri())
    light = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.get_by_role("button", name="Dark").click()
    dark = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert light != dark
    # By its link: a typed address may be opened by another process, to which the choice has yet to come.
    page.get_by_role("link", name="Method", exact=True).first.click()
    page.wait_for_url("**/method.html")
    settle(page)
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == dark


def test_comparing(page: Page, site: Path) -> None:
    """The better model is said to be better; the address carries the choice. Who is not there is said."""
    visit(page, (site / "compare.html").as_uri() + "?m=delta,nobody,alpha")
    said = page.locator("#compare .lede")
    expect(said).to_contain_text("Switch from Delta to Alpha? Yes.")
    expect(page.locator("#compare .status")).to_have_text("There is no model “nobody”. ")
    expect(page.locator("#compare-tables h2")).to_have_text(["Column by column", "Solved by one model only"])
    page.get_by_label("Add a model").fill("beta")
    page.get_by_label("Add a model").press("Enter")
    expect(page.locator("#compare-tables thead")).to_contain_text("Beta")
    assert page.url.endswith("m=delta,alpha,beta")
    expect(said).to_contain_text("Against Delta: better in some column: Alpha, Beta")
    expect(page.locator("#compare-figures")).to_be_visible()
    bare = "triathlon.compare.known.forEach(one => Object.assign(one, {curves: {}, radarPath: null}))"
    page.evaluate(bare)
    page.get_by_role("button", name="Remove Delta").click()
    expect(said).to_contain_text("Switch from Alpha to Beta?")
    expect(page.locator("#compare-figures")).to_be_hidden()  # there is nothing to draw
    visit(page, (site / "models/gamma.html").as_uri())
    page.get_by_role("link", name="Compare with others").click()
    expect(said).to_contain_text("Switch from Gamma to Alpha?")


def test_comparing_draws_at_once(page: Page, site: Path) -> None:
    """A curve and a shape a model in the page’s own figures; the large script comes by the button alone."""
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    visit(page, (site / "compare.html").as_uri() + "?m=alpha,beta,delta")
    expect(page.locator("#compare-figures .legend li")).to_have_text([" Alpha", " Beta", " Delta"])
    for series in ("curve", "radar"):
        assert page.locator(f'[data-series="{series}"] path').count() == 3
    assert not any("plotly" in url for url in asked)
    assert page.locator("#compare .forest li").count() >= 2
    expect(page.locator("#compare-tables details")).to_have_count(3)
    page.get_by_role("button", name="Draw interactively").click()
    page.wait_for_selector(".plot .main-svg")
    expect(page.locator(".plot")).to_have_count(2)
    picture = page.locator("#compare-figures figure").first
    expect(picture).to_be_hidden()  # the plots stand in their place
    assert page.locator(".plot .main-svg").first.evaluate("probe.fillOfText") != "none"
    levels = [float(text) for text in picture.locator("text[text-anchor=end]").all_text_contents()]
    assert page.evaluate("probe.heights") <= 0.06
    axis = page.evaluate("document.querySelector('.plot').layout.yaxis.range")
    assert axis == [levels[0], levels[-1]]
    assert page.locator(".plot[role=img]").count() == 0  # it has links and buttons
    page.evaluate("document.documentElement.dataset.theme = 'dark'")
    paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
    same = "paper => document.querySelector('.plot')?.layout?.paper_bgcolor === paper"
    page.wait_for_function(same, arg=paper)
    page.get_by_role("button", name="Show the pictures").click()
    expect(page.locator(".plot")).to_have_count(0)
    expect(picture).to_be_visible()


def test_a_range_stays_in_its_cell_on_a_phone(page: Page, site: Path) -> None:
    """Beside its interval."""
    page.set_viewport_size({"width": 390, "height": 844})
    visit(page, (site / "models/gpt-5.html").as_uri())
    cell = page.locator("#numbers td.number").first
    cell.evaluate("cell => { cell.textContent = '9.50–10.00'; }")
    assert cell.evaluate("cell => cell.scrollWidth <= cell.clientWidth")


def test_from_a_score_to_its_receipt(page: Page, site: Path) -> None:
    """One click, and the receipt is open: the command that verifies the number can be read."""
    visit(page, (site / "models/alpha.html").as_uri())
    command = page.get_by_text("triathlon verify --models alpha --suites loop/core", exact=True)
    expect(command).to_be_hidden()
    page.get_by_role("link", name="Receipt of ASL").first.click()
    expect(command).to_be_in_viewport()
