"""Names, replies and programs that would like to run, or to break a page."""

import json
import re
from pathlib import Path

import pytest
from playwright.sync_api import Page

from support.results import FakeModel
from support.site import small_results
from support.visit import fits, visit
from triathlon_runner.models_yaml import Registry
from triathlon_site.build import build

pytestmark = pytest.mark.browser

EVIL = (
    "</script></style></pre>]]>--><script>alert('x')</script><img src=x onerror=alert(1)>"
    '<a href="javascript:alert(2)">k</a>" onmouseover="alert(3)" \'&amp;{{ 7*7 }}\u202eevil\u2066'
    "\x00\x01\x08\x1b[31m\x7f\x85"
)
LONG = "x" * 100_000
WRITTEN = {"prompt", "reply", "text", "program", "summary", "input", "expected", "got", "answer"}
MODELS = (
    FakeModel("alpha", 2.0, 0.95),
    FakeModel("Alpha", 1.0, 0.9),
    FakeModel("alpha-tasks", 0.5, 0.8),
    FakeModel("n" * 100, 0.0, 0.7),
    FakeModel("<script>alert(1)<!", -0.5, 0.6),
)


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A built site whose models are called badly and write worse."""
    root = tmp_path_factory.mktemp("hostile")
    results = small_results(root / "results", MODELS, tasks=4)
    for path in (results / "runs/alpha").rglob("*.jsonl"):
        records = [json.loads(line) for line in path.read_text().splitlines()]
        poisoned = [_poisoned(record, LONG if place % 2 else EVIL) for place, record in enumerate(records)]
        path.write_text("".join(json.dumps(record) + "\n" for record in poisoned))
    row = {
        "name": f"Alpha{EVIL}",
        "organization": EVIL,
        "license": "L" * 200,
        "link": "javascript:alert(1)",
        "notes": EVIL + LONG[:2000],
    }
    api = {"base_url": "http://127.0.0.1:1/v1", "model": "m"}
    other = {"id": "alpha-tasks", "name": "N" * 300, "api": api}
    registry = Registry.model_validate({"models": [{"id": "alpha", "api": api, **row}, other]})
    build(results, root / "_site", registry, cache=root / "cache")
    return root / "_site"


def _poisoned(value: object, bad: str, key: str = "") -> object:
    if isinstance(value, dict):
        return {name: _poisoned(one, bad, name) for name, one in value.items()}
    if isinstance(value, list):
        return [_poisoned(one, bad, key) for one in value]
    return bad + value if isinstance(value, str) and key in WRITTEN else value


def test_no_two_files_differ_by_case_alone(hostile: Path) -> None:
    """`alpha`, `Alpha` and the tasks of `alpha` beside a model of that name: each has pages of its own."""
    paths = [path.relative_to(hostile).as_posix() for path in hostile.rglob("*.html")]
    assert len({path.lower() for path in paths}) == len(paths)
    assert sum(path.startswith("models/") for path in paths) == 2 * len(MODELS)


def test_control_characters_are_spelt_out(hostile: Path) -> None:
    """No page has one; what turned the direction of the text stands there as its number."""
    pages = {path: path.read_text() for path in hostile.rglob("*.html")}
    unseen = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
    assert [path for path, text in pages.items() if unseen.search(text)] == []
    assert "[U+202E]evil" in pages[hostile / "index.html"] and "␛[31m" in pages[hostile / "index.html"]


def test_nothing_runs_and_nothing_breaks_out(page: Page, hostile: Path) -> None:
    """No dialog, no error, no element or handler of theirs, and every page fits 320 pixels."""
    page.set_viewport_size({"width": 320, "height": 640})
    shown = [*hostile.glob("*.html"), *(hostile / "models").glob("*.html")]
    shown += [*(hostile / "evidence/alpha").glob("*.html"), *(hostile / "tasks").glob("*.html")]
    for path in shown:
        visit(page, path.as_uri())
        assert page.evaluate(STRANGE) == [], path
        fits(page, 320)


STRANGE = """() => [...document.querySelectorAll('*')].filter(element =>
  [...element.attributes].some(one => /^on/i.test(one.name) ||
    (one.name === 'href' && /^\\s*(javascript|data):/i.test(one.value)) ||
    (one.name === 'src' && !/^((\\.\\.\\/)*(assets|data|badges)|[\\w.+-]+)\\//.test(one.value))) ||
  (element.tagName === 'SCRIPT' && !element.src && !element.textContent.startsWith('/* Stands in the page'))
).map(element => element.outerHTML.slice(0, 100))"""
