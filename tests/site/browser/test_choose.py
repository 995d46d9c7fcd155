"""The page for choosing a model, in a real browser."""

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from support.choices import LOOP, choices, rendered
from triathlon_site.pages.choose import PATH
from triathlon_site.render import Draft, installed_environment

pytestmark = pytest.mark.browser
TAKE_COSTLY = (
    "Take Costly (200 B): of 5 usable open models with a known size it scores highest in loop,"
    " 9.50 (9.10–9.90), and no other comes close enough to doubt it."
)
TAKE_MIDDLE = (
    "Take Middle (4 B): the smallest of the 2 usable {} that cannot be told from the best in loop, Large with"
    " 7.20 (6.80–7.60)."
)
TOO_FEW = "{} of the usable models{} a score in loop and a known {}: too few to advise one."


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


def test_the_answer_is_a_sentence(page: Page, address: str) -> None:
    """The best, who cannot be told from it, and the smallest of these; of a few models none is advised."""
    for view, sentence in (
        ("cost=size&open=open", TAKE_COSTLY),
        ("cost=size&open=open&size=10", TAKE_MIDDLE.format("open models under 10 B")),
        ("cost=size&size=10", TAKE_MIDDLE.format("models under 10 B")),
        ("cost=size&size=50-", TOO_FEW.format("Only Costly", " of 50 B and more has", "size")),
        ("cost=solved", TOO_FEW.format("Only 2", " have", "measured cost")),
    ):
        page.goto(f"{address}?score=loop&{view}")
        page.wait_for_selector("[data-shown]")
        assert page.inner_text("#choose .verdict") == sentence


def test_the_best_may_be_the_smallest(page: Page, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is none of those that tie with it."""
    monkeypatch.setitem(LOOP, "Middle", (40, 7.0))
    page.goto(f"{written(choices({}), tmp_path)}?score=loop&cost=size&size=50")
    expect(page.locator("#choose .verdict")).to_have_text(
        "Take Large (9 B): of 4 usable models under 50 B with a known size it scores highest in loop,"
        " 7.20 (6.80–7.60), and none of the others that tie with it (1) is smaller."
    )


def test_table_and_figure_are_the_frontier_of_the_page(page: Page, address: str, draft: Draft) -> None:
    """Rows as without the script; a link a model, names on the frontier; ties with the best are shaded."""
    page.goto(f"{address}?score=loop&cost=size")
    page.wait_for_selector("[data-shown]")
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


@pytest.mark.parametrize("dear", [0.0, 0.5])
def test_models_that_cost_nothing_are_in_the_figure(page: Page, tmp_path: Path, dear: float) -> None:
    """On its left edge, and the caption says so, also where all are free."""
    draft = choices({"Small": 0.0, "Middle": 0.0, "Costly": dear})
    page.goto(f"{written(draft, tmp_path)}?score=loop&cost=solved")
    page.wait_for_selector("[data-shown]")
    x = "circles => circles.map((circle) => Number(circle.getAttribute('cx')))"
    places = page.locator("#choose svg circle").evaluate_all(x)
    assert places.count(36) == 2 + (dear == 0) and len(places) == 3
    expect(page.locator("figcaption")).to_contain_text("On the left edge: models that cost nothing.")


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
