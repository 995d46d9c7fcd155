"""Opening a page of a built site in a browser as a test wants it: with all that its scripts do done."""

from playwright.sync_api import Page


def visit(page: Page, address: str) -> None:
    """Opens a page and waits for its scripts, which come after the first paint."""
    page.goto(address)
    settle(page)


def settle(page: Page) -> None:
    """Waits for the scripts of the page that a click has led to."""
    page.wait_for_selector("html.ready", state="attached")


def fits(page: Page, width: int) -> None:
    """Waits until no part of the page is wider than `width` pixels: after a change of size a browser may
    answer with the old one once more, so only a page that stays too wide fails.
    """
    page.wait_for_function("width => document.documentElement.scrollWidth <= width", arg=width)


def narrow(page: Page, label: str, value: str) -> None:
    """Sets one filter of the first table in the list that its button opens; an empty value takes it away."""
    page.get_by_role("button", name="Filters").click()
    page.locator("#Filters").get_by_label(label, exact=True).select_option(value)
    page.keyboard.press("Escape")


def names(page: Page) -> list[str]:
    """The models of the first table, in the order shown."""
    return [
        name for name in page.locator("table[data-table] tbody tr:visible th a").all_inner_texts() if name
    ]
