"""The page for choosing a model, in a real browser."""

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def address(site: Path) -> str:
    return (site / "choose.html").as_uri()


def test_table_and_figure_are_the_frontier_of_the_page(page: Page, address: str) -> None:
    """Rows as without the script; a link a model, names on the frontier; ties with the best are shaded."""
    page.goto(address)
    expect(page.locator("#choose .verdict")).to_contain_text(
        "cheapest of the 12 usable models that cannot be"
    )
    rows, unscripted = (page.locator(f"{part} tbody").first for part in ("#choose", "#unscripted"))
    cells = unscripted.locator("th, td").all_text_contents()
    expect(rows.locator("th, td")).to_have_text([text.strip() for text in cells])
    frontier = rows.locator("a").all_text_contents()
    assert frontier[0] in page.locator("#choose svg .note").all_text_contents()
    assert page.locator("#choose svg a circle").count() > len(frontier) > 2
    assert page.locator("#choose svg .band").count() == 1
    expect(page.locator("figcaption")).to_contain_text("44 without a known price are left out")
    page.locator("#choose svg a", has_text=frontier[0]).click()
    expect(page.locator("h1")).to_contain_text(frontier[0])


def test_filters_stay_in_the_address(page: Page, address: str) -> None:
    """A filter, or any budget as a number, changes the sentence and the address, which opens the view."""
    page.goto(address)
    page.wait_for_selector("[data-shown]")
    page.get_by_label("GPU memory at most, GB (4 bits)").fill("3")
    answer = page.locator("#choose .verdict")
    expect(answer).to_contain_text("of 4 usable models in 3 GB with 4 bits with a known")
    assert "memory=3" in page.url
    page.reload()
    expect(answer).to_contain_text("of 4 usable models in 3 GB with 4 bits with a known")
    page.get_by_label("Weights", exact=True).select_option("closed")
    expect(answer).to_contain_text("take a filter away")


@pytest.mark.parametrize(("width", "height"), [(412, 823), (1280, 800)])
def test_nothing_visible_moves_while_it_loads(page: Page, address: str, width: int, height: int) -> None:
    """What the script replaces starts under the window; the figure comes after the sentence above it."""
    page.set_viewport_size({"width": width, "height": height})
    page.goto(address)
    page.wait_for_selector("[data-shown]")
    assert page.evaluate("probe.shifts") == []
