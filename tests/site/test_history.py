"""What moved between builds, and the file that remembers."""

import json
import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from support.results import FakeModel, FakeSuite, write_results
from support.site import files, registry_of, small_results, users_sets
from triathlon_runner.errors import UserError
from triathlon_site.build import BuildReport, Options, build
from triathlon_site.history import History, Snapshot, moves_between
from triathlon_site.pages.changes import became
from triathlon_site.render.formats import timestamp

RECORDED = Options(history=True)
ATOM = "{http://www.w3.org/2005/Atom}"


OLD = Snapshot(ranks={"loop-core": {"a": 1, "b": 2, "e": 0, "f": 3, "g": 0}, "gone": {"a": 1}})
NEW = Snapshot(ranks={"loop-core": {"b": 1, "a": 2, "c": 3, "d": 0, "e": 4, "f": 0, "g": 0}})


def test_each_kind_of_change_is_told() -> None:
    """Who moved, is new or gone, has a rank or none now; of a whole board that is new or gone, too."""
    there, back = moves_between(OLD, NEW), moves_between(NEW, OLD)
    assert {model: became(*ranks) for model, ranks in there["loop-core"].items()} == {
        "b": "from rank 2 to 1",
        "a": "from rank 1 to 2",
        "c": "is new, at rank 3",
        "e": "is ranked now, at 4",
        "d": "is new",
        "f": "has no rank any more",
    }
    assert {*there["gone"].values(), *back["gone"].values()} == {(1, None), (None, 1)}
    assert back["loop-core"]["d"] == (0, None) and became(0, None) == "is gone"
    assert moves_between(OLD, OLD) == {}


def test_the_memory_stays_small() -> None:
    """The same results twice are one state, the same change twice is two; the newest changes are kept."""
    history = History().after(OLD, "2026-01-01", "1")
    assert history.changes == () and history.after(OLD, "2026-01-02", "1") == history
    for step in range(1, 120):
        history = history.after((OLD, NEW)[step % 2], f"2026-01-01 {step:03}", "1")
    newest, *_, oldest = history.changes
    assert len(history.changes) == 20 and newest.id != oldest.id and newest.date == "2026-01-01 119"
    assert History.model_validate_json(history.model_dump_json(exclude_defaults=True)) == history
    history = History()  # readers of the feed take entries of one id for one
    for snapshot in (OLD, NEW, OLD, NEW):
        history = history.after(snapshot, "2026-01-01", "1")
    assert len({change.id for change in history.changes}) == 3


def test_withdrawn_results_are_a_later_change() -> None:
    """A change has no earlier day than the one before, though the newest results are gone."""
    history = History().after(OLD, "2026-01-01", "1").after(NEW, "2026-03-01", "1")
    assert [change.date for change in history.after(OLD, "2026-01-01", "1").changes] == ["2026-03-01"] * 2


def build_with(root: Path, *models: FakeModel) -> BuildReport:
    """Builds the site once more, with the results of these models, too."""
    small_results(root / "results", models, tasks=6)
    return build(root / "results", root / "_site", None, RECORDED, cache=root / "cache")


@pytest.fixture
def twice(tmp_path: Path) -> Path:
    """A site built with five models, then with a sixth."""
    others = [FakeModel(f"m{place}", -1.0 - place) for place in range(3)]
    build_with(tmp_path, FakeModel("one", 1.0), FakeModel("two", -1.0), *others)
    build_with(tmp_path, FakeModel("three<b>", 3.0, 0.99))
    return tmp_path


def test_no_place_is_said_among_few(tmp_path: Path) -> None:
    """Pages say no rank among four models, so that of a fifth none of them moves."""
    build_with(tmp_path, *(FakeModel(f"m{place}", 1.0 - place) for place in range(4)))
    build_with(tmp_path, FakeModel("top", 3.0, 0.99))
    page = (tmp_path / "_site/changes.html").read_text()
    assert "top</a> is new" in page and "from rank" not in page


def test_page_and_feed_say_what_moved(twice: Path) -> None:
    """The new model by name, the places that it took, and a feed that parses, whatever the folder's name."""
    page = (twice / "_site/changes.html").read_text()
    assert "three&lt;b&gt;</a> is new, at rank 1." in page
    assert "one</a> from rank 1 to 2." in page
    feed = ET.parse(twice / "_site/changes.xml").getroot()
    (entry,) = feed.findall(f"{ATOM}entry")
    assert "three<b> is new" in (entry.findtext(f"{ATOM}content") or "")
    assert (entry.findtext(f"{ATOM}id") or "").startswith("urn:uuid:")
    assert entry.findtext(f"{ATOM}updated") == "2026-01-02T00:00:00Z"
    days = ("2025-10-17", "2025-10", "2025", "", "2025-13")  # recordings may be dated by a month
    whole = ("2025-10-17", "2025-10-01", "2025-07-01", "1970-01-01", "1970-01-01")
    assert [timestamp(day) for day in days] == [f"{day}T00:00:00Z" for day in whole]
    build_with(twice, FakeModel("be\x07ll", 2.0))
    text = (twice / "_site/changes.xml").read_text()
    assert ET.fromstring(text) is not None and "be\ufffdll is new" in text


def test_what_one_new_model_pushes_is_folded(tmp_path: Path) -> None:
    """Every model below it moves on every board: beyond eight the moves on a board are folded."""
    models = [FakeModel(f"m{place:02}", -0.3 * place) for place in range(12)]
    build_with(tmp_path, *models[1:])
    build_with(tmp_path, models[0])
    page = (tmp_path / "_site/changes.html").read_text()
    assert "m00</a> is new" in page
    boards = [part.partition("</details>")[0] for part in page.split("<details")[1:]]
    assert len(boards) > 2
    for board in boards:
        moved = int(board.partition("</summary>")[0].split()[-2])
        assert board.count("<li>") == moved and (" open>" in board) == (moved <= 8)
    assert any(" open>" not in board for board in boards)


def test_the_places_of_every_board_are_told(tmp_path: Path) -> None:
    """Also of two data sets to which a user gave one title, and of one that is called as ours are."""
    catalogue = users_sets(tmp_path, one="Mine", two="Mine", three="own problems")
    ids = ("core", "one", "two", "three")
    suites = [FakeSuite(entry) for name in ids if (entry := catalogue.find(f"loop/{name}"))]
    five = [FakeModel(f"m{place}", 1.0 - place) for place in range(5)]
    for models in (five, [FakeModel("top", 99.0, 1.0)]):
        write_results(tmp_path / "results", models, suites)
        build(tmp_path / "results", tmp_path / "_site", None, RECORDED, known=catalogue)
    moved = re.findall(r"<summary>([^:]+): \d+ changes", (tmp_path / "_site/changes.html").read_text())
    added = {"loop (Mine, loop/one)", "loop (Mine, loop/two)", "loop (own problems, loop/three)"}
    assert {*moved} == {"overall", "overall (added data)", "loop (own problems)", *added}
    assert "ASL, Mine, loop/one<" in (tmp_path / "_site/overall-added.html").read_text()


def test_the_feed_names_where_the_site_is_published(twice: Path) -> None:
    """With `url` every link is absolute, those of the page for lost addresses, too."""
    plain = ET.parse(twice / "_site/changes.xml").getroot()
    assert {link.get("href") for link in plain.iter(f"{ATOM}link")} == {"changes.xml", "changes.html"}
    build(twice / "results", twice / "_site", None, Options(url="https://example.org/board"))
    feed = ET.parse(twice / "_site/changes.xml").getroot()
    assert feed.get("{http://www.w3.org/XML/1998/namespace}base") == "https://example.org/board/"
    links = {link.get("href") for link in feed.iter(f"{ATOM}link")}
    assert links == {"https://example.org/board/changes.xml", "https://example.org/board/changes.html"}
    page = (twice / "_site/404.html").read_text()
    lost = re.findall('href="([^"]*)"', page)
    assert "location.replace" not in page  # its own address is no matter
    assert len(lost) > 10 and all(link.startswith(("https://example.org/board/", "#")) for link in lost)
    with pytest.raises(UserError, match=r"got 'example\.org'"):
        build(twice / "results", twice / "_site", None, Options(url="example.org"))


def test_a_build_writes_nothing_into_the_results(twice: Path) -> None:
    """Only `history` asks for that. What moved stays told, what is new has the mark of quantised weights."""
    before = files(twice / "_site")
    build(twice / "results", twice / "again", None, RECORDED, cache=twice / "other")
    assert files(twice / "again") == before
    small_results(twice / "results", [FakeModel("four", 1.5)], tasks=6)
    before = files(twice / "results")
    build(twice / "results", twice / "_site", registry_of("four", bits=4))
    assert files(twice / "results") == before
    assert "four, 4-bit</a> is new" in (twice / "_site/changes.html").read_text()


@pytest.mark.parametrize("content", [b"{", b"\xff\xfe", b"", None])
def test_a_broken_memory_is_a_notice_and_begins_anew(twice: Path, content: bytes | None) -> None:
    """The site is built; nobody is told to delete what the same build has written anew."""
    path = twice / "results/history.json"
    path.unlink()
    path.mkdir() if content is None else path.write_bytes(content)
    report = build_with(twice)
    assert [notice.file for notice in report.notices] == ["history.json"] * (1 + (content is None))
    assert "delete" not in report.notices[0].message
    assert not (twice / "_site/changes.html").exists()  # nothing has moved
    if content is None:
        assert "the site is complete" in report.notices[1].message
    else:
        assert json.loads(path.read_text())["last"]
