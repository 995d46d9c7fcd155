"""Exports keep to the schemas, hold no texts that are not ours to give, and come back with equal scores."""

import json
import re
import shutil
import sys
from collections import Counter
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from support.case_files import rows as cases
from support.official_data import official_store
from support.results import FakeModel
from support.site import change, entries, files, json_lines, results_on, rich_results, write_lines
from support.small_run import SmallRun, made
from triathlon_runner import catalogue
from triathlon_runner.cli import Chosen
from triathlon_runner.errors import UserError
from triathlon_runner.models_yaml import load
from triathlon_runner.store import read_records
from triathlon_site.build import gather
from triathlon_site.exchange import DATA_SETS, EXPORTS, Exported, sources_of, write_export
from triathlon_site.ranking import OTHER_PROTOCOL, UNITS_ARE_OPEN

HERE = Path(__file__).parent
RECORDED = Path(__file__).resolve().parents[3] / "results/recorded"
MODELS = (FakeModel("strong", 2.0, 0.95), FakeModel("weak", -1.0, 0.5))
OTHERS = ("runtime/dreval", "runtime/classeval", "evolved/tool_use-main_only", "evolved/combine_naive")
"""Official suites that ask what no data set of the hub asks."""
NEEDS_INSPECT = "needs inspect_ai: pip install -e '.[inspect]'"
ROWS = (HERE / "models.yaml").read_text()


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One of weak's replies is empty."""
    folder = rich_results(tmp_path_factory.mktemp("export") / "results", MODELS, tasks=6)
    path = folder / "runs/weak/evolved/core-subtle.jsonl"
    first, *rest = json_lines(path)
    write_lines(path, [first | {"reply": {"text": ""}}, *rest])
    return folder


def schema(name: str) -> jsonschema.Draft7Validator:
    """One of Every Eval Ever's schemas; the test is skipped where they are not here."""
    folder = official_store().folder
    path = folder.parent / f"schemas/every_eval_ever/{name}.schema.json" if folder else Path()
    if not path.is_file():
        pytest.skip(f"needs Every Eval Ever's schemas beside the official data: no {path}")
    return jsonschema.Draft7Validator(json.loads(path.read_text()))


def export(
    name: str, results: Path, out: Path, wanted: Chosen | None = None, *, rows: str = ROWS, url: str = ""
) -> Exported:
    path = results.parent / "models.yaml"
    path.write_text(rows)
    site = gather(results, load(path))
    sources = sources_of(site.results.files, site.boards, site.models, results, wanted, url=url)
    return write_export(name, sources, out)


def samples(folder: Path) -> list[dict[str, Any]]:
    (path,) = folder.rglob("*_samples.jsonl")
    return json_lines(path)


def on_official(root: Path, *suites: str, models: tuple[FakeModel, ...] = MODELS) -> Path:
    return results_on(root / "results", models, *suites, tasks=6)


def asked_with(path: Path, **fields: object) -> None:
    """Of a run whose server takes no temperature, with further fields of its manifest."""
    sampling = {"sampling": {"temperature": 0.0, "max_tokens": 64}}
    settings = json.loads(path.read_text())["settings"] | sampling
    change(path, settings=settings, identity={"unsupported": ["temperature"]}, **fields)


def think(told: Any) -> Any:
    """The same record, with reasoning in every reply."""
    if isinstance(told, dict):
        thought = {"reasoning": "I think."} if "reasoning" in told else {}
        return {name: think(value) for name, value in told.items()} | thought
    return [think(one) for one in told] if isinstance(told, list) else told


def test_every_file_is_valid(results: Path, tmp_path: Path) -> None:
    """With reasoning, too; a setting that a row calls unsupported was not sent; of a drop less is better."""
    whole, line = schema("eval"), schema("instance_level_eval")
    own = tmp_path / "results"
    shutil.copytree(results, own)
    for path in own.rglob("weak/**/*.jsonl"):
        write_lines(path, map(think, json_lines(path)))
    for path in own.rglob("*.manifest.json"):
        asked_with(path)
    done = export("every-eval-ever", own, tmp_path / "out")
    assert done.sources == done.files / 2 == 2 * 14
    assert all(why.startswith("it is a variant of another suite") for why in done.left_out.values())
    traces: set[str] = set()
    for path in (tmp_path / "out").rglob("*.json"):
        content = json.loads(path.read_text())
        whole.validate(content)
        for row in content["evaluation_results"]:
            assert row["generation_config"]["generation_args"] == {"max_tokens": 64}
            is_drop = row["metric_config"]["metric_name"].startswith("Drop")
            assert row["metric_config"]["lower_is_better"] == is_drop
    for path in (tmp_path / "out").rglob("*.jsonl"):
        for row in json_lines(path):
            line.validate(row)
            traces |= {str(told.get("reasoning_trace")) for told in row["messages"] or [row["output"]]}
    assert traces == {"None", "I think.", "['I think.']"}


def test_scores_and_samples_agree(results: Path, tmp_path: Path) -> None:
    """pass@1 is the mean of the samples' scores. A unit of the runtime is a line a question."""
    export("every-eval-ever", results, tmp_path / "a", Chosen(["strong"], ["evolved/core-seeds"]))
    (scores,) = (tmp_path / "a").rglob("*.json")
    found, rows = json.loads(scores.read_text()), samples(tmp_path / "a")
    (headline,) = [r for r in found["evaluation_results"] if r["metric_config"]["metric_name"] == "seeds"]
    score = headline["score_details"]
    share = sum(row["evaluation"]["score"] for row in rows) / len(rows)
    assert score["score"] == pytest.approx(share) and len(rows) == 6
    interval = score["uncertainty"]["confidence_interval"]
    assert interval["lower"] <= score["score"] <= interval["upper"]
    assert interval["method"].startswith("Beta quantiles")  # as docs/statistics.md says, no bootstrap
    assert "standard_error" not in score["uncertainty"]  # which would not agree with the interval
    assert {row["evaluation_result_id"] for row in rows} == {headline["evaluation_result_id"]}
    assert found["detailed_evaluation_results"]["total_rows"] == 6
    export("every-eval-ever", results, tmp_path / "b", Chosen(["weak"], ["runtime/core"]))
    rows = samples(tmp_path / "b")
    kinds = {row["metadata"]["question"].split("-")[0] for row in rows}
    assert kinds == {"coverage", "state", "path", "output"}
    assert all(row["input"]["reference"] for row in rows)
    export("every-eval-ever", results, tmp_path / "c", Chosen(["weak"], ["evolved/core-subtle"]))
    # An empty reply is one: without it, `import` would leave the sample out instead of calling it no answer.
    assert [row["output"]["raw"] for row in samples(tmp_path / "c")].count([""]) == 1


def test_recorded_results_have_no_texts(tmp_path: Path) -> None:
    """Outcomes and the receipt of the recording are handed on; prompts and replies are others' work."""
    own = tmp_path / "results/recorded"
    shutil.copytree(RECORDED / "evalooop/gpt-5", own / "evalooop/gpt-5")
    shutil.copy(RECORDED / "sources.yaml", own)
    export("every-eval-ever", tmp_path / "results", tmp_path / "out")
    (scores,) = (tmp_path / "out").rglob("*.json")
    origin = json.loads(scores.read_text())["source_metadata"]["additional_details"]
    assert origin["grade"] == "recorded" and origin["address"].startswith("https://") and origin["sha256"]
    rows = samples(tmp_path / "out")
    assert len(rows) == 378 and {row["interaction_type"] for row in rows} == {"single_turn"}
    assert all(not row["input"]["raw"] and not row["output"]["raw"] for row in rows)
    assert any(row["metadata"]["sustained_loops"] == "10" for row in rows)
    (manifest,) = own.rglob("*.manifest.json")
    for ended, time in (*((day, "1751328000") for day in ("2025", "2025-07", "2025-07-01")), ("", "0")):
        change(manifest, ended=ended)
        export("every-eval-ever", tmp_path / "results", tmp_path / f"dated {ended}")
        (scores,) = (tmp_path / f"dated {ended}").rglob("*.json")
        assert json.loads(scores.read_text())["retrieved_timestamp"] == time, "of a year its middle"
    done = export("evalplus", tmp_path / "results", tmp_path / "programs")
    assert (done.sources, done.files) == (0, 0) and "others' work" in next(iter(done.left_out.values()))


@pytest.mark.slow
def test_the_same_results_give_the_same_bytes(results: Path, tmp_path: Path) -> None:
    """No clock and no chance is in an export."""
    for name in EXPORTS.keys() - ({"inspect"} if find_spec("inspect_ai") is None else set()):
        for place in ("one", "two"):
            export(name, results, tmp_path / place / name)
    assert files(tmp_path / "one") == files(tmp_path / "two") != {}


def test_programs_are_written_as_samples(results: Path, tmp_path: Path) -> None:
    """One line a sample for the evolved suites; others are left out with the reason."""
    done = export("evalplus", results, tmp_path / "out")
    assert done.sources == 2 * len([e for e in entries() if e.discipline == "evolved"]) + 10
    whole = "units that are no single programs, as those of evolved are"
    assert {name for name, why in done.left_out.items() if why == whole and "translation" in name}
    lines = json_lines(tmp_path / "out/strong/evolved/core-seeds.jsonl")
    assert len(lines) == 6 and all(line.keys() == {"task_id", "solution"} for line in lines)


def test_the_hub_gets_what_it_has_a_data_set_for(results: Path, tmp_path: Path) -> None:
    """A file a suite; not of our own problems, nor where two rows would write one file."""
    official = on_official(tmp_path, "loop/mbpp-plus", "evolved/humaneval", "evolved/difficult")
    done = export("hf-eval-results", official, tmp_path / "out")
    folder = tmp_path / "out/some/Strong/.eval_results"
    found = {path.stem: yaml.safe_load(path.read_text()) for path in folder.iterdir()}
    assert (done.files, len(done.left_out)) == (3, 3)
    assert {name: entry["dataset"] for name, (entry,) in found.items()} == {
        "triathlon_loop_mbpp-plus": {"id": "evalplus/mbppplus", "task_id": "loop/mbpp-plus"},
        "triathlon_evolved_humaneval": {"id": "openai/openai_humaneval", "task_id": "evolved/humaneval"},
        "triathlon_evolved_difficult": {"id": "evoeval/EvoEval_difficult", "task_id": "evolved/difficult"},
    }
    (entry,) = found["triathlon_loop_mbpp-plus"]
    (suite,) = entries(["loop/mbpp-plus"])
    lines = list(read_records(official / "runs/strong/loop/mbpp-plus.jsonl", suite.record))
    (asl,) = (metric for metric in suite.metrics if metric.headline)
    assert entry["date"] == "2026-01-02" and entry["value"] == pytest.approx(asl.score(lines), rel=1e-5)
    assert re.search(r"95 % interval.*, with weights of 4 bits$", entry["notes"]) and "source" not in entry
    of_shares = {name for name, (one,) in found.items() if re.search(r"[0-9] %;", one["notes"])}
    assert of_shares == {"triathlon_evolved_humaneval", "triathlon_evolved_difficult"}
    wanted = Chosen(["strong"], ["loop/mbpp-plus"])
    export("hf-eval-results", official, tmp_path / "url", wanted, url="https://example.org/board/")
    (path,) = (tmp_path / "url").rglob("*.yaml")
    assert yaml.safe_load(path.read_text())[0]["source"]["url"] == "https://example.org/board/"
    assert export("hf-eval-results", results, tmp_path / "none").sources == 0
    both = ROWS + ROWS.partition("models:")[2].replace("id: strong", "id: weak")
    done = export("hf-eval-results", official, tmp_path / "two", rows=both)
    assert (done.files, done.sources) == (3, 3)
    assert Counter("one link, two rows" in why for why in done.left_out.values()) == {True: 3}


def test_results_without_a_rank_have_scores(tmp_path: Path) -> None:
    """What another protocol asked is exported and says so; what has open units gets no file for the hub."""
    models = (*MODELS, FakeModel("third", 0.0, 0.5))
    folder = on_official(tmp_path, "evolved/humaneval", models=models) / "runs"
    for path in (folder / "strong/evolved").iterdir():
        text = path.read_text()
        path.write_text(re.sub(r'"asked": ?"[0-9a-f]{16}"', f'"asked": "{"0" * 16}"', text))
    change(folder / "third/evolved/humaneval.manifest.json", open_units=2)
    done = export("every-eval-ever", folder.parent, tmp_path / "out")
    assert (done.sources, done.left_out) == (3, {})
    found = [json.loads(path.read_text()) for path in (tmp_path / "out").rglob("*.json")]
    firsts = {one["model_info"]["name"]: one["evaluation_results"][0] for one in found}
    said = {name: first["score_details"]["details"].get("not_ranked") for name, first in firsts.items()}
    assert said == {"Strong, 4-bit": OTHER_PROTOCOL, "weak": None, "third": UNITS_ARE_OPEN}
    rows = ROWS + ROWS.partition("models:")[2].replace("Strong", "Third").replace("id: strong", "id: third")
    done = export("hf-eval-results", folder.parent, tmp_path / "hub", rows=rows)
    (path,) = (tmp_path / "hub").rglob("*.yaml")
    assert OTHER_PROTOCOL in yaml.safe_load(path.read_text())[0]["notes"]
    assert any(why.startswith("units are open") for why in done.left_out.values())


@pytest.mark.parametrize("case", cases(HERE / "repositories.csv"), ids=str)
def test_a_repository_is_the_one_of_the_link(tmp_path: Path, case: dict[str, str]) -> None:
    """A page of a repository leads to it; what is no model's address names none, and none is made up."""
    official = on_official(tmp_path, "loop/mbpp-plus", models=MODELS[:1])
    rows = ROWS.replace("https://huggingface.co/some/Strong", f'"{case["link"]}"')
    export("hf-eval-results", official, tmp_path / "out", rows=rows)
    folders = {path.relative_to(tmp_path / "out").parents[1] for path in (tmp_path / "out").rglob("*.yaml")}
    assert [str(folder) for folder in folders] == [case["repository"]] * bool(case["repository"])


def test_the_data_sets_of_the_hub_are_those_of_suites() -> None:
    """Every suite of the table exists, and every official suite is in it or known to have none."""
    official = {entry.id for entry in catalogue.entries() if "core" not in entry.id and "@" not in entry.id}
    names = {suite: suite.partition("/")[2] for suite in official if not suite.startswith("translation/")}
    assert DATA_SETS.keys() <= set(names.values())
    assert {suite for suite, name in names.items() if name not in DATA_SETS} == {*OTHERS}


def test_an_export_never_overwrites(results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is asked wrongly, or needs a package that is missing, is refused in words; nothing is written."""
    (tmp_path / "full").mkdir()
    (tmp_path / "full/mine").write_text("")
    (tmp_path / "empty").mkdir()
    monkeypatch.setitem(sys.modules, "inspect_ai", None)
    monkeypatch.delitem(sys.modules, "triathlon_site.exchange._inspect", raising=False)
    new = tmp_path / "new"
    for name, folder, out, wanted, said in (
        ("evalplus", results, tmp_path / "full", None, "new or empty folder at --out"),
        ("evalpuls", results, new, None, "evalpuls"),
        ("evalplus", results, new, Chosen(["nobody"]), "nobody"),
        ("evalplus", tmp_path / "empty", new, None, "no results to export"),
        ("inspect", results, new, None, r"inspect_ai.*not installed: run pip install '.\[inspect\]'"),
    ):
        with pytest.raises(UserError, match=said):
            export(name, folder, out, wanted)
    assert not new.exists()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # of the many packages that inspect_ai imports
def test_inspect_reads_its_log(results: Path, tmp_path: Path) -> None:
    """inspect_ai's own API has every sample with its verdict, how many are open, and what was sent."""
    inspect_log = pytest.importorskip("inspect_ai.log", reason=NEEDS_INSPECT)
    own = tmp_path / "results"
    shutil.copytree(results, own)
    asked_with(own / "runs/strong/evolved/core-seeds.manifest.json", open_units=2)
    export("inspect", own, tmp_path / "out", Chosen(["strong"], ["evolved/core-seeds"]))
    (path,) = (tmp_path / "out").rglob("*.eval")
    found = inspect_log.read_eval_log(str(path))
    about = (found.status, found.eval.task, found.eval.model)
    assert about == ("success", "evolved/core-seeds", "some/Strong")
    assert (found.results.total_samples, found.results.completed_samples) == (8, 6)
    sent = found.eval.model_generate_config
    assert (sent.temperature, sent.max_tokens) == (None, 64)
    assert len(found.samples) == 6 and all(one.input and one.output.completion for one in found.samples)
    values = [sample.scores["triathlon"].value for sample in found.samples]
    assert set(values) <= {"C", "I"}
    assert found.results.scores[0].metrics["accuracy"].value == pytest.approx(values.count("C") / 6)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> SmallRun:
    """Two tasks of a suite of each discipline, some of them failed."""
    return made(tmp_path_factory.mktemp("round"))


def stored(place: SmallRun, folder: str, suite: str, model: str = "m") -> tuple[list[str], str]:
    """The outcomes of one folder's lines, and every metric of a suite over them."""
    (entry,) = catalogue.select([suite])
    records = list(read_records(place.results / folder / "runs" / model / f"{suite}.jsonl", entry.record))
    assert records
    scores = {metric.id: metric.score(records) for metric in entry.metrics}
    return [record.outcome.value for record in records], repr(scores)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("form", "suite"),
    [
        *(("every-eval-ever", suite) for suite in ("loop/core", "runtime/core", "evolved/core-seeds")),
        ("evalplus", "evolved/core-seeds"),
        ("inspect", "evolved/core-seeds"),
    ],
)
def test_what_leaves_comes_back(place: SmallRun, tmp_path: Path, form: str, suite: str) -> None:
    """Programs and replies of exported samples are judged as before by `import`, whatever their order."""
    if form == "inspect":
        pytest.importorskip("inspect_ai", reason=NEEDS_INSPECT)
    site, wanted = gather(place.results, None), Chosen(["m"], [suite])
    sources = sources_of(site.results.files, site.boards, site.models, place.results, wanted)
    write_export(form, sources, tmp_path / "out")
    (path,) = (path for path in (tmp_path / "out").rglob("*") if path.suffix in {".jsonl", ".eval"})
    if form == "every-eval-ever":  # answers are told apart by the names of their questions
        path.write_text("".join(reversed(path.read_text().splitlines(keepends=True))))
    done = place.call("import", form, str(path), "--suite", suite, "--model", f"again-{form}")
    assert done.exit_code == 0, done.output
    assert stored(place, "imported", suite, f"again-{form}") == stored(place, "", suite)
