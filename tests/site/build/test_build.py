"""Building the site: whole or not at all, the same bytes from the same results."""

import base64
import errno
import hashlib
import json
import os
import re
import shutil
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path

import pytest

from support.page_tables import check_links, pages_of
from support.results import FakeModel, FakeSuite, write_results
from support.site import build_small, entries, files, page_text, small_results
from triathlon_runner import catalogue
from triathlon_runner.errors import UserError
from triathlon_runner.models_yaml import Registry, row_without_server
from triathlon_site.build import Options, build, gather, sweep, write_site
from triathlon_site.pages import Rendering
from triathlon_site.render import installed_environment


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small site, to look at only."""
    root = tmp_path_factory.mktemp("built")
    build_small(root)
    return root / "_site"


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


def test_the_date_is_that_of_the_results_or_of_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
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
    """An empty folder gives a page with the next command; with --strict, nothing is written."""
    (tmp_path / "results").mkdir()
    with pytest.raises(UserError, match=r"--strict: expected results in '.*results', there are none"):
        build(tmp_path / "results", tmp_path / "_site", None, Options(strict=True))
    assert not (tmp_path / "_site").exists()
    assert build(tmp_path / "results", tmp_path / "_site", None).units == 0
    page = (tmp_path / "_site/index.html").read_text()
    assert "No results yet" in page and "make leaderboard" in page


@pytest.mark.parametrize(
    ("folder", "said"),
    [
        ("empty", r"no results in '.*empty': the site in '.*_site'.* stays as it is"),
        ("result", r"expected a folder of results at '.*result', there is none"),
    ],
)
def test_no_results_never_replace_a_site_that_has_some(tmp_path: Path, folder: str, said: str) -> None:
    """A run that failed, or a mistyped name: the old site stays; a site without results may be replaced."""
    (tmp_path / "empty/runs/weak").mkdir(parents=True)
    (tmp_path / "empty/runs/weak/skipped.txt").write_text("no key")
    for _ in range(2):
        assert build(tmp_path / "empty", tmp_path / "other", None).models == 0
    build_small(tmp_path, tasks=3)
    before = files(tmp_path / "_site")
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
    changes: dict[str, Callable[[], object]] = {
        "a page": lambda: page.write_text("edited"),
        "a page of another name": lambda: (tmp_path / "_site/mine.html").write_text(""),
        "no page": (tmp_path / "_site/data.html").unlink,
        "a results file": lambda: os.utime(tmp_path / "results/runs/weak/loop/core.jsonl", (1e9, 1e9)),
        "the date": lambda: monkeypatch.setenv("SOURCE_DATE_EPOCH", "86400"),
    }
    for name, change in changes.items():
        change()
        build_small(tmp_path)
        assert page.stat().st_ino != inode, name
        inode = page.stat().st_ino
    assert not (tmp_path / "_site/mine.html").exists() and (tmp_path / "_site/data.html").exists()


def test_pages_link_to_docs_that_are_published_with_them(tmp_path: Path) -> None:
    """Only where the build was told that there are any: else the link would lead nowhere. A model that ran 5
    of 12 tasks carries that beside its name.
    """
    suite = FakeSuite(entries(["loop/core"])[0], tasks=12, planned=5)
    write_results(tmp_path / "results", [FakeModel("m", 1.0)], [suite])
    for docs in ("", "docs/index.html"):
        build(tmp_path / "results", tmp_path / "_site", None, Options(docs=docs), cache=tmp_path / "cache")
        for page, link in (("data.html", "docs/index.html"), ("models/m.html", "../docs/index.html")):
            text = (tmp_path / "_site" / page).read_text()
            assert (f'<a href="{link}">docs</a>' in text) == bool(docs) == ("docs/index.html" in text)
    assert "5 of 12" in (tmp_path / "_site/loop.html").read_text()


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
    report = build_small(tmp_path)
    assert [str(notice) for notice in report.notices] == [
        "runs/weak/loop/core.jsonl, line 1: expected a JSON object, got 'nonsense'; delete the line, and the"
        " next run makes its unit again: replies in the cache are graded again, without asking the model (to"
        " have it asked, `triathlon cache prune --model MODEL` first)"
    ]
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
    """A draft of a process that is gone; that of one at work stays. Killed between two steps, a build leaves
    no site: the next puts the old one back first.
    """
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


class _Inline(HTMLParser):
    """What of a page runs without being a file: attributes and scripts; the policy that admits them."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.inline: list[str] = []
        self.scripts: list[str] = []
        self.policy = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        self.inline += [name for name in values if name == "style" or name.startswith("on")]
        if values.get("http-equiv") == "Content-Security-Policy":
            self.policy = values["content"] or ""
        if tag == "script" and "src" not in values:
            self.scripts.append("")

    def handle_data(self, data: str) -> None:
        if self.scripts and not self.scripts[-1]:
            self.scripts[-1] = data


def test_nothing_is_inline_but_what_the_policy_names(built: Path) -> None:
    """No inline handler or style; a page has one script at most, a missing page two, each by its hash."""
    for path in built.rglob("*.html"):
        text = path.read_text()
        page = _Inline(text)
        assert "script-src 'self' 'sha256-" in page.policy and "unsafe" not in text, path
        assert page.inline == [] and len(page.scripts) <= 1 + (path.name == "404.html"), path
        for script in page.scripts:
            digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
            assert f"'sha256-{digest}'" in page.policy, path


HOSTILE = "<script>alert(1)</script>"


def test_what_a_model_wrote_is_escaped(tmp_path: Path) -> None:
    """A hostile reply, program or task name never becomes markup."""
    results = small_results(tmp_path / "results")
    for path in results.glob("runs/*/*/*.jsonl"):
        lines = []
        for line in path.read_text().splitlines():
            record = json.loads(line)
            for field in ("prompt", "program", "input"):
                if field in record:
                    record[field] = HOSTILE + record[field]
            for step in record.get("loops", []):
                step["prompt"] = step["program"] = HOSTILE
            record["task_id"] += HOSTILE
            lines.append(json.dumps(record))
        path.write_text("\n".join(lines) + "\n")
    report = build_small(tmp_path)
    assert not report.notices
    for path in (tmp_path / "_site").rglob("*"):
        if path.suffix in {".html", ".js"} and "plotly" not in path.name:
            assert HOSTILE not in path.read_text(), path


def test_a_model_may_have_any_name(tmp_path: Path) -> None:
    """A hostile one gives a plain file name and escaped text; `index` replaces no file of the site's own."""
    name = "..<img src=x onerror=alert(1)>"
    models = [FakeModel(name, 1.0), FakeModel("index", 1.0), FakeModel("compare", 0.0)]
    small_results(tmp_path / "results", models, tasks=4)
    build_small(tmp_path)
    site = tmp_path / "_site"
    names = [path.name for path in (site / "models").iterdir()]
    assert all(re.fullmatch(r"[a-z0-9._-]+", one) for one in names), names
    assert "<img src=x" not in (site / "index.html").read_text()
    listed = json.loads((site / "data/compare.js").read_text().partition("= ")[2].rstrip(";\n"))["models"]
    assert {model["id"] for model in listed} == {name, "index", "compare"}
    assert all((site / model["data"]).is_file() and (site / model["page"]).is_file() for model in listed)


@pytest.mark.parametrize(("names", "shown"), [(("My Model", "my-model"), "my-model"), ((None, "a"), "a")])
def test_models_of_one_name_are_told_apart(tmp_path: Path, names: tuple[str | None, str], shown: str) -> None:
    """Each is shown with its id, unless that is its name, and a warning says what to rename; names may differ
    in case and hyphens.
    """
    small_results(tmp_path / "results", [FakeModel("a", 1.0), FakeModel("b")], tasks=4)
    named = zip("ab", names, strict=True)
    rows = (row_without_server(m, "instruct").model_copy(update={"name": name}) for m, name in named if name)
    registry = Registry(models=tuple(rows))
    (notice,) = build(tmp_path / "results", tmp_path / "_site", registry).notices
    assert notice.file.startswith("runs/b/") and f"model 'b', got {shown!r}, while 'a' is " in notice.message
    first = f"{names[0]} (a)" if names[0] else "a"
    for page in ("index.html", "runtime.html", "data/runtime-core.json", "data/compare.js"):
        text = (tmp_path / "_site" / page).read_text()
        assert f"{shown} (b)" in text and first in text, page
    with pytest.raises(UserError, match="rename one of them in models"):
        build(tmp_path / "results", tmp_path / "_site", registry, Options(strict=True))


def test_private_tasks_are_said_to_be(tmp_path: Path) -> None:
    """No page promises what a model wrote on them; the one that lists them says why it is not there."""
    suite = catalogue.find("runtime/mine")
    assert suite
    write_results(tmp_path / "results", [FakeModel("m")], [FakeSuite(suite, tasks=3)])
    (manifest,) = tmp_path.rglob("*.manifest.json")
    private = json.loads(manifest.read_text()) | {"private": True}
    for content, said in ((manifest.read_text(), False), (json.dumps(private), True)):
        manifest.write_text(content)
        build_small(tmp_path)
        for page in ("models/m.html", "models/m-tasks.html"):
            assert ("with what the model wrote" in page_text(tmp_path / "_site" / page)) != said
        evidence = page_text(tmp_path / "_site/evidence/m/runtime-mine.html")
        assert ("The tasks are private: their texts are not shown." in evidence) == said


@pytest.mark.parametrize(("names", "refused"), [(("core", "core-1"), False), (("Mine", "mine"), True)])
def test_no_page_replaces_another(tmp_path: Path, names: tuple[str, str], refused: bool) -> None:
    """`core-1` stands beside page 1 of `core`; two that a disk which does not tell upper from lower case
    takes for one are refused, and the old site stays.
    """
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
    """Which nobody can write to: a site of a hundred models has gigabytes of it. Whoever edits one all the
    same finds it whole again after the next build; no second file of its name is written into it.
    """
    build_small(tmp_path, tasks=3)
    page = tmp_path / "_site/evidence/strong/loop-core/1.js"
    assert page.stat().st_nlink == 2 and not page.stat().st_mode & 0o222
    before = page.read_bytes()
    with page.open("r+b") as file:
        file.write(b"edited")
    build_small(tmp_path)
    assert page.read_bytes() == before
    pages = [tmp_path / name for name in ("first.html", "second.html")]
    for one in pages:
        one.write_text(one.stem)
    rendering = Rendering(gather(tmp_path / "results", None), installed_environment())
    with pytest.raises(UserError, match="two pages of the site have the same file name"):
        write_site(tmp_path / "_site", rendering, [("evidence/one.html", one) for one in pages])
    assert [one.read_text() for one in pages] == ["first", "second"]


def test_evidence_is_copied_where_the_cache_lies_on_another_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_self: Path, _target: Path) -> None:
        raise OSError(errno.EXDEV, "Invalid cross-device link")

    monkeypatch.setattr(Path, "hardlink_to", refuse)
    build_small(tmp_path, tasks=3)
    page = tmp_path / "_site/evidence/strong/loop-core/1.js"
    assert page.stat().st_nlink == 1
    assert page.read_bytes().startswith(b"triathlonPack(")


def test_links_hold_where_no_model_has_all_disciplines(tmp_path: Path) -> None:
    """Of official data, as recorded, a model may have one discipline, and each another one."""
    for model, suite in (("one", "loop/core"), ("two", "runtime/core")):
        suites = [FakeSuite(entry, tasks=3) for entry in entries([suite])]
        write_results(tmp_path / "results", [FakeModel(model)], suites)
    build_small(tmp_path)
    check_links(pages_of(tmp_path / "_site"))
    shutil.rmtree(tmp_path / "results")
    loops = [FakeModel("first"), FakeModel("second", -1.0)]
    for models, suite in ((loops, "loop/mbpp-plus"), ([FakeModel("other")], "evolved/difficult")):
        suites = [FakeSuite(entry, tasks=3) for entry in entries([suite])]
        write_results(tmp_path / "results", models, suites)
    build_small(tmp_path)
    check_links(pages_of(tmp_path / "_site"))
