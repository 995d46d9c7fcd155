"""The page for choosing a model, in a real browser."""

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from support.choices import choices, rendered
from triathlon_site.pages.choose import PATH
from triathlon_site.render import Draft, installed_environment

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def draft() -> Draft:
    return choices({"Small": 0.25, "Middle": 0.5})


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory, draft: Draft) -> str:
    return written(draft, tmp_path_factory.mktemp("choose"))


def written(draft: Draft, folder: Path) -> str:
    """The address of the page, which was written with what it loads, as files."""
    environment = installed_environment()
    contents = {PATH: rendered(draft).encode()}
    contents |= {page.path: page.bytes for page in draft.files}
    contents |= {path: environment.asset_contents[name] for name, path in environment.assets.items()}
    for path, content in contents.items():
        (folder / path).parent.mkdir(exist_ok=True)
        (folder / path).write_bytes(content)
    return (folder / PATH).as_uri()


def test_table_and_figure_are_the_frontier_of_the_page(page: Page, address: str, draft: Draft) -> None:
    """Rows as without the script; a link a model, names on the frontier; ties with the best are shaded."""
    page.goto(f"{address}?score=loop&cost=size")
    expect(page.locator("#choose .verdict")).to_contain_text("Take Costly (200 B): of 5 usable models with")
    rows = page.locator("#choose tbody tr").all_inner_texts()
    _, frontier = draft.values["questions"][0]
    assert rows == ["\t".join(cell.text for cell in row) for row in frontier.rows]
    address_of = "links => links.map((link) => link.getAttribute('href'))"
    pages = page.locator("#choose svg a").evaluate_all(address_of)
    assert sorted(pages) == [f"models/{name}.html" for name in ("costly", "large", "middle", "small", "twin")]
    names = page.locator("#choose svg .note").all_text_contents()
    assert {"Costly", "Large", "Middle", "Small"} <= set(names)
    assert page.locator("#choose svg .band").count() == 1
    expect(page.locator("figcaption")).to_contain_text("1 without a known size is left out")


def test_filters_stay_in_the_address(page: Page, address: str) -> None:
    """A filter, or any budget as a number, changes the sentence and the address, which opens the view."""
    page.goto(f"{address}?score=loop&cost=size")
    page.wait_for_selector("[data-shown]")
    page.get_by_label("GPU memory at most, GB (4 bits)").fill("3")
    answer = page.locator("#choose .verdict")
    expect(answer).to_contain_text("of 3 usable models in 3 GB with 4 bits with a known")
    assert "memory=3" in page.url
    page.reload()
    expect(answer).to_contain_text("of 3 usable models in 3 GB with 4 bits with a known")
    page.get_by_label("Size", exact=True).select_option("1")
    expect(answer).to_contain_text("take a filter away")


@pytest.mark.parametrize(("width", "height"), [(412, 823), (1280, 800)])
def test_nothing_visible_moves_while_it_loads(page: Page, address: str, width: int, height: int) -> None:
    """What the script replaces starts under the window; the figure comes after the sentence above it."""
    page.set_viewport_size({"width": width, "height": height})
    page.goto(f"{address}?score=loop&cost=size")
    page.wait_for_selector("[data-shown]")
    assert page.evaluate("probe.shifts") == []
