"""Recorded results on the site: ranked with measured ones, traced to a receipt. Imported: in no ranking."""

import json
import re
import shutil
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from support.site import (
    PUBLISHED,
    board_of,
    build_small,
    change,
    imported_results,
    json_lines,
    page_text,
    registry_of,
    sections_of,
    small_results,
)
from triathlon_runner.engine_version import ENGINE_VERSION
from triathlon_runner.errors import UserError
from triathlon_runner.records import (
    MEASURED_HERE,
    LoopRecord,
    RecordedManifest,
    RuntimeRecord,
    lines_without_texts,
)
from triathlon_runner.store import RecordedFile, read_records
from triathlon_site.build import build, gather
from triathlon_site.models import ModelInfo, read_table
from triathlon_site.pages import Gathered
from triathlon_site.pages.model import beside_recordings
from triathlon_site.render import Section

RECEIPT = {
    **{"source": "elsewhere", "title": "Elsewhere's <b>runs</b>", "address": "https://example.org/runs"},
    **{"commit": "abc1234", "date": "2025-10", "licence": "none found", "file": "other.json.gz"},
    **{"sha256": "ef" * 32, "engine_version": ENGINE_VERSION, "compared": 12, "equal": 11},
}
ANSWERS = "runtime/cruxeval-output"


def write(
    results: Path, model: str, suite: str, lines: list[Any], source: str = "elsewhere", **manifest: Any
) -> RecordedFile:
    """Files these lines as recorded ones."""
    file = RecordedFile(results, source, model, suite)
    fields: dict[str, Any] = {"suite": suite, "model": model, "served_model": model, "settings": {}}
    fields |= {"engine_versions": [ENGINE_VERSION], "receipt": {**RECEIPT, "source": source}}
    file.write(RecordedManifest.model_validate_json(json.dumps(fields | manifest)), lines)
    return file


def kept_of(path: Path) -> dict[str, Any]:
    """What of a measured manifest a recorded one has, too."""
    manifest = json.loads(path.read_text())
    kept = {name: manifest[name] for name in ("data", "tasks_in_suite", "tasks_planned", "protocol")}
    return kept | {"outcomes": {name: count for name, count in manifest["outcomes"].items() if count}}


def record_as(results: Path, model: str, *, of: str, source: str = "elsewhere") -> RecordedFile:
    """Files a measured model's loops as another's recorded ones."""
    measured = list(read_records(results / f"runs/{of}/loop/core.jsonl", LoopRecord))
    kept = kept_of(results / f"runs/{of}/loop/core.manifest.json")
    names = ("task_id", "outcome", "sustained_loops")
    lines = [{name: getattr(one, name) for name in names} | {"program": "0123abcd"} for one in measured]
    loops = measured[0].max_loops
    return write(results, model, "loop/core", lines, source, ended="2025-10", max_loops=loops, **kept)


def rows_of(site: Path, board: str, column: str) -> dict[str, dict[str, Any]]:
    rows = json.loads((site / f"data/{board}.json").read_text())["rows"]
    return {row["model"]: row for row in rows if row["column"] == column}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With a recorded copy of a measured model, and a reviewed name for it; to look at only."""
    root = tmp_path_factory.mktemp("recorded")
    results = small_results(root / "results")
    record_as(results, "other", of="strong")
    (results / "recorded/names.csv").write_text("id,name\nother,Other 7B\n")
    build_small(root)
    return root / "_site"


def test_recorded_and_measured_results_rank_together(site: Path) -> None:
    """A recorded copy of a measured model has its rank and tier; of four models no file says a rank."""
    board = board_of(gather(site.parent / "results", None), "loop-core")
    scores = next(c.scores for c in board.columns if c.column.id == "loop/core:pass_at_1")
    rank = scores["other"].rank
    assert rank and rank.tied and rank == scores["strong"].rank
    assert scores["other"].tier == scores["strong"].tier is not None
    found = rows_of(site, "loop-core", "loop/core:pass_at_1")
    assert {row[name] for row in found.values() for name in ("rank", "tier", "rank_shift")} == {None}
    assert "Of so few models no ranks are said" in " ".join(page_text(site / "loop.html").split())
    grades = {model: row["grade"] for model, row in found.items()}
    assert grades == dict.fromkeys(("strong", "middle", "weak"), "measured") | {"other": "recorded"}


def test_cells_show_their_grade_and_lead_to_the_receipt(site: Path) -> None:
    """Of the units nothing that a model wrote is kept; of tokens and costs one sentence says that."""
    assert "<sup>" not in page_text(site / "runtime.html")
    board = page_text(site / "loop.html")
    marks = re.findall(r'<sup><a href="([^"]+)" title="(\w+)[:,]', board)
    assert ("models/other.html#receipt-loop-core", "recorded") in marks
    assert ("models/strong.html#receipt-loop-core", "measured") in marks
    assert "recorded: others’ replies" in board
    page = page_text(site / "models/other.html")
    receipt = page[page.index('id="receipt-loop-core"') :].partition("</details>")[0]
    for part in ("https://example.org/runs", "abc1234", "2025-10", "none found", "other.json.gz", "ef" * 32):
        assert part in receipt
    assert "11 of 12 equal the authors’ (91.7 %)" in receipt and "triathlon verify" not in receipt
    assert "<b>runs</b>" not in receipt
    units = page_text(site / "models/other-tasks.html")
    assert units.count('href="../models/other.html#receipt-loop-core"') == 1
    listed = re.findall(r"<dd>([^<]+)</dd>", units.partition('class="who"')[2])
    assert len(", ".join(listed).split(", ")) == 12
    assert not (site / "evidence/other").exists()
    recorded = (site / "models/other.html").read_text()
    measured = (site / "models/strong.html").read_text()
    sentence, head = "The recording has no tokens, times and costs.", ">tokens out</th>"
    assert "<h1>Other 7B</h1>" in recorded and sentence in recorded and head not in recorded
    assert sentence not in measured and head in measured
    assert "Nowhere for sure" not in recorded
    assert measured.index('id="scores"') < measured.index('id="outcomes"')


def test_only_web_addresses_become_links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A receipt and a price list may name anything; a `javascript:` address stays a text."""
    monkeypatch.setitem(RECEIPT, "address", "javascript:alert(1)")
    results = small_results(tmp_path / "results")
    record_as(results, "other", of="strong")
    shutil.copytree(PUBLISHED, results / "published")
    facts = results / "published/models-info.csv"
    facts.write_text(facts.read_text().replace("https://", "JavaScript://"))
    build(results, tmp_path / "_site", None, cache=tmp_path / "cache")
    pages = {path.name: path.read_text() for path in (tmp_path / "_site").rglob("*.html")}
    script = re.compile(r'href="\s*javascript', re.IGNORECASE)
    assert not [name for name, page in pages.items() if script.search(page)]
    assert f"Source, commit <code>{RECEIPT['commit']}" in pages["data.html"]


def test_one_result_of_a_model_and_suite_counts(tmp_path: Path) -> None:
    """The measured one before a recording; the page says where they differ. A wrong receipt is left out.

    A run that was stopped before its first line takes nothing away.
    """
    results = small_results(tmp_path / "results")
    for model in ("weak", "other", "stopped"):
        record_as(results, model, of="strong")
    (results / "runs/stopped/loop").mkdir(parents=True)
    (results / "runs/stopped/loop/core.jsonl").touch()
    record_as(results, "other", of="strong", source=MEASURED_HERE)
    damaged = record_as(results, "damaged", of="strong")
    damaged.lines.write_text(damaged.lines.read_text().split("\n", 1)[1])
    (notice,) = build_small(tmp_path).notices
    assert "expected the outcomes of the lines" in notice.message
    rows = rows_of(tmp_path / "_site", "loop-core", "loop/core:pass_at_1")
    assert (rows["other"]["grade"], rows["stopped"]["grade"]) == ("measured", "recorded")
    assert "damaged" not in rows
    assert "Elsewhere" in page_text(tmp_path / "_site/models/other.html")
    assert "3 models, 3 files." in page_text(tmp_path / "_site/data.html")  # those beside the measured, too
    section = (tmp_path / "_site/models/weak.html").read_text().partition('id="recordings"')[2]
    section = section.partition("</section>")[0]
    runs = [json_lines(results / f"runs/{model}/loop/core.jsonl") for model in ("weak", "strong")]
    here, there = ({line["task_id"]: bool(line["sustained_loops"]) for line in lines} for lines in runs)
    differ = [task for task in here if here[task] != there[task]]
    assert differ and all(f'evidence/weak/loop-core.html#{task}"' in section for task in differ)
    assert section.count("evidence/") == len(differ)
    gathered = gather(results, None)
    assert list(beside_recordings(gathered, ModelInfo("absent", "Without results"))) == []
    beside = beside_recordings(replace(gathered, boards=()), gathered.models["weak"])
    assert [one["suite"] for one in beside] == ["loop/core"]  # whatever stands on a board
    assert not any(file.columns.parents for file in gathered.results.files if file.suite == "loop/core")


def test_answers_count_without_their_texts(tmp_path: Path) -> None:
    """Each metric, constant answers and chains are those of the whole file, by unit and by program."""
    results = small_results(tmp_path)
    site, whole = _runtime_sections(results)
    before = {file.model: file for file in site.results.files if file.suite == "runtime/core"}
    for model in before:
        folder = results / f"runs/{model}/runtime"
        records = list(read_records(folder / "core.jsonl", RuntimeRecord))
        lines = lines_without_texts([(unit, "", False) for unit in records], by_task=False)
        write(results, model, "runtime/core", lines, MEASURED_HERE, **kept_of(folder / "core.manifest.json"))
        shutil.rmtree(folder)
    site, found = _runtime_sections(results)
    for file in (file for file in site.results.files if file.suite == "runtime/core"):
        own = before[file.model]
        assert repr((own.metrics, own.columns.scores)) == repr((file.metrics, file.columns.scores))
    assert list(found) == ["Constant answers", "Chains of answers"]
    chains, of_whole = (sections["Chains of answers"].rows for sections in (found, whole))
    assert [[cell.text for cell in row] for row in chains] == [
        [cell.text for cell in row] for row in of_whole
    ]
    assert not any(cell.link for row in chains for cell in row[1:])
    constants, former = found["Constant answers"], whole["Constant answers"]
    places = [former.head.index(title) for title in constants.head]
    gone = [title for title in former.head if title not in constants.head]
    assert gone == ["answers YES", "answers Nil", "answers -1"]
    for row, whole_row in zip(constants.rows, former.rows, strict=True):
        assert [cell.text for cell in row] == [whole_row[place].text for place in places]


def _runtime_sections(results: Path) -> tuple[Gathered, dict[str, Section]]:
    site = gather(results, None, cache=results / "cache")
    found = sections_of(site, "runtime-core")
    titles = ("Constant answers", "By kind of line", "Chains of answers")
    return site, {title: found[title] for title in titles if title in found}


def test_recorded_samples_of_a_task(tmp_path: Path) -> None:
    """Several answers to a task stand once, by how many passed; a score counts tasks."""
    outcomes = {"sample_0": "passed passed", "sample_1": "failed passed", "sample_2": "failed failed"}
    lines = [{"task_id": task, "outcomes": text, "answers": "0123abcd"} for task, text in outcomes.items()]
    data = {"name": "cruxeval.jsonl", "version": "1", "sha256": "ab" * 32}
    counts = {"tasks_in_suite": 800, "tasks_planned": 3, "outcomes": {"failed": 3, "passed": 3}}
    about: dict[str, Any] = {"protocol": "recorded", "line_holds": "task", "data": data} | counts
    write(tmp_path / "results", "other", ANSWERS, lines, **about)
    assert not build_small(tmp_path).notices
    page = page_text(tmp_path / "_site/models/other-tasks.html")
    groups = re.findall(r'class="outcome (\w+)">([^<]+)</span> (\d+)</dt><dd>([^<]+)</dd>', page)
    assert sorted(groups) == [
        ("failed", "0 of 2 passed", "1", "sample_2"),
        ("partly", "1 of 2 passed", "1", "sample_1"),
        ("passed", "passed", "1", "sample_0"),
    ]
    assert '<code>other.json.gz</code> of <a href="https://example.org/runs"' in page
    (board,) = (tmp_path / "_site/data").glob("runtime-*.json")
    row = rows_of(tmp_path / "_site", board.stem, f"{ANSWERS}:pass@1")["other"]
    assert (row["tasks"], row["score"]) == (3, 0.5)


def explain(results: Path, cause: str) -> None:
    """Writes down why one verdict differs, and what the cause `memory` means."""
    record_as(results, "other", of="strong")
    (results / "recorded/causes.csv").write_text("cause,explanation\nmemory,Too little memory there.\n")
    text = f"model,suite,task,samples,recorded,here,cause\nother,loop/core,tally,1,3,more,{cause}\n"
    (results / "recorded/elsewhere/differences.csv").write_text(text)


def test_the_data_page_lists_sources_and_differences(site: Path, tmp_path: Path) -> None:
    """Of each source how many verdicts equal the authors', and every other one with its cause, or without."""
    explain(small_results(tmp_path / "results"), "memory")
    build_small(tmp_path)
    page = page_text(tmp_path / "_site/data.html")
    part = page[page.index('id="recordings"') :]
    assert "11 of 12 verdicts equal the authors’ (91.66 %)" in part
    assert "https://example.org/runs" in part and "<b>runs</b>" not in part
    assert "1 verdict differs" in part and "no cause" not in part
    row = re.findall(r"<tr><th.*?</tr>", part.partition("<tbody>")[2], re.DOTALL)[0]
    cells = re.findall(r">([^<>\n]+)</t", row.replace("<code>", "").replace("</code>", ""))
    assert cells == ["tally", "loop/core", "3", "more", "memory", "other"]
    assert "Too little memory there." in part
    assert "1 of the others have no cause" in page_text(site / "data.html")


def test_differences_that_cannot_be_are_refused(tmp_path: Path) -> None:
    """An unknown cause is named with its file and task, a row of another shape with its line."""
    results = small_results(tmp_path / "results")
    for cause, said in (("weather", "got 'weather'"), ("memory,extra", "expected 7 cells")):
        explain(results, cause)
        with pytest.raises(UserError, match=said):
            build_small(tmp_path)


def test_every_differing_verdict_has_a_cause() -> None:
    """The lines of committed recordings that are marked as differing are those that have a cause."""
    folder = PUBLISHED.parent / "recorded"
    marked: Counter[tuple[str, ...]] = Counter()
    listed: Counter[tuple[str, ...]] = Counter()
    for path in folder.glob("*/*/*/*.jsonl"):
        source, model, discipline, name = path.relative_to(folder).with_suffix("").parts
        for line in path.read_text("utf-8").splitlines():
            if '"differs"' in line:
                found = json.loads(line)
                samples = len(found["differs"]) if isinstance(found["differs"], list) else 1
                marked[source, model, f"{discipline}/{name}", found["task_id"]] += samples
    for table in folder.glob("*/differences.csv"):
        for row in read_table(table, ("model", "suite", "task", "samples")):
            listed[table.parent.name, row["model"], row["suite"], row["task"]] += int(row["samples"])
    assert listed == marked and listed
    docs = " ".join((PUBLISHED.parents[1] / "docs/data.md").read_text("utf-8").split())
    loops = read_table(folder / "evalooop/differences.csv", ("task", "cause"))
    assert f"({len(loops)} of 31,374 over 83 models)" in docs
    assert all(f"`{row['cause']}`" in docs for row in loops)


FOUR_BITS = registry_of("weak", "foreign", bits=4)


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A site with imported results."""
    root = tmp_path_factory.mktemp("imported")
    results = imported_results(small_results(root / "results"))
    build(results, root / "_site", FOUR_BITS, cache=root / "cache")
    return root / "_site"


def test_imported_results_have_a_page_and_no_rank(tmp_path: Path, out: Path) -> None:
    """By name with where they come from; nothing else has them. Their weights are not known to be ours."""
    build(small_results(tmp_path / "results"), tmp_path / "_site", FOUR_BITS)
    page, index = ((out / name).read_text() for name in ("imported.html", "index.html"))
    assert all(text in page for text in ("foreign", "weak", "&lt;b&gt;log"))
    assert "rank" not in page.split("<table")[1]
    for name in ("data/evolved-core.json", "data/overall-core.json", "data/evolved-core.csv"):
        assert (out / name).read_bytes() == (tmp_path / "_site" / name).read_bytes()
    assert "foreign" not in index and "imported.html" in index
    assert not (tmp_path / "_site/imported.html").exists()
    assert "weak, 4-bit" in (out / "models/weak.html").read_text()
    pages = [out / "imported.html", *out.glob("imported/*.html"), *out.glob("evidence/imported+*/*.html")]
    assert len(pages) == 5 and not any("4-bit" in page.read_text() for page in pages)


def test_imported_evidence_is_apart_and_can_be_reached(out: Path) -> None:
    """From the name to every unit to its page, which leads back; a measured namesake keeps its own."""
    assert 'href="imported/weak.html"' in (out / "imported.html").read_text()
    units = page_text(out / "imported/weak.html")
    paths = set(re.findall(r'href="\.\./(evidence/imported\+weak/[^"#?]+)', units))
    assert len(paths) == 1 and "imported, not measured here" in units
    page = (out / paths.pop()).read_text()
    assert page.count("<li id=") == 12
    assert 'href="../../imported.html"' in page and 'href="../../imported/weak.html"' in page
    measured = (out / "evidence/weak/evolved-core-seeds.html").read_text()
    assert 'href="../../models/weak.html"' in measured and "not measured here" not in measured


def test_a_part_the_logs_own_verdicts_and_faults_are_shown(tmp_path: Path) -> None:
    """Beside the score; a fault is named with the file as it lies in the results folder."""
    results = imported_results(small_results(tmp_path / "results"))
    path = results / "imported/runs/foreign/evolved/core-seeds.manifest.json"
    said = {"status": "cancelled", "verdicts": "equal in 11 of 12; <a>: theirs passed"}
    change(path, origin=json.loads(path.read_text())["origin"] | said, tasks_in_suite=30)
    broken = results / "imported/runs/weak/evolved/core-seeds.jsonl"
    broken.write_text("nonsense\n" + broken.read_text())
    (notice,) = build_small(tmp_path).notices
    place = "imported/runs/weak/evolved/core-seeds.jsonl, line 1: "
    assert str(notice).startswith(f"{place}expected a JSON object, got 'nonsense'; ")
    assert "models/foreign.html" not in (tmp_path / "_site/imported.html").read_text()
    page = page_text(tmp_path / "_site/imported.html")
    assert page.count(" of 30 tasks") == 1 and "12 of 30 tasks" in page
    assert "the log says of itself: cancelled" in page
    assert "the log’s own verdicts: equal in 11 of 12; &lt;a&gt;: theirs passed" in page
