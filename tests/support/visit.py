"""Opening a page of a built site in a browser as a test wants it: with all that its scripts do done."""

from playwright.sync_api import Page


def visit(page: Page, address: str) -> None:
    """Opens a page and waits for its scripts, which come after the first paint."""
    page.goto(address)
    settle(page)


def settle(page: Page) -> None:
    """Waits for the scripts of the page that a click has led to."""
    page.wait_for_selector("html.ready", state="attached")


def names(page: Page) -> list[str]:
    """The models of the first table, in the order shown."""
    return [
        name for name in page.locator("table[data-table] tbody tr:visible th a").all_inner_texts() if name
    ]
