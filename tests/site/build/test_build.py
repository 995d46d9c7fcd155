"""Building the site: whole or not at all, the same bytes from the same results; how heavy its pages are."""

import base64
import difflib
import errno
import gzip
import hashlib
import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from unittest.mock import Mock

import pytest

from support.golden import shown, stored
from support.page_tables import PageParser
from support.results import FakeModel, FakeSuite, write_results
from support.site import (
    add_published,
    build_small,
    change,
    files,
    page_text,
    registry,
    results_on,
    small_results,
    users_sets,
)
from triathlon_runner import catalogue
from triathlon_runner.errors import UserError
from triathlon_runner.models_yaml import Registry
from triathlon_site.build import Options, build, gather, sweep, write_site
from triathlon_site.pages import Rendering
from triathlon_site.render import installed_environment


def test_the_same_results_give_the_same_bytes(tmp_path: Path) -> None:
    """With and without what the last build read, rendered by one process or by several."""
    build_small(tmp_path, tasks=3)
    first = files(tmp_path / "_site")
    shutil.rmtree(tmp_path / "cache")
    build_small(tmp_path, tasks=3)
    assert first == files(tmp_path / "_site")
    rendering = Rendering(gather(tmp_path / "results", None), installed_environment())
    for processes in (1, 2):
        write_site(tmp_path / str(processes), rendering, processes=processes)
    assert files(tmp_path / "1") == files(tmp_path / "2")


def test_the_date_is_that_of_results_or_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The clock is never asked: SOURCE_DATE_EPOCH, else the newest result's end."""
    build_small(tmp_path)
    assert "2026-01-02" in (tmp_path / "_site/index.html").read_text()
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "86400")
    build_small(tmp_path)
    assert "1970-01-02" in (tmp_path / "_site/index.html").read_text()
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "yesterday")
    with pytest.raises(UserError, match="SOURCE_DATE_EPOCH must be seconds since 1970, got 'yesterday'"):
        build_small(tmp_path)


def test_without_results_a_site_says_what_to_do(tmp_path: Path) -> None:
    """An empty folder gives a page with the next command; with --strict, nothing is written.

    A user's problems that cannot be read have no results, and are none of a build's business.
    """
    (tmp_path / "results").mkdir()
    with pytest.raises(UserError, match=r"--strict: expected results in '.*results', there are none"):
        build(tmp_path / "results", tmp_path / "_site", None, Options(strict=True))
    assert not (tmp_path / "_site").exists()
    torn = users_sets(tmp_path, mine="Mine")
    torn.user_data[0].path.write_bytes(gzip.compress(b"{}\n" * 99)[:20])
    assert build(tmp_path / "results", tmp_path / "_site", None, known=torn).units == 0
    page = (tmp_path / "_site/index.html").read_text()
    assert "No results yet" in page and "make leaderboard" in page


def test_no_results_never_replace_a_site_that_has_some(tmp_path: Path) -> None:
    """A run that failed, or a mistyped name: the old site stays; a site without results may be replaced."""
    (tmp_path / "empty/runs/weak").mkdir(parents=True)
    for _ in range(2):
        assert build(tmp_path / "empty", tmp_path / "other", None).models == 0
    build_small(tmp_path, tasks=3)
    before = files(tmp_path / "_site")
    for folder, said in (
        ("empty", r"no results in '.*empty': the site in '.*_site'.* stays as it is"),
        ("result", r"expected a folder of results at '.*result', there is none"),
    ):
        with pytest.raises(UserError, match=said):
            build(tmp_path / folder, tmp_path / "_site", None)
    assert files(tmp_path / "_site") == before


def test_nothing_new_writes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second build finds the site that it would write, and says the same of it; any change is written."""
    first = build_small(tmp_path)
    page = tmp_path / "_site/index.html"
    inode = page.stat().st_ino
    second = build_small(tmp_path)
    assert page.stat().st_ino == inode and second.model_copy(update={"seconds": first.seconds}) == first
    edits: dict[str, Callable[[], object]] = {
        "a page": lambda: page.write_text("edited"),
        "a page of another name": lambda: (tmp_path / "_site/mine.html").write_text(""),
        "no page": (tmp_path / "_site/data.html").unlink,
        "a results file": lambda: os.utime(tmp_path / "results/runs/weak/loop/core.jsonl", (1e9, 1e9)),
        "the date": lambda: monkeypatch.setenv("SOURCE_DATE_EPOCH", "86400"),
    }
    for name, edit in edits.items():
        edit()
        build_small(tmp_path)
        assert page.stat().st_ino != inode, name
        inode = page.stat().st_ino
    assert not (tmp_path / "_site/mine.html").exists() and (tmp_path / "_site/data.html").exists()


def test_pages_link_to_docs_that_are_published_with_them(tmp_path: Path) -> None:
    """Only where there are any."""
    results_on(tmp_path / "results", [FakeModel("m", 1.0)], "loop/core", tasks=3)
    for docs in ("", "docs/index.html"):
        build(tmp_path / "results", tmp_path / "_site", None, Options(docs=docs), cache=tmp_path / "cache")
        for page, link in (("data.html", "docs/index.html"), ("models/m.html", "../docs/index.html")):
            text = (tmp_path / "_site" / page).read_text()
            assert (f'<a href="{link}">docs</a>' in text) == bool(docs) == ("docs/index.html" in text)


def test_faults_are_warnings_and_with_strict_an_error(tmp_path: Path) -> None:
    """The site says what was left out; --strict names file and line of each fault, and nothing changes."""
    build_small(tmp_path)
    before = files(tmp_path / "_site")
    path = tmp_path / "results/runs/weak/loop/core.jsonl"
    path.write_text("nonsense\n" + path.read_text())
    with pytest.raises(
        UserError,
        match=r"found 1 fault; no page was written(?s:.*)runs/weak/loop/core\.jsonl, line 1: expected a JSON"
        r" object.*\ncommands named above need --results .*results, too",
    ):
        build_small(tmp_path, strict=True)
    assert files(tmp_path / "_site") == before
    (notice,) = build_small(tmp_path).notices
    said = "expected a JSON object, got 'nonsense'; delete the line, and the next run makes its unit again"
    assert str(notice).startswith(f"runs/weak/loop/core.jsonl, line 1: {said}")
    for page in ("data.html", "models/weak.html"):
        assert "expected a JSON object" in (tmp_path / "_site" / page).read_text()


def test_what_is_no_site_is_never_replaced(tmp_path: Path) -> None:
    """--out with somebody's files in it, or a file, is refused and left alone."""
    out = tmp_path / "_site"
    out.mkdir()
    (out / "thesis.txt").write_text("mine")
    with pytest.raises(UserError, match="no earlier build wrote"):
        build_small(tmp_path, tasks=3)
    assert (out / "thesis.txt").read_text() == "mine"
    shutil.rmtree(out)
    out.write_text("")
    with pytest.raises(UserError, match="is a file; name a folder"):
        build_small(tmp_path)


def test_what_killed_builds_left_is_swept_away(tmp_path: Path) -> None:
    """The draft of a process that is gone, and no other; a site that was set aside is put back."""
    build_small(tmp_path, tasks=3)
    before = files(tmp_path / "_site")
    for name in ("._site.99999999.new", "._site.99999999.old", f"._site.{os.getppid()}.new", "._site.notes"):
        (tmp_path / name / "page").mkdir(parents=True)
    build_small(tmp_path)
    assert files(tmp_path / "_site") == before
    left = {path.name for path in tmp_path.glob("._site*")}
    assert left == {f"._site.{os.getppid()}.new", "._site.notes"}
    (tmp_path / "_site").rename(tmp_path / "._site.99999999.old")
    sweep(tmp_path / "_site")
    assert files(tmp_path / "_site") == before
    assert {path.name for path in tmp_path.glob("._site*")} == left


@pytest.mark.parametrize("out", [".", "results", "results/runs/site", "results/published"])
def test_site_and_results_lie_apart(tmp_path: Path, out: str) -> None:
    """A site among the runs would be read as a model; results inside a site would go with its old pages."""
    small_results(tmp_path / "results")
    before = files(tmp_path / "results")
    (tmp_path / ".triathlon-site").write_text("")
    with pytest.raises(UserError, match="must lie apart"):
        build(tmp_path / "results", tmp_path / out, None, cache=tmp_path / "cache")
    assert files(tmp_path / "results") == before


def test_behind_a_link_the_target_is_replaced(tmp_path: Path) -> None:
    """A web server's folder may be reached through a link: it stays one, nothing old lies behind it."""
    build_small(tmp_path)
    (tmp_path / "_site").rename(tmp_path / "served")
    (tmp_path / "_site").symlink_to("served")
    (tmp_path / "served/old.html").write_text("")
    build_small(tmp_path)
    assert (tmp_path / "_site").is_symlink()
    assert not (tmp_path / "served/old.html").exists() and (tmp_path / "served/index.html").exists()


def test_nothing_is_inline_but_what_the_policy_names(golden: Path) -> None:
    """No inline handler or style; a page has one script at most, a missing page two, each by its hash."""
    for path in golden.rglob("*.html"):
        text, page = path.read_text(), PageParser(path)
        policy = text.partition('"Content-Security-Policy" content="')[2].partition('"')[0]
        assert "script-src 'self' 'sha256-" in policy and "unsafe" not in text, path
        assert page.inline == [] and len(page.scripts) <= 1 + (path.name == "404.html"), path
        for script in page.scripts:
            digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
            assert f"'sha256-{digest}'" in policy, path


@pytest.mark.parametrize(("names", "shown"), [(("My Model", "my-model"), "my-model"), ((None, "a"), "a")])
def test_models_of_one_name_are_told_apart(tmp_path: Path, names: tuple[str | None, str], shown: str) -> None:
    """Each with its id, unless that is its name; a warning says what to rename. Case does not count."""
    small_results(tmp_path / "results", [FakeModel("a", 1.0), FakeModel("b")], tasks=4)
    rows = registry({model: {"name": name} for model, name in zip("ab", names, strict=True) if name})
    (notice,) = build(tmp_path / "results", tmp_path / "_site", rows).notices
    assert notice.file.startswith("runs/b/") and f"model 'b', got {shown!r}, while 'a' is " in notice.message
    first = f"{names[0]} (a)" if names[0] else "a"
    for page in ("index.html", "runtime.html", "data/runtime-core.json", "data/compare.js"):
        text = (tmp_path / "_site" / page).read_text()
        assert f"{shown} (b)" in text and first in text, page
    with pytest.raises(UserError, match="rename one of them in models"):
        build(tmp_path / "results", tmp_path / "_site", rows, Options(strict=True))


def test_private_tasks_are_said_to_be(tmp_path: Path) -> None:
    """No page promises what a model wrote on them; the one that lists them says why it is not there."""
    suite = catalogue.find("runtime/mine")
    assert suite
    write_results(tmp_path / "results", [FakeModel("m")], [FakeSuite(suite, tasks=3)])
    (manifest,) = tmp_path.rglob("*.manifest.json")
    for said in (False, True):
        change(manifest, private=said)
        build_small(tmp_path)
        for page in ("models/m.html", "models/m-tasks.html"):
            assert ("with what the model wrote" in page_text(tmp_path / "_site" / page)) != said
        evidence = page_text(tmp_path / "_site/evidence/m/runtime-mine.html")
        assert ("The tasks are private: their texts are not shown." in evidence) == said
        assert ("?show=" not in evidence + page_text(tmp_path / "_site/models/m.html")) == said


@pytest.mark.parametrize(("names", "refused"), [(("core", "core-1"), False), (("Mine", "mine"), True)])
def test_no_page_replaces_another(tmp_path: Path, names: tuple[str, str], refused: bool) -> None:
    """`core-1` stands beside page 1 of `core`; of names that differ in case alone the old site stays."""
    build_small(tmp_path, tasks=3)
    before = files(tmp_path / "_site")
    suites = [entry for name in names if (entry := catalogue.find(f"runtime/{name}"))]
    models = [FakeModel("one", 1.0), FakeModel("two", 0.0)]
    write_results(tmp_path / "other", models, [FakeSuite(entry, tasks=3) for entry in suites])
    if refused:
        with pytest.raises(UserError, match=r"same file name, 'runtime-.ine\.html' and 'runtime-.ine"):
            build(tmp_path / "other", tmp_path / "_site", None)
        assert files(tmp_path / "_site") == before
        return
    build(tmp_path / "other", tmp_path / "_site", None)
    pages = [path.read_text() for path in (tmp_path / "_site/tasks").rglob("*.html")]
    titles = {page.partition("<title>")[2].partition("</title>")[0] for page in pages}
    assert len(pages) == len(titles) == 4


def test_evidence_is_one_file_of_the_cache_and_the_site(tmp_path: Path) -> None:
    """Which nobody can write to. One that was edited all the same is whole again after the next build."""
    build_small(tmp_path, tasks=3)
    page = tmp_path / "_site/evidence/strong/loop-core/1.js"
    assert page.stat().st_nlink == 2 and not page.stat().st_mode & 0o222
    before = page.read_bytes()
    with page.open("r+b") as file:
        file.write(b"edited")
    build_small(tmp_path)
    assert page.read_bytes() == before
    rendering = Rendering(gather(tmp_path / "results", None), installed_environment())
    with pytest.raises(UserError, match="two pages of the site have the same file name"):
        write_site(tmp_path / "_site", rendering, [("evidence/one.html", page)] * 2)


def test_evidence_is_copied_from_another_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the cache lies, and links cannot lead."""
    monkeypatch.setattr(Path, "hardlink_to", Mock(side_effect=OSError(errno.EXDEV, "another disk")))
    build_small(tmp_path, tasks=3)
    page = tmp_path / "_site/evidence/strong/loop-core/1.js"
    assert page.stat().st_nlink == 1 and page.read_bytes().startswith(b"triathlonPack(")


def test_no_page_changes_unseen(golden: Path) -> None:
    """Where one is not as it was last accepted, the difference is shown line by line."""
    found, expected = shown(files(golden)), stored()
    differences: list[str] = []
    for path in sorted({*found, *expected}):
        before, now = (of.get(path, "").splitlines() for of in (expected, found))
        differences += difflib.unified_diff(before, now, path, f"{path}, now", n=1)
    assert not differences, "\n".join(line[:300] for line in differences[:200])


MOST = 60_000
MOST_ELEMENTS = 5_000


def coders(count: int) -> list[FakeModel]:
    return [FakeModel(f"some-coder-{place}", -2 + place / 25, 0.5 + place / 250) for place in range(count)]


def registered(models: list[FakeModel]) -> Registry:
    """Every field that the table shows, different from row to row."""
    rows = {
        model.id: {
            "name": f"Some Coder {place} Instruct",
            "organization": f"Organisation {place % 40}",
            "parameters": f"{1 + place % 90}B",
            "license": ("mit", "apache-2.0", "other")[place % 3],
            "open_weights": place % 3 != 2,
            "released": f"20{20 + place % 7}-0{1 + place % 9}",
            "price": {"input": 1, "output": 3},
        }
        for place, model in enumerate(models)
    }
    return registry(rows)


def test_the_front_page_of_all_models_is_light(tmp_path: Path) -> None:
    """Of 330 models a phone can lay out the first rows; those further down are in a script."""
    models = coders(100)
    results = add_published(results_on(tmp_path, models, "loop/mbpp-plus", "runtime/dreval", tasks=6))
    environment = installed_environment()
    page = next(Rendering(gather(results, registered(models)), environment).section(0))
    assert page.path == "index.html" and page.content.count('<th scope="row"') == 60
    scripts = ("tables.js", "copy.js", "front.js", "find.js")
    parts = [page.bytes, *(environment.asset_contents[name] for name in scripts)]
    assert 20_000 < sum(len(gzip.compress(part, mtime=0)) for part in parts) <= MOST
    assert len(re.findall("<[a-z]", page.content)) <= MOST_ELEMENTS


def test_no_page_lays_out_more_than_5000_elements(tmp_path: Path) -> None:
    """Nor weighs 500 kB: rows of long tables wait. The front page has a limit of its own."""
    models = coders(12)
    evolved = ["humaneval", "difficult", "creative", "subtle", "combine", "tool_use", "verbose", "concise"]
    results_on(tmp_path, models, *(f"evolved/{name}" for name in evolved), tasks=3)
    results_on(tmp_path, models[1:3], "loop/mbpp-plus", tasks=800)
    add_published(tmp_path)
    site = gather(tmp_path, registered(models))
    rendering = Rendering(site, installed_environment())
    boards_to_published = range(1, len(site.boards) + 5)
    pages = [page for number in boards_to_published for page in rendering.section(number)]
    html = {page.path: page.content for page in pages if page.path.endswith(".html")}
    elements = {path: len(re.findall("<[a-z]", _laid_out(text))) for path, text in html.items()}
    assert {path: count for path, count in elements.items() if count > MOST_ELEMENTS} == {}
    assert [path for path, text in html.items() if len(text.encode()) > 500_000] == []
    table = html["evolved-official.html"].partition("</table>")[0]
    assert table.count("<tr") > 100 > _laid_out(table).count("<tr") > 20


def _laid_out(page: str) -> str:
    return re.sub("<template>.*?</template>", "", page, flags=re.DOTALL)
