"""The front page for a hurried newcomer, in a real browser."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from support.visit import fits, narrow, settle, visit

pytestmark = pytest.mark.browser


@pytest.mark.parametrize(("width", "height"), [(1440, 900), (390, 844)], ids=["desktop", "phone"])
def test_the_first_screen_is_pictures_and_a_ranking(page: Page, site: Path, width: int, height: int) -> None:
    """A desk sees three charts of five models, prices and rows of the table; a phone the eight best."""
    page.set_viewport_size({"width": width, "height": height})
    visit(page, (site / "index.html").as_uri())
    assert page.locator("h1").inner_text() == "Which model can you trust with code?"
    assert page.locator("[type=range]").count() == 0  # no weights that leave three models ranked
    if width > 1000:
        assert page.evaluate("probe.seen", ".chart li") == 15 and page.evaluate("probe.seen", ".prices") == 1
        assert page.evaluate("probe.seen", "table.board tbody tr") >= 8
    else:
        assert page.evaluate("probe.seen", ".chart li") == 8 and page.evaluate("probe.seen", ".rank-by") == 1
        fits(page, width)


def test_a_phone_has_rows_of_two_lines_and_no_box_that_scrolls(page: Page, site: Path) -> None:
    """The page scrolls, not the table; the menu and the meaning of the marks open by a tap."""
    page.set_viewport_size({"width": 390, "height": 844})
    visit(page, (site / "index.html").as_uri())
    frame = page.locator(".table-frame").first
    assert frame.evaluate("box => box.scrollHeight <= box.clientHeight && box.scrollWidth <= box.clientWidth")
    row = page.locator("table.board tbody tr").first
    expect(row.locator("td.by .gauge")).to_be_visible()
    expect(row.locator("td:visible, th:visible")).to_have_count(3)
    menu = page.get_by_role("navigation", name="Pages", exact=True)
    expect(menu).to_be_hidden()
    page.get_by_role("button", name="Menu").click()
    pages = ["Leaderboard", "Choose", "Compare", "Tasks", "Method", "Data"]
    expect(menu.get_by_role("link")).to_have_text(pages)
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="Filters")).to_be_visible()
    expect(page.get_by_role("button", name="Columns")).to_be_hidden()  # there is room for one
    page.get_by_role("button", name="What the marks mean").click()
    expect(page.get_by_text("reported by a paper or a board")).to_be_visible()


def test_one_choice_ranks_the_table(page: Page, site: Path) -> None:
    """Order, ranks, bars, caption and address follow and stay; the head of a column does the same."""
    visit(page, (site / "index.html").as_uri())
    head = page.locator("th[aria-sort]")
    expect(head).to_contain_text("Loop")
    page.locator(".rank-by label", has_text="Runtime").click()
    for _ in range(2):
        expect(head).to_have_count(1)
        expect(head).to_contain_text("Runtime")
        assert "by=runtime_output" in page.url
        expect(page.locator("caption")).to_contain_text("All models, by Runtime: says what a program returns")
        scores = page.evaluate("[...document.querySelectorAll('td.by')].map(cell => Number(cell.dataset.v))")
        known = [score for score in scores if score]
        assert len(known) > 20 and known == sorted(known, reverse=True)
        expect(page.locator("table.board tbody tr").first.locator(".by .gauge")).to_be_visible()
        page.reload()
        settle(page)
    for _ in range(2):  # the second press turns the order, and a reload keeps both
        page.get_by_role("button", name="HumanEval+").click()
    page.reload()
    settle(page)
    assert "by=humaneval_plus" in page.url and "sort=humaneval%2B-pass%401" in page.url
    expect(page.locator(".rank-by :checked + span")).to_have_text("HumanEval+")
    page.get_by_role("button", name="Rank", exact=True).click()
    expect(page.locator("td.rank").first).to_contain_text("1")
    page.locator(".rank-by label", has_text="Loop").click()
    assert "by=" not in page.url and "sort=" not in page.url


def test_search_and_filters(page: Page, site: Path) -> None:
    """A name without hyphens is the same. A filter goes by its ×, all by a button; no match is said."""
    visit(page, (site / "index.html").as_uri())
    rows, field = page.locator("table.board tbody tr"), page.get_by_label("Find a model")
    whole = rows.count()
    for words, name in (("claude-opus-4", "Claude Opus 4"), ("gpt4o", "GPT-4o")):
        field.fill(words)
        expect(rows.filter(has_text=name)).not_to_have_count(0)
        assert rows.count() < 20
    field.fill("")
    page.get_by_role("button", name="open weights").click()
    expect(page.get_by_role("button", name="open weights")).to_have_attribute("aria-pressed", "true")
    narrow(page, "Licence", "mit")
    field.fill("nobody")
    expect(page.get_by_text("No model matches “nobody”, Weights: open, Licence: mit.")).to_be_visible()
    expect(page.locator("table.board")).to_be_hidden()
    page.get_by_role("button", name="Remove the filter Licence: mit").click()
    assert "license=" not in page.url and "open=open" in page.url
    page.get_by_role("button", name="Clear all").first.click()
    expect(rows).to_have_count(whole)
    assert "?" not in page.url
    visit(page, (site / "index.html").as_uri() + "?price=3")
    expect(page.get_by_role("button", name="Remove the filter Price out, $/M, at most: 3")).to_be_visible()
    page.locator("th", has_text="out, $/M").get_by_role("button").click()
    place = page.locator("thead th").evaluate_all("heads => heads.findIndex(head => head.ariaSort)")
    texts = page.locator(f"tbody td:nth-child({place + 1})").all_inner_texts()
    assert [float(text) for text in texts] == sorted(map(float, texts))  # by what the cell shows


def test_a_view_is_copied_with_ids_and_where_it_is_from(page: Page, site: Path) -> None:
    """As Markdown and tab-separated: the rows and columns shown; and the citation."""
    visit(page, (site / "index.html").as_uri() + "?org=A+%26+Co")
    page.get_by_role("button", name="Copy").click()
    page.get_by_role("button", name="As Markdown").click()
    text = page.get_by_label("What was copied").first
    copied = text.input_value().splitlines()
    assert copied[0].startswith("All models, by Loop") and "results as of 2026" in copied[1]
    assert copied[3].startswith("| Rank | Model | Id | Loop")
    assert [line.split(" | ")[1:3] for line in copied[5:]] == [["Alpha", "alpha"], ["Beta", "beta"]]
    page.get_by_role("button", name="Tab-separated").click()
    head, *rows = text.input_value().splitlines()
    assert head.split("\t")[:3] == ["Rank", "Model", "Id"] and len(rows) == 2
    page.get_by_text("Cite these numbers").click()
    expect(page.locator("#cite pre")).to_contain_text("@misc{triathlon2026,")
    expect(page.locator("#cite")).to_contain_text("Apache License")


def test_a_copy_keeps_notes_apart(page: Page, site: Path) -> None:
    """`1 column` and `± 0.3` are no intervals; a missing number is empty; reported rows have ids, too."""
    boards = {"index": ["Index, note"], "loop-mbpp-plus": [], "translation": [], "published/reval": None}
    for path, notes in boards.items():
        visit(page, f"{(site / path).as_uri()}.html?show=rank-shift-against-plain-pass%401")
        page.get_by_role("button", name="Copy").click()
        page.get_by_role("button", name="Tab-separated").click()
        copied = page.get_by_label("What was copied").first.input_value().splitlines()
        heads, *rows = [line.split("\t") for line in copied]
        assert len(rows) > 3 and all(len(row) == len(heads) for row in rows)
        assert not {"–", "?"} & {text for row in rows for text in row}
        assert ("Id" in heads) == (notes is not None)  # no column is empty
        intervals = {row[i] for row in rows for i, head in enumerate(heads) if head.endswith(", 95 %")}
        assert all(re.fullmatch(r"(?:[−\d.]+(?:–| to )[−\d.]+)?", text) for text in intervals), intervals
        if notes is not None:
            assert all(row[heads.index("Id")] for row in rows) and len(intervals) > 3
            assert notes == [head for head in heads if head.endswith(", note")]


def test_ticked_rows_are_compared(page: Page, site: Path) -> None:
    """Two rows of the table open side by side; more than six do not."""
    visit(page, (site / "index.html").as_uri() + "?org=A+%26+Co")
    page.get_by_role("button", name="Compare", exact=True).click()
    for name in ("Alpha", "Beta"):
        page.get_by_label(f"Compare {name}", exact=True).check()
    page.get_by_role("link", name="Compare these 2").click()
    page.wait_for_url("**/compare.html?m=alpha,beta")
    expect(page.locator("#compare .forest li")).not_to_have_count(0)
    expect(page.locator("#compare-tables th", has_text="Licence")).to_have_count(1)
    visit(page, (site / "compare.html").as_uri() + "?m=alpha,beta,gamma,delta,epsilon,zeta")
    expect(page.get_by_text("Six are the most")).to_be_visible()


def test_a_discipline_opens_a_board_of_one_line_a_row(page: Page, site: Path) -> None:
    """That with the most models. A button opens what stands below the scores, and the address keeps it."""
    visit(page, (site / "index.html").as_uri())
    page.locator("footer").get_by_role("link", name="Loop").click()
    page.wait_for_url("**/loop.html")
    settle(page)
    expect(page.get_by_role("link", name="What moved")).to_have_count(0)  # nothing has
    heights = "[...document.querySelector('table.board').tBodies[0].rows].map(row => row.offsetHeight)"
    assert len({round(height) for height in page.evaluate(heights)}) == 1
    assert page.evaluate(heights)[0] < 30
    page.get_by_role("button", name="Details").click()
    assert max(page.evaluate(heights)) > 40
    page.reload()
    settle(page)
    assert max(page.evaluate(heights)) > 40
    expect(page.get_by_role("button", name="Details")).to_have_attribute("aria-pressed", "true")


def test_a_link_into_a_page_holds_while_its_tables_grow(page: Page, site: Path) -> None:
    """A section below a ranking is still in sight when the ranking has been given its whole height."""
    for part in ("published/evaloop.html#evaloop_attacks", "runtime.html#outcomes"):
        visit(page, f"{site.as_uri()}/{part}")
        expect(page.locator(f"[id='{part.partition('#')[2]}'] h2")).to_be_in_viewport()
