"""Recorded results on the site: ranked with measured ones, marked, and traced to their receipt."""

import json
import re
import shutil
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from support.site import build_small, page_text, small_results
from triathlon_runner import catalogue
from triathlon_runner.engine_version import ENGINE_VERSION
from triathlon_runner.errors import UserError
from triathlon_runner.records import (
    MEASURED_HERE,
    LoopRecord,
    RecordedLine,
    RecordedManifest,
    RecordedTask,
    RuntimeRecord,
)
from triathlon_runner.store import RecordedFile, read_records
from triathlon_site.build import build, frames, gather
from triathlon_site.load import PARENTS
from triathlon_site.load._aggregate import parts, unit_frame
from triathlon_site.models import ModelInfo, read_table, recorded_infos
from triathlon_site.pages.model import beside_recordings

PUBLISHED = Path(__file__).parents[3] / "results/published"
RECEIPT = {
    "source": "elsewhere",
    "title": "Elsewhere's <b>runs</b>",
    "address": "https://example.org/runs",
    "commit": "abc1234",
    "date": "2025-10",
    "licence": "none found",
    "file": "other.json.gz",
    "sha256": "ef" * 32,
    "engine_version": ENGINE_VERSION,
    "compared": 12,
    "equal": 11,
}


def record_as(results: Path, model: str, *, of: str, source: str = "elsewhere") -> RecordedFile:
    """Files a measured model's loops as another's recorded ones."""
    measured = list(read_records(results / f"runs/{of}/loop/core.jsonl", LoopRecord))
    manifest = json.loads((results / f"runs/{of}/loop/core.manifest.json").read_text())
    outcomes = {name: count for name, count in manifest["outcomes"].items() if count}
    kept = ("suite", "data", "tasks_in_suite", "tasks_planned")
    file = RecordedFile(results, source, model, "loop/core")
    file.write(
        RecordedManifest.model_validate_json(
            json.dumps(
                {name: manifest[name] for name in kept}
                | {
                    "model": model,
                    "served_model": model,
                    "protocol": manifest["protocol"],
                    "settings": {},
                    "engine_versions": [ENGINE_VERSION],
                    "outcomes": outcomes,
                    "ended": "2025-10",
                    "max_loops": measured[0].max_loops,
                    "receipt": {**RECEIPT, "source": source},
                }
            )
        ),
        [
            RecordedLine(
                task_id=one.task_id,
                outcome=one.outcome,
                sustained_loops=one.sustained_loops,
                program="0123abcd",
            )
            for one in measured
        ],
    )
    return file


def results_with_recorded(root: Path) -> Path:
    results = small_results(root / "results")
    record_as(results, "other", of="strong")
    return results


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With a recorded copy of a measured model, to look at only."""
    root = tmp_path_factory.mktemp("recorded")
    results_with_recorded(root)
    build_small(root)
    return root / "_site"


def test_recorded_and_measured_results_rank_together(site: Path) -> None:
    """A recorded copy of a measured model has its rank and its tier: one engine judged both."""
    rows = json.loads((site / "data/loop-core.json").read_text())["rows"]
    found = {row["model"]: row for row in rows if row["column"] == "loop/core:pass_at_1"}
    assert (found["other"]["rank"], found["other"]["tied"]) == (found["strong"]["rank"], True)
    assert found["other"]["tier"] == found["strong"]["tier"]
    assert {model: row["grade"] for model, row in found.items()} == {
        "strong": "measured",
        "middle": "measured",
        "weak": "measured",
        "other": "recorded",
    }


def test_what_is_kept_without_texts_is_measured(tmp_path: Path) -> None:
    """Outcomes of our own measurement rank as measured, before another's recording of the same model."""
    results = small_results(tmp_path / "results")
    record_as(results, "other", of="strong", source="elsewhere")
    record_as(results, "other", of="strong", source=MEASURED_HERE)
    build_small(tmp_path)
    rows = json.loads((tmp_path / "_site/data/loop-core.json").read_text())["rows"]
    assert {row["grade"] for row in rows if row["model"] == "other"} == {"measured"}
    assert "Elsewhere" in page_text(tmp_path / "_site/models/other.html")
    sources = page_text(tmp_path / "_site/data.html")
    assert "elsewhere" not in sources


def test_cells_show_their_grade_and_lead_to_the_receipt(site: Path) -> None:
    """Each cell of a board with recorded scores is marked, with a legend; the mark leads to the receipt.

    Where everything was measured, no cell needs a mark.
    """
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


def test_only_web_addresses_become_links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A receipt and a price list may name anything; a `javascript:` address stays a text."""
    monkeypatch.setitem(RECEIPT, "address", "javascript:alert(1)")
    results = results_with_recorded(tmp_path)
    shutil.copytree(PUBLISHED, results / "published")
    facts = results / "published/models-info.csv"
    facts.write_text(facts.read_text().replace("https://", "JavaScript://"))
    build(results, tmp_path / "_site", None, cache=tmp_path / "cache")
    pages = {path.name: path.read_text() for path in (tmp_path / "_site").rglob("*.html")}
    script = re.compile(r'href="\s*javascript', re.IGNORECASE)
    assert not [name for name, page in pages.items() if script.search(page)]
    assert f"Source, commit <code>{RECEIPT['commit']}" in pages["data.html"]


def test_units_of_recorded_results_lead_to_the_receipt(site: Path) -> None:
    """Nothing that the model wrote is kept: tasks stand by how they ended, with one link to the receipt."""
    page = page_text(site / "models/other-tasks.html")
    assert page.count('href="../models/other.html#receipt-loop-core"') == 1
    listed = re.findall(r"<dd>([^<]+)</dd>", page.partition('class="who"')[2])
    assert len(", ".join(listed).split(", ")) == 12
    assert not (site / "evidence/other").exists()


def test_a_recording_stands_beside_the_measurement(tmp_path: Path) -> None:
    """Of a model's two results of one suite the measured one counts; its page says where they differ."""
    results = small_results(tmp_path / "results")
    record_as(results, "weak", of="strong")
    assert build_small(tmp_path).notices == ()
    page = (tmp_path / "_site/models/weak.html").read_text()
    section = page.partition('id="recordings"')[2].partition("</section>")[0]
    here, there = (
        {record["task_id"]: bool(record["sustained_loops"]) for record in map(json.loads, lines)}
        for model in ("weak", "strong")
        for lines in [(results / f"runs/{model}/loop/core.jsonl").read_text().splitlines()]
    )
    differ = [task for task in here if here[task] != there[task]]
    assert differ and all(f'evidence/weak/loop-core.html#{task}"' in section for task in differ)
    assert section.count("evidence/") == len(differ)
    assert list(beside_recordings(gather(results, None), ModelInfo("absent", "Without results"))) == []


def test_a_damaged_recorded_file_counts_nowhere(tmp_path: Path) -> None:
    """Its receipt counts lines that are no longer there: the file is named and left out."""
    results = small_results(tmp_path / "results")
    file = record_as(results, "other", of="strong")
    file.lines.write_text(file.lines.read_text().split("\n", 1)[1])
    (notice,) = build_small(tmp_path).notices
    assert "expected the outcomes of the lines" in notice.message
    rows = json.loads((tmp_path / "_site/data/loop-core.json").read_text())["rows"]
    assert "other" not in {row["model"] for row in rows}


SOURCES = "organization=t parameters_b=t licence=t open_weights=t released=t"


def write_facts(results: Path, row: str) -> None:
    (results / "recorded").mkdir(parents=True)
    (results / "recorded/names.csv").write_text("id,name\nother,Other 7B\nsecond,Unheard of\n")
    (results / "published").mkdir()
    head = "model,organization,parameters_b,active_b,licence,open_weights,released,context,availability"
    head += ",availability_date,availability_read,price_in,price_out"
    head += ",price_host,price_date,price_link,card,sources"
    (results / "published/models-info.csv").write_text(f"{head}\n{row}\n")


def test_a_recorded_model_has_a_name_on_the_site(tmp_path: Path) -> None:
    """models.yaml does not list it: names.csv says what it is called."""
    results = results_with_recorded(tmp_path)
    (results / "recorded/names.csv").write_text("id,name\nother,Other 7B\n")
    build_small(tmp_path)
    assert "<h1>Other 7B</h1>" in (tmp_path / "_site/models/other.html").read_text()


def test_facts_of_recorded_models(tmp_path: Path) -> None:
    """They come from models-info.csv by name; what it does not say stays unknown."""
    write_facts(tmp_path, f"Other 7B,Nobody,7,,mit,yes,2024-01,,,,,,,,,,https://example.org,{SOURCES}")
    found = recorded_infos(tmp_path)
    other = found["other"]
    assert (other.name, other.organization, other.parameters, other.billions) == (
        "Other 7B",
        "Nobody",
        "7B",
        7,
    )
    assert (other.license, other.open_weights, other.released, other.price) == ("mit", True, "2024-01", None)
    assert (found["second"].name, found["second"].organization) == ("Unheard of", None)


def test_what_recorded_units_keep(tmp_path: Path) -> None:
    """A loop's line has no parents: the table of its units has the columns of a measured one."""
    results = results_with_recorded(tmp_path)
    units = frames(results).units["loop/core"]
    assert PARENTS not in units.columns
    assert set(units["model"]) == {"strong", "middle", "weak", "other"}


def test_outcomes_of_answers_count_as_the_answers_did(tmp_path: Path) -> None:
    """A runtime suite without texts has each metric, by unit and by program, that its whole file has."""
    results = small_results(tmp_path)
    whole = list(read_records(results / "runs/middle/runtime/core.jsonl", RuntimeRecord))
    manifest = json.loads((results / "runs/middle/runtime/core.manifest.json").read_text())
    kept = ("suite", "model", "served_model", "protocol", "settings", "data", "tasks_in_suite", "outcomes")
    recorded = RecordedManifest.model_validate(
        {name: manifest[name] for name in (*kept, "tasks_planned")} | {"receipt": RECEIPT}
    )
    outcomes = [recorded.unit(RecordedLine.of(unit, "").model_dump_json().encode()) for unit in whole]
    (suite,) = catalogue.select(["runtime/core"])
    by_unit = [unit_frame(suite.metrics, records) for records in (whole, outcomes)]
    metrics = [metric.id for metric in suite.metrics]
    pd.testing.assert_frame_equal(by_unit[0][metrics], by_unit[1][metrics])
    of_whole, of_outcomes = (parts(suite.metrics, records) for records in (whole, outcomes))
    for metric, one in of_whole.items():
        other = of_outcomes[metric]
        assert one.clusters == other.clusters
        assert np.array_equal(one.numerators, other.numerators), metric
        assert np.array_equal(one.denominators, other.denominators), metric


ANSWERS = "runtime/cruxeval-output"


def record_answers(results: Path, model: str, outcomes: dict[str, str]) -> RecordedFile:
    """Files several answers to each of these tasks as recorded ones."""
    counted = Counter(name for text in outcomes.values() for name in text.split())
    file = RecordedFile(results, "elsewhere", model, ANSWERS)
    manifest = {
        "suite": ANSWERS,
        "model": model,
        "served_model": model,
        "protocol": "recorded",
        "settings": {},
        "data": {"name": "cruxeval.jsonl", "version": "1", "sha256": "ab" * 32},
        "engine_versions": [ENGINE_VERSION],
        "tasks_in_suite": 800,
        "tasks_planned": len(outcomes),
        "outcomes": dict(sorted(counted.items())),
        "line_holds": "task",
        "receipt": RECEIPT,
    }
    lines = [RecordedTask(task_id=task, outcomes=text, answers="0123abcd") for task, text in outcomes.items()]
    file.write(RecordedManifest.model_validate_json(json.dumps(manifest)), lines)
    return file


def test_recorded_samples_of_a_task(tmp_path: Path) -> None:
    """Several answers to a task stand once, by how many passed; a score counts tasks."""
    outcomes = {"sample_0": "passed passed", "sample_1": "failed passed", "sample_2": "failed failed"}
    record_answers(tmp_path / "results", "other", outcomes)
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
    (row,) = [one for one in json.loads(board.read_text())["rows"] if one["column"] == f"{ANSWERS}:pass@1"]
    assert (row["tasks"], row["score"]) == (3, 0.5)


DIFFERENCE = "model,suite,task,samples,recorded,here,cause\nother,loop/core,{task},1,3,{here},{cause}\n"


def explain(results: Path, *, cause: str, here: str = "more") -> None:
    """Writes down why one verdict differs, and what the cause `memory` means."""
    (results / "recorded/causes.csv").write_text("cause,explanation\nmemory,Too little memory there.\n")
    text = DIFFERENCE.format(task="tally", here=here, cause=cause)
    (results / "recorded/elsewhere/differences.csv").write_text(text)


def test_the_data_page_lists_sources_and_differences(tmp_path: Path) -> None:
    """Of each source how many verdicts equal the authors', and every other one with its cause."""
    results = results_with_recorded(tmp_path)
    explain(results, cause="memory")
    build_small(tmp_path)
    page = page_text(tmp_path / "_site/data.html")
    part = page[page.index('id="recordings"') :]
    assert "11 of 12 verdicts equal the authors’ (91.66 %)" in part
    assert "https://example.org/runs" in part and "<b>runs</b>" not in part
    assert "1 verdict differs" in part and "no cause" not in part
    row = re.findall(r"<tr><th.*?</tr>", part.partition("<tbody>")[2], re.DOTALL)[0]
    assert re.findall(r">([^<>\n]+)</t", row.replace("<code>", "").replace("</code>", "")) == [
        *("tally", "loop/core", "3", "more", "memory", "other"),
    ]
    assert "Too little memory there." in part


def test_a_difference_without_a_cause_is_said(site: Path) -> None:
    """Where no row explains a differing verdict, the page says how many have none."""
    assert "1 of the others have no cause" in page_text(site / "data.html")


@pytest.mark.parametrize(
    ("cause", "says"), [("weather", "got 'weather'"), ("memory,extra", "expected 7 cells")], ids=str
)
def test_differences_that_cannot_be_are_refused(tmp_path: Path, cause: str, says: str) -> None:
    """An unknown cause is named with its file and task, a row of another shape with its line."""
    explain(results_with_recorded(tmp_path), cause=cause)
    with pytest.raises(UserError, match=says):
        build_small(tmp_path)


def test_every_differing_verdict_has_a_cause() -> None:
    """The lines of committed recordings that are marked as differing are those that have a cause."""
    folder = Path(__file__).resolve().parents[3] / "results/recorded"
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


def test_a_recorded_models_page_leaves_out_what_a_recording_lacks(site: Path) -> None:
    """No columns of dashes, one sentence instead; a measured model's page has them. Scores come first."""
    recorded = (site / "models/other.html").read_text()
    measured = (site / "models/strong.html").read_text()
    sentence, head = "The recording has no tokens, times and costs.", ">tokens out</th>"
    assert sentence in recorded and head not in recorded
    assert sentence not in measured and head in measured
    assert "Nowhere for sure" not in recorded
    assert measured.index('id="scores"') < measured.index('id="sides"')
