"""`triathlon serve --watch`: the site is rebuilt when something changes, and open pages reload."""

import re
import threading
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from support.site import small_results
from triathlon_site.serve import make_server, rebuild_site, snapshot, watch, watched_places


class Watched:
    """A folder with a source and a site of one page that shows it, served and watched."""

    def __init__(self, root: Path) -> None:
        self.source, self.out = root / "source/text", root / "out"
        self.source.parent.mkdir()
        self.out.mkdir()
        self.stop, self.builds = threading.Event(), threading.Semaphore(0)
        self.write("first")
        self.rebuild()

    def write(self, text: str) -> None:
        self.source.write_text(text)

    def rebuild(self) -> None:
        text = self.source.read_text()
        if text != "broken":
            (self.out / "index.html").write_text(
                f"<!doctype html><title>t</title><link rel=icon href=data:,><p>{text}</p>"
            )
        self.builds.release()


@pytest.fixture
def watched(tmp_path: Path) -> Iterator[Watched]:
    """Watched until the test ends."""
    found = Watched(tmp_path)
    found.builds.acquire()
    places = [found.source.parent]
    arguments = (places, snapshot(places), found.rebuild, found.stop, 0.02)
    watcher = threading.Thread(target=watch, args=arguments)
    watcher.start()
    yield found
    found.stop.set()
    watcher.join()


@pytest.fixture
def address(watched: Watched) -> Iterator[str]:
    """Where the watched site is served."""
    with make_server(watched.out, 0, watched=True) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}/"
        server.shutdown()


def test_a_page_is_told_of_a_rebuild_that_succeeded(watched: Watched, address: str) -> None:
    """Each page has the script and its version; a failed rebuild leaves both, the next one does not."""
    page = urllib.request.urlopen(address).read().decode()
    (version,) = re.findall(r'<script src="/_watch.js" data-version="(\d+)">', page)
    assert b"_changed.js" in urllib.request.urlopen(f"{address}_watch.js").read()
    changed = f"{address}_changed.js?version={version}&1"
    watched.write("broken")
    assert watched.builds.acquire(timeout=60)
    assert urllib.request.urlopen(changed).read() == b""
    watched.write("fixed")
    assert watched.builds.acquire(timeout=60)
    assert urllib.request.urlopen(changed).read() == b"location.reload();\n"
    assert b"fixed" in urllib.request.urlopen(address).read()
    (watched.out / "index.html").unlink()
    assert urllib.request.urlopen(changed).read() == b"", "while one site takes the other's place"


@pytest.mark.browser
def test_an_open_page_reloads(page: Page, watched: Watched, address: str) -> None:
    """The page shows the new text without anybody touching it, twice."""
    page.goto(address)
    expect(page.locator("p")).to_have_text("first")
    for text in ("second", "third"):
        watched.write(text)
        expect(page.locator("p")).to_have_text(text, timeout=60_000)


@pytest.mark.slow
def test_results_templates_and_code_are_watched(tmp_path: Path) -> None:
    """And models.yaml; the rebuild is a process of its own, which has the changed code."""
    results = small_results(tmp_path / "results", tasks=2)
    models = tmp_path / "models.yaml"
    places = watched_places(results, models)
    assert {results, models} <= set(places)
    names = {path.name for place in places if place.is_dir() for path in place.rglob("*")}
    assert {"page.html.jinja", "site.css", "serve.py", "core.jsonl", "catalogue.py"} <= names
    assert rebuild_site(results, tmp_path / "_site", None)
    assert (tmp_path / "_site/index.html").is_file()
    assert not rebuild_site(tmp_path / "nowhere", tmp_path / "_site", None)
