"""The page for choosing a model, in a real browser."""

import pytest
from playwright.sync_api import Page, expect

from support.choices import choices
from triathlon_site.figures import PLOTLY, plotly_script
from triathlon_site.pages.choose import PATH, ChooseContext, drafts
from triathlon_site.render import installed_environment

pytestmark = pytest.mark.browser


class Site:
    """What the frame of every page asks of the site."""

    boards = ()
    date = None
    version = "0"
    docs = ""


@pytest.fixture(scope="module")
def context() -> ChooseContext:
    (draft,) = drafts(choices({}))
    assert isinstance(draft.context, ChooseContext)
    return draft.context


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory, context: ChooseContext) -> str:
    """The page alone with what it loads, as files."""
    folder = tmp_path_factory.mktemp("choose")
    (draft,) = drafts(choices({}))
    environment = installed_environment()
    html = environment.render(
        context.template, root="", here=PATH, links=[], site=Site(), **context.variables()
    )
    contents = {PATH: html.encode(), f"assets/{PLOTLY}": plotly_script()}
    contents |= {page.path: page.bytes for page in draft.files}
    contents |= {path: environment.asset_contents[name] for name, path in environment.assets.items()}
    for path, content in contents.items():
        (folder / path).parent.mkdir(exist_ok=True)
        (folder / path).write_bytes(content)
    return (folder / PATH).as_uri()


def test_the_script_says_what_the_page_says_without_it(
    page: Page, address: str, context: ChooseContext
) -> None:
    """Each usual question, opened by its address, has the sentence and the frontier of the page."""
    for question in context.questions:
        page.goto(f"{address}?{question.address.partition('?')[2]}")
        page.wait_for_selector("[data-shown]")
        assert page.inner_text(".verdict") == question.sentence
        rows = page.locator("#choose tbody tr").all_inner_texts()
        expected = [f"{row.name}\t{row.cost}\t{row.score}\t{row.percent}" for row in question.rows]
        assert rows == expected


def test_filters_stay_in_the_address(page: Page, address: str) -> None:
    """A filter changes the sentence and the address; the address opens the same view again."""
    page.goto(f"{address}?score=loop&cost=size")
    page.wait_for_selector("[data-shown]")
    page.get_by_label("Size", exact=True).select_option("10")
    expect(page.locator(".verdict")).to_contain_text("Of 4 models under 10 B with a known size, Large")
    assert "size=10" in page.url
    page.reload()
    expect(page.locator(".verdict")).to_contain_text("Of 4 models under 10 B with a known size, Large")
    page.get_by_label("Size", exact=True).select_option("1")
    expect(page.locator(".verdict")).to_contain_text("take a filter away")


def test_the_figure_shows_every_model_with_its_interval(page: Page, address: str) -> None:
    """Plotly draws a point a model: those on the frontier and the others."""
    page.goto(f"{address}?score=loop&cost=size")
    page.wait_for_selector(".plot .main-svg")
    traces = page.evaluate("document.querySelector('.plot').data.map(({x, y, error_y}) => [x, y, error_y])")
    others, line, frontier = traces
    assert (others[0], others[1]) == ([4], [4])
    assert (frontier[0], frontier[1]) == ([1, 4, 9, 200], [5, 7, 7.2, 9.5])
    assert frontier[2]["array"] == pytest.approx([0.4] * 4)
    assert line[0] == frontier[0]
    expect(page.locator("figcaption")).to_contain_text("1 without a known size is left out")


SHIFTS = """window.shifts = [];
new PerformanceObserver((list) => { for (const entry of list.getEntries()) window.shifts.push(entry.value); })
  .observe({ type: "layout-shift", buffered: true });"""


NEXT_PAINT = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"


def test_nothing_visible_moves_while_the_page_loads(page: Page, address: str) -> None:
    """The questions below start under the window; the figure comes after the sentence above it."""
    page.add_init_script(SHIFTS)
    for width, height in ((412, 823), (1280, 800)):
        page.set_viewport_size({"width": width, "height": height})
        page.goto(f"{address}?score=loop&cost=size")
        page.wait_for_selector("[data-shown]")
        page.evaluate(NEXT_PAINT)
        assert page.evaluate("window.shifts") == []


def test_a_strip_of_the_figure_does_not_load_plotly(page: Page, address: str) -> None:
    """Its script is several megabytes: on a phone it is loaded when somebody scrolls to the figure."""
    page.set_viewport_size({"width": 412, "height": 823})
    page.goto(f"{address}?score=loop&cost=size")
    page.wait_for_selector("[data-shown]")
    top = page.evaluate("document.querySelector('.plot').getBoundingClientRect().top")
    page.set_viewport_size({"width": 412, "height": round(top) + 40})
    page.reload()
    page.wait_for_selector("[data-shown]")
    page.evaluate(NEXT_PAINT)
    assert page.locator("script[src*=plotly]").count() == 0
    page.locator(".plot").scroll_into_view_if_needed()
    page.wait_for_selector(".plot .main-svg")
