"""A built site and a real Chromium."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from support.results import FakeModel
from support.site import (
    add_published,
    imported_results,
    json_lines,
    registry,
    results_on,
    rich_results,
    write_lines,
)
from triathlon_site.build import build

FLAGS = (
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"),
    *("--disable-background-networking", "--disable-component-update"),
)
CHROMIUMS = ("chromium", "chromium-browser", "google-chrome")
MODELS = (
    FakeModel("alpha", 2.0, 0.95),
    FakeModel("beta", 1.0, 0.9),
    FakeModel("gamma", 0.0, 0.8),
    FakeModel("delta", -1.0, 0.6),
    FakeModel("epsilon", -9.0, 0.1),
)
FAILING = {"input": "f('a  b\tc',\n  '   ')", "expected": "'  '", "got": "' '\u202eevil\x1b"}


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Five models, and four on MBPP+; published tables, imported results, sizes and licences.

    What failed of gamma's programs for seeds has white space and control characters.
    """
    root = tmp_path_factory.mktemp("site")
    results = imported_results(rich_results(root / "results", MODELS, tasks=15))
    add_published(results_on(results, [*MODELS[:3], FakeModel("zeta")], "loop/mbpp-plus", tasks=15))
    seeds = results / "runs/gamma/evolved/core-seeds.jsonl"
    records = json_lines(seeds)
    for record in records:
        if record["verdict"] and record["verdict"]["failing"]:
            record["verdict"]["failing"] |= FAILING
    write_lines(seeds, records)
    ours, other = {"organization": "A & Co"}, {"organization": "Other"}
    opened = {"license": "mit", "open_weights": True}
    rows = {
        "alpha": {**ours, **opened, "parameters": "7B"},
        "beta": {**ours, **opened, "parameters": "70B"},
        "gamma": {**other, "license": "closed", "open_weights": False},
        "delta": {**other, **opened, "parameters": "135M"},
        "epsilon": {},
    }
    named = registry({model: {"name": model.title(), **facts} for model, facts in rows.items()})
    build(results, root / "_site", named, cache=root / "cache")
    return root / "_site"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Closed before the next file's tests, because Playwright keeps an event loop running."""
    named = os.environ.get("TRIATHLON_CHROMIUM")
    path = named or next((found for name in CHROMIUMS if (found := shutil.which(name))), None)
    with sync_playwright() as playwright:
        if path is None and not Path(playwright.chromium.executable_path).exists():
            ways = "install one, run `playwright install chromium` or set TRIATHLON_CHROMIUM"
            pytest.skip(f"no Chromium: {ways}")
        opened = playwright.chromium.launch(executable_path=path, args=list(FLAGS))
        yield opened
        opened.close()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A page with the probes, which fails its test on any script error, console error or dialog."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    faults: list[str] = []
    context.add_init_script(path=Path(__file__).with_name("probes.js"))
    opened = context.new_page()
    opened.on("pageerror", lambda error: faults.append(str(error)))
    opened.on("console", lambda message: faults.append(message.text) if message.type == "error" else None)
    opened.on("dialog", lambda dialog: faults.append(f"dialog: {dialog.message}"))
    yield opened
    context.close()
    assert faults == []
