"""What models wrote, in a browser: values, lists, two models side by side, and what would like to run."""

import re
from pathlib import Path
from threading import Thread

import pytest
from playwright.sync_api import Browser, Page, expect

from support.results import FakeModel
from support.site import json_lines, registry, small_results, write_lines
from support.visit import fits, visit
from triathlon_site.build import build
from triathlon_site.serve import make_server

pytestmark = pytest.mark.browser


def test_values_are_read_as_they_are(page: Page, site: Path) -> None:
    """White space stands on the screen; control characters have names; what is scrolled takes the focus."""
    visit(page, f"{(site / 'evidence/gamma/evolved-core-seeds.html').as_uri()}?show=failed")
    page.locator("#units a:visible").first.click()
    given, expected, got = (page.locator("#unit .failing code").nth(place) for place in range(3))
    assert given.inner_text() == "f('a  b\tc',\n  '   ')"
    assert expected.inner_text() == "'  '"
    assert "[U+202E]" in got.inner_text() and "␛" in got.inner_text()
    assert got.evaluate("element => getComputedStyle(element).unicodeBidi") == "isolate"
    page.locator("#unit details").first.evaluate("details => { details.open = true; }")
    program = page.locator("#unit details[open] :is(pre, code)").first
    expect(program).not_to_have_attribute("tabindex", "0")
    program.evaluate("element => { element.style.maxHeight = '1rem'; }")
    expect(program).to_have_attribute("tabindex", "0")


def test_words_that_went_stand_in_their_sentence(page: Page, site: Path) -> None:
    """Each in its line, in letters of the same size, paler than what stayed."""
    visit(page, (site / "evidence/alpha/loop-core.html").as_uri())
    page.locator("#units a").first.click()
    gone = page.locator("#unit .sentence del").first
    style = "one => (({display, fontSize, color}) => [display, fontSize, color])(getComputedStyle(one))"
    display, size, colour = gone.evaluate(style)
    _, size_around, colour_around = gone.locator("..").evaluate(style)
    assert (display, size) == ("inline", size_around) and colour != colour_around


def test_an_address_is_the_task(page: Page, site: Path) -> None:
    """It opens the unit; a next one, and the command that grades it again, are a step away."""
    address = (site / "evidence/alpha/loop-core.html").as_uri()
    visit(page, address)
    tasks = page.locator("#units a").all_inner_texts()
    page.goto("about:blank")
    visit(page, f"{address}#{tasks[3]}")
    expect(page.locator("#unit h2")).to_contain_text(tasks[3])
    page.get_by_role("link", name="next not passed").click()
    expect(page.locator("#unit h2")).not_to_contain_text(tasks[3])
    address = page.url
    page.get_by_role("link", name="check it yourself").click()
    command = page.locator("[data-command]")
    expect(command).to_be_visible()
    assert command.inner_text().startswith("triathlon verify --models alpha --suites loop/core --tasks ")
    assert page.url == address  # the unit stays open
    page.locator("input[name=task]").fill(tasks[3].upper().replace("/", " "))  # as every search of the site
    expect(page.locator("#units li:visible")).to_have_count(1)
    expect(page.locator("#units [aria-current=true]")).to_have_count(1)
    page.get_by_role("link", name="Skip to content").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#unit h2")).to_be_visible()  # that address is no unit's


def test_a_lost_address_leads_to_the_page_that_says_so(browser: Browser, site: Path) -> None:
    """However deep it lies: the links of that page lead on."""
    with make_server(site, 0) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_address[1]}/"
        page = browser.new_page()  # the console says 404, which no other page may
        page.goto(f"{address}evidence/nobody/nothing.html")
        page.wait_for_url(f"{address}404.html")
        page.get_by_role("link", name="Find a task").click()
        expect(page.get_by_label("Find a task")).to_be_visible()
        lost = (site / "404.html").read_text()
        page.route("http://pages.test/**", lambda route: route.fulfill(body=lost, content_type="text/html"))
        page.goto("http://pages.test/data/board/models/nothing.html")
        page.wait_for_url("http://pages.test/data/board/404.html")  # the folder above is not the site's
        page.close()
        server.shutdown()


@pytest.mark.parametrize(("path", "label"), [("index.html", "or a task"), ("tasks.html", "Find a task")])
def test_a_task_is_found_on_all_boards(page: Page, site: Path, path: str, label: str) -> None:
    """By a part of its name, in the box of the front page, too; an empty answer says so."""
    visit(page, (site / path).as_uri())
    box = page.get_by_label(label)
    box.fill("core seeds 00")
    link = page.locator(".tasks-found a").first
    expect(link).to_be_visible()
    task = page.locator(".tasks-found b").first.inner_text()
    box.fill("no such thing")
    expect(page.locator(".tasks-found .notice")).to_have_text("No task matches “no such thing”.")
    box.fill(task)
    link.click()
    expect(page.locator("section.unit:target h2")).to_have_text(task)


def test_two_programs_side_by_side(page: Page, site: Path) -> None:
    visit(page, f"{(site / 'evidence/alpha/evolved-core-seeds.html').as_uri()}?beside=gamma&show=differs")
    expect(page.locator("#filters output")).to_have_text(re.compile(r"^[1-9]\d* of 15$"))
    shown = page.locator("#units li:visible")
    assert 0 < shown.count() < 15
    shown.first.locator("a").click()
    expect(page.locator("#unit article.unit")).to_have_count(2)
    endings = page.locator("#unit article.unit > h2 .outcome").all_inner_texts()
    assert len({ending == "passed" for ending in endings}) == 2
    page.locator("[name=beside]").select_option("")
    expect(page.locator("#filters output")).to_have_text("15 of 15")
    expect(page.locator("[value=differs]")).to_be_disabled()


EVIL = (
    "</script></style></pre>]]>--><script>alert('x')</script><img src=x onerror=alert(1)>"
    '<a href="javascript:alert(2)">k</a>" onmouseover="alert(3)" \'&amp;{{ 7*7 }}\u202eevil\u2066'
    "\x00\x01\x08\x1b[31m\x7f\x85"
)
LONG = "x" * 100_000
WRITTEN = {"prompt", "reply", "text", "program", "summary", "input", "expected", "got", "answer"}
HOSTILE = (
    FakeModel("alpha", 2.0, 0.95),
    FakeModel("Alpha", 1.0, 0.9),
    FakeModel("alpha-tasks", 0.5, 0.8),
    FakeModel("n" * 100, 0.0, 0.7),
    FakeModel("<script>alert(1)<!", -0.5, 0.6),
)


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Models that are called badly and write worse."""
    root = tmp_path_factory.mktemp("hostile")
    results = small_results(root / "results", HOSTILE, tasks=4)
    for path in (results / "runs/alpha").rglob("*.jsonl"):
        lines = enumerate(json_lines(path))
        write_lines(path, [_poisoned(line, LONG if place % 2 else EVIL) for place, line in lines])
    row = {"name": f"Alpha{EVIL}", "organization": EVIL, "license": "L" * 200, "link": "javascript:alert(1)"}
    row["notes"] = EVIL + LONG[:2000]
    named = registry({"alpha": row, "alpha-tasks": {"name": "N" * 300}})
    build(results, root / "_site", named, cache=root / "cache")
    return root / "_site"


def _poisoned(value: object, bad: str, key: str = "") -> object:
    if isinstance(value, dict):
        return {name: _poisoned(one, bad, name) for name, one in value.items()}
    if isinstance(value, list):
        return [_poisoned(one, bad, key) for one in value]
    return bad + value if isinstance(value, str) and key in WRITTEN else value


def test_nothing_runs_and_nothing_breaks_out(page: Page, hostile: Path) -> None:
    """No dialog, no error, no element or handler of theirs, and every page fits 320 pixels."""
    page.set_viewport_size({"width": 320, "height": 640})
    shown = [*hostile.glob("*.html"), *(hostile / "models").glob("*.html")]
    shown += [*(hostile / "evidence/alpha").glob("*.html"), *(hostile / "tasks").glob("*.html")]
    for path in shown:
        visit(page, path.as_uri())
        assert page.evaluate("probe.strange") == [], path
        fits(page, 320)
