"""`triathlon serve --watch`: the site is rebuilt when something changes, and open pages reload."""

import threading
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from support.site import small_results
from triathlon_site.serve import Versions, make_server, rebuild_site, snapshot, watch, watched_places


class Watched:
    """A folder with a source and a site of one page that shows it, served and watched."""

    def __init__(self, root: Path) -> None:
        self.source, self.out = root / "source/text", root / "out"
        self.source.parent.mkdir()
        self.out.mkdir()
        self.versions, self.stop, self.builds = Versions(), threading.Event(), threading.Semaphore(0)
        self.write("first")
        self.rebuild()

    def write(self, text: str) -> None:
        self.source.write_text(text)

    def rebuild(self) -> bool:
        text = self.source.read_text()
        if text != "broken":
            (self.out / "index.html").write_text(
                f"<!doctype html><title>t</title><link rel=icon href=data:,><p>{text}</p>"
            )
        self.builds.release()
        return text != "broken"


@pytest.fixture
def watched(tmp_path: Path) -> Iterator[Watched]:
    """Watched until the test ends."""
    found = Watched(tmp_path)
    found.builds.acquire()
    places = [found.source.parent]
    arguments = (places, snapshot(places), found.rebuild, found.versions, found.stop, 0.02)
    watcher = threading.Thread(target=watch, args=arguments)
    watcher.start()
    yield found
    found.stop.set()
    watcher.join()


@pytest.fixture
def address(watched: Watched) -> Iterator[str]:
    """Where the watched site is served."""
    with make_server(watched.out, 0, watched.versions) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}/"
        server.shutdown()


def test_a_change_rebuilds_and_a_failed_rebuild_is_no_new_version(watched: Watched) -> None:
    """One that fails leaves the site and its version as they are; the next change builds again."""
    watched.write("broken")
    assert watched.builds.acquire(timeout=60)
    assert watched.versions.number == 0 and "first" in (watched.out / "index.html").read_text()
    watched.write("mended")
    assert watched.versions.wait_beyond(0, 60)
    assert "mended" in (watched.out / "index.html").read_text()


def test_a_page_waits_for_the_next_version(watched: Watched, address: str) -> None:
    """Each page carries the script with its version; a page of an older version is told to reload at once."""
    page = urllib.request.urlopen(address).read().decode()
    assert '<script src="/_watch.js" data-version="0">' in page
    assert b"_changed.js" in urllib.request.urlopen(f"{address}_watch.js").read()
    watched.write("second")
    answer = urllib.request.urlopen(f"{address}_changed.js?version=0").read()
    assert answer == b"location.reload();\n" and watched.versions.number == 1


@pytest.mark.browser
def test_an_open_page_reloads(page: Page, watched: Watched, address: str) -> None:
    """The page shows the new text without anybody touching it, twice."""
    page.goto(address)
    expect(page.locator("p")).to_have_text("first")
    for text in ("second", "third"):
        watched.write(text)
        expect(page.locator("p")).to_have_text(text, timeout=60_000)


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
