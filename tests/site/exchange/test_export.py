"""Exports and the site's archives keep to the schemas and hold no texts that are not ours to give."""

import io
import json
import shutil
import sys
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import jsonschema
import pytest
import yaml

from support.exchange import every_eval_ever_schema
from support.results import FakeModel, FakeSuite, write_results
from support.site import entries, files, rich_results
from triathlon_runner import catalogue
from triathlon_runner.errors import UserError
from triathlon_runner.models_yaml import Registry, load
from triathlon_site.build import gather
from triathlon_site.cli_options import Wanted
from triathlon_site.exchange import DATA_SETS, EXPORTS, Archive, Exported, archives, write_export
from triathlon_site.pages import Gathered

RECORDED = Path(__file__).resolve().parents[3] / "results/recorded"
MODELS = (FakeModel("strong", 2.0, 0.95), FakeModel("weak", -1.0, 0.5))
WITHOUT_DATA_SET = {
    "runtime/dreval",
    "runtime/classeval",
    "evolved/tool_use-main_only",
    "evolved/combine_naive",
}
"""Official suites that ask what no data set of the hub asks."""
ROWS = """
models:
  - id: strong
    name: Strong
    link: https://huggingface.co/some/Strong
    open_weights: true
    api: {base_url: "http://localhost/v1", model: strong}
"""


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two models on suites of every discipline."""
    return rich_results(tmp_path_factory.mktemp("export") / "results", MODELS, tasks=6)


def _registry(folder: Path) -> Registry:
    path = folder / "models.yaml"
    path.write_text(ROWS)
    return load(path)


def _export(name: str, results: Path, out: Path, wanted: Wanted | None = None) -> Exported:
    gathered = gather(results, _registry(results.parent))
    return write_export(name, gathered, results, out, wanted)


def test_every_file_is_valid(results: Path, tmp_path: Path) -> None:
    """Scores and samples of every discipline keep to the schemas of Every Eval Ever."""
    whole = jsonschema.Draft7Validator(every_eval_ever_schema("eval"))
    line = jsonschema.Draft7Validator(every_eval_ever_schema("instance_level_eval"))
    done = _export("every-eval-ever", results, tmp_path / "out")
    assert done.sources == done.files / 2 == 2 * 14
    assert set(done.left_out.values()) == {
        "it is a variant of another suite and has no score of its own on a board"
    }
    for path in (tmp_path / "out").rglob("*.json"):
        whole.validate(json.loads(path.read_text()))
    for path in (tmp_path / "out").rglob("*.jsonl"):
        for text in path.read_text().splitlines():
            line.validate(json.loads(text))


def _think(told: Any) -> Any:
    """The same record, with reasoning in every reply."""
    if isinstance(told, dict):
        thought = {"reasoning": "I think."} if "reasoning" in told else {}
        return {name: _think(value) for name, value in told.items()} | thought
    return [_think(one) for one in told] if isinstance(told, list) else told


def test_reasoning_is_where_the_schema_has_it(results: Path, tmp_path: Path) -> None:
    """A message's reasoning is a text, that of a single reply a list: both are there, and valid."""
    own = tmp_path / "results"
    shutil.copytree(results, own)
    for path in own.rglob("*.jsonl"):
        lines = path.read_text().splitlines()
        path.write_text("".join(json.dumps(_think(json.loads(line))) + "\n" for line in lines))
    _export("every-eval-ever", own, tmp_path / "out")
    schema = jsonschema.Draft7Validator(every_eval_ever_schema("instance_level_eval"))
    traces = set()
    for path in (tmp_path / "out").rglob("*.jsonl"):
        for row in map(json.loads, path.read_text().splitlines()):
            schema.validate(row)
            traces |= {str(told.get("reasoning_trace")) for told in row["messages"] or [row["output"]]}
    assert traces == {"None", "I think.", "['I think.']"}


def test_settings_that_were_not_sent_are_left_out(results: Path, tmp_path: Path) -> None:
    """A row may call a setting unsupported: its model was not asked with it. Of a drop less is better."""
    changed = tmp_path / "results"
    shutil.copytree(results, changed)
    sampled = []
    for path in changed.rglob("strong/**/*.manifest.json"):
        manifest = json.loads(path.read_text())
        manifest["settings"]["sampling"] = {"temperature": 0.0, "max_tokens": 64}
        path.write_text(json.dumps(manifest | {"identity": {"unsupported": ["temperature"]}}))
    _export("every-eval-ever", changed, tmp_path / "out", Wanted(["strong"]))
    for path in (tmp_path / "out").rglob("*.json"):
        for row in json.loads(path.read_text())["evaluation_results"]:
            sampled.append(row["generation_config"]["generation_args"])
            is_drop = row["metric_config"]["metric_name"].startswith("Drop")
            assert row["metric_config"]["lower_is_better"] == is_drop
    assert sampled and all(arguments == {"max_tokens": 64} for arguments in sampled)


def test_scores_and_samples_agree(results: Path, tmp_path: Path) -> None:
    """pass@1 is the mean of the samples' scores; the interval holds it; the checksum is the samples'."""
    _export("every-eval-ever", results, tmp_path, Wanted(["strong"], ["evolved/core-seeds"]))
    (scores,) = tmp_path.rglob("*.json")
    (samples,) = tmp_path.rglob("*_samples.jsonl")
    found = json.loads(scores.read_text())
    rows = [json.loads(text) for text in samples.read_text().splitlines()]
    (headline,) = [r for r in found["evaluation_results"] if r["metric_config"]["metric_name"] == "seeds"]
    score = headline["score_details"]
    share = sum(row["evaluation"]["score"] for row in rows) / len(rows)
    assert score["score"] == pytest.approx(share) and len(rows) == 6
    interval = score["uncertainty"]["confidence_interval"]
    assert interval["lower"] <= score["score"] <= interval["upper"]
    expected = (share * (1 - share) / 5) ** 0.5
    assert score["uncertainty"]["standard_error"]["value"] == pytest.approx(expected)
    assert {row["evaluation_result_id"] for row in rows} == {headline["evaluation_result_id"]}
    assert found["detailed_evaluation_results"]["total_rows"] == 6
    assert found["detailed_evaluation_results"]["file_path"] == samples.relative_to(tmp_path).as_posix()


def test_recorded_results_have_no_texts(tmp_path: Path) -> None:
    """Outcomes and the receipt of the recording are handed on; prompts and replies are others' work."""
    own = tmp_path / "results/recorded"
    shutil.copytree(RECORDED / "evalooop/gpt-5", own / "evalooop/gpt-5")
    shutil.copy(RECORDED / "sources.yaml", own)
    _export("every-eval-ever", tmp_path / "results", tmp_path / "out")
    (scores,), (samples,) = (tmp_path / "out").rglob("*.json"), (tmp_path / "out").rglob("*_samples.jsonl")
    origin = json.loads(scores.read_text())["source_metadata"]["additional_details"]
    assert origin["grade"] == "recorded" and origin["address"].startswith("https://") and origin["sha256"]
    rows = [json.loads(text) for text in samples.read_text().splitlines()]
    assert len(rows) == 378 and {row["interaction_type"] for row in rows} == {"single_turn"}
    assert all(not row["input"]["raw"] and not row["output"]["raw"] for row in rows)
    assert any(row["metadata"]["sustained_loops"] == "10" for row in rows)
    done = _export("evalplus", tmp_path / "results", tmp_path / "programs")
    assert (done.sources, done.files) == (0, 0) and "others' work" in next(iter(done.left_out.values()))


def test_a_runtime_unit_is_a_line_a_question(results: Path, tmp_path: Path) -> None:
    """Coverage, state, path and output are lines of their own, with what would have been right."""
    _export("every-eval-ever", results, tmp_path, Wanted(["weak"], ["runtime/core"]))
    (samples,) = tmp_path.rglob("*_samples.jsonl")
    rows = [json.loads(text) for text in samples.read_text().splitlines()]
    kinds = {row["metadata"]["question"].split("-")[0] for row in rows}
    assert kinds == {"coverage", "state", "path", "output"}
    assert all(row["input"]["reference"] for row in rows)


@pytest.mark.slow
def test_the_same_results_give_the_same_bytes(results: Path, tmp_path: Path) -> None:
    """No clock and no chance is in an export."""
    for name in EXPORTS.keys() - ({"inspect"} if find_spec("inspect_ai") is None else set()):
        for place in ("one", "two"):
            _export(name, results, tmp_path / place / name)
    assert files(tmp_path / "one") == files(tmp_path / "two") != {}


def test_programs_are_written_as_samples(results: Path, tmp_path: Path) -> None:
    """One line a sample for the evolved suites; others are left out with the reason."""
    done = _export("evalplus", results, tmp_path / "out")
    assert done.sources == 2 * len([e for e in entries() if e.discipline == "evolved"]) + 10
    assert any("no single programs" in why for why in done.left_out.values())
    lines = (tmp_path / "out/strong/evolved/core-seeds.jsonl").read_text().splitlines()
    assert len(lines) == 6 and all(set(json.loads(text)) == {"task_id", "solution"} for text in lines)


def test_the_hub_gets_what_it_has_a_data_set_for(results: Path, tmp_path: Path) -> None:
    """Entries name data set, task, value, date and interval; our own problems are not on the hub."""
    with_mbpp = tmp_path / "results"
    for path in sorted(results.glob("runs/strong/loop/core.*")):
        text = path.read_text().replace("loop/core", "loop/mbpp-plus").replace('"core"', '"mbpp-plus"')
        target = with_mbpp / "runs/strong/loop" / path.name.replace("core", "mbpp-plus")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)
    done = _export("hf-eval-results", with_mbpp, tmp_path / "out")
    assert (done.files, done.left_out) == (1, {})
    ((entry),) = yaml.safe_load(
        (tmp_path / "out/some/Strong/.eval_results/triathlon_loop_mbpp-plus.yaml").read_text()
    )
    assert entry["dataset"] == {"id": "evalplus/mbppplus", "task_id": "loop/mbpp-plus"}
    assert entry["date"] == "2026-01-02" and 0 <= entry["value"] <= 10
    assert "95 % interval" in entry["notes"] and "source" not in entry
    _, offered = _archives(gather(with_mbpp, _registry(tmp_path)))["hf-eval-results"]
    assert [yaml.safe_load(text) for text in offered.values()] == [[entry]]
    assert "hf-eval-results" not in _archives(gather(results, _registry(results.parent)))
    published = replace(gather(with_mbpp, _registry(tmp_path)), url="https://example.org/board/")
    write_export("hf-eval-results", published, with_mbpp, tmp_path / "published")
    (path,) = (tmp_path / "published").rglob("*.yaml")
    assert yaml.safe_load(path.read_text())[0]["source"]["url"] == "https://example.org/board/"
    assert _export("hf-eval-results", results, tmp_path / "none").sources == 0


def test_the_hub_gets_suites_that_share_a_board(tmp_path: Path) -> None:
    """A suite of the evolved discipline is one column of a board: its file has its pass@1."""
    suites = [FakeSuite(entry, tasks=6) for entry in entries(["evolved/humaneval", "evolved/difficult"])]
    write_results(tmp_path / "results", MODELS, suites)
    done = _export("hf-eval-results", tmp_path / "results", tmp_path / "out")
    found = [yaml.safe_load(path.read_text()) for path in sorted((tmp_path / "out").rglob("*.yaml"))]
    assert done.files == 2 and [len(one) for one in found] == [1, 1]
    assert [one[0]["dataset"] for one in found] == [
        {"id": "evoeval/EvoEval_difficult", "task_id": "evolved/difficult"},
        {"id": "openai/openai_humaneval", "task_id": "evolved/humaneval"},
    ]


@pytest.mark.parametrize(
    ("link", "repository"),
    [
        ("https://huggingface.co/some/Strong", "some/Strong"),
        ("https://huggingface.co/some/Strong/tree/main", "some/Strong"),
        ("https://huggingface.co/some/Strong?library=x#y", "some/Strong"),
        ("https://hf.co/some/Strong/", "some/Strong"),
        ("https://huggingface.co/some", None),
        ("https://huggingface.co/blog/strong", None),
        ("https://huggingface.co/datasets/a/b", None),
        ("https://example.org/huggingface.co/some/Strong", None),
    ],
)
def test_a_repository_is_the_one_that_the_link_names(
    tmp_path: Path, link: str, repository: str | None
) -> None:
    """A page of a repository leads to it; what is no model's address names none, and none is made up."""
    write_results(
        tmp_path / "results", MODELS[:1], [FakeSuite(one, tasks=4) for one in entries(["loop/mbpp-plus"])]
    )
    (tmp_path / "models.yaml").write_text(ROWS.replace("https://huggingface.co/some/Strong", f'"{link}"'))
    gathered = gather(tmp_path / "results", load(tmp_path / "models.yaml"))
    write_export("hf-eval-results", gathered, tmp_path / "results", tmp_path / "out")
    written = {path.relative_to(tmp_path / "out").parts[:2] for path in (tmp_path / "out").rglob("*.yaml")}
    assert written == ({tuple(repository.split("/"))} if repository else set())


def test_two_rows_of_one_repository_are_told(tmp_path: Path) -> None:
    """A file that another model's has the name of is left out with the reason, not written over the other."""
    suites = [FakeSuite(entry, tasks=6) for entry in entries(["loop/mbpp-plus"])]
    write_results(tmp_path / "results", MODELS, suites)
    (tmp_path / "models.yaml").write_text(
        ROWS + ROWS.partition("models:")[2].replace("id: strong", "id: weak")
    )
    gathered = gather(tmp_path / "results", load(tmp_path / "models.yaml"))
    done = write_export("hf-eval-results", gathered, tmp_path / "results", tmp_path / "out")
    assert (done.files, done.sources) == (1, 1)
    assert list(done.left_out) == ["runs/weak/loop/mbpp-plus.jsonl"]
    assert "one link, two rows" in done.left_out["runs/weak/loop/mbpp-plus.jsonl"]


def test_the_data_sets_of_the_hub_are_those_of_suites() -> None:
    """Every suite of the table exists, and every official suite is in it or known to have none."""
    official = {entry.id for entry in catalogue.entries() if "core" not in entry.id and "@" not in entry.id}
    names = {suite: suite.partition("/")[2] for suite in official if not suite.startswith("translation/")}
    assert DATA_SETS.keys() <= set(names.values())
    assert {suite for suite, name in names.items() if name not in DATA_SETS} == WITHOUT_DATA_SET


def test_an_export_never_overwrites(results: Path, tmp_path: Path) -> None:
    """A folder with something in it, an unknown name and an empty results folder are refused in words."""
    (tmp_path / "mine").write_text("")
    with pytest.raises(UserError, match="new or empty folder at --out"):
        _export("evalplus", results, tmp_path)
    with pytest.raises(UserError, match="evalpuls"):
        _export("evalpuls", results, tmp_path / "new")
    with pytest.raises(UserError, match="nobody"):
        _export("evalplus", results, tmp_path / "new", Wanted(["nobody"]))
    (tmp_path / "empty").mkdir()
    with pytest.raises(UserError, match="no results to export"):
        _export("evalplus", tmp_path / "empty", tmp_path / "new")


def test_a_missing_extra_is_named(results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where inspect_ai is not installed, the message says how to get it, and nothing is written."""
    monkeypatch.setitem(sys.modules, "inspect_ai", None)
    monkeypatch.delitem(sys.modules, "triathlon_site.exchange._inspect", raising=False)
    with pytest.raises(UserError, match=r"inspect_ai.*not installed: run pip install '.\[inspect\]'"):
        _export("inspect", results, tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # of the many packages that inspect_ai imports
def test_inspect_reads_its_log(results: Path, tmp_path: Path) -> None:
    """inspect_ai's own API reads the log: every sample with prompt, reply, program and verdict."""
    inspect_log = pytest.importorskip(
        "inspect_ai.log", reason="needs inspect_ai: pip install -e '.[inspect]'"
    )
    _export("inspect", results, tmp_path, Wanted(["strong"], ["evolved/core-seeds"]))
    (path,) = tmp_path.rglob("*.eval")
    found = inspect_log.read_eval_log(str(path))
    assert (found.status, found.eval.task, found.eval.model) == (
        "success",
        "evolved/core-seeds",
        "some/Strong",
    )
    assert len(found.samples) == 6 and all(
        sample.input and sample.output.completion for sample in found.samples
    )
    values = [sample.scores["triathlon"].value for sample in found.samples]
    assert set(values) <= {"C", "I"}
    accuracy = found.results.scores[0].metrics["accuracy"].value
    assert accuracy == pytest.approx(values.count("C") / 6)


def _archives(site: Gathered) -> dict[str, tuple[Archive, dict[str, str]]]:
    """Each zip that the site offers, by its format, with its files."""
    found = {}
    for archive in archives(site.results, site.boards, site.models):
        with ZipFile(io.BytesIO(archive.page.bytes)) as opened:
            found[archive.form] = archive, {name: opened.read(name).decode() for name in opened.namelist()}
    return found


def test_the_site_offers_the_scores_of_the_command(results: Path, tmp_path: Path) -> None:
    """A valid file a model and suite, as `triathlon export` writes it but for the samples beside it."""
    archive, found = _archives(gather(results, _registry(results.parent)))["every-eval-ever"]
    assert archive.page.path == "data/every-eval-ever.zip" and archive.files == len(found) == 2 * 14
    validator = jsonschema.Draft7Validator(every_eval_ever_schema("eval"))
    _export("every-eval-ever", results, tmp_path / "out", Wanted(["weak"]))
    paths = list((tmp_path / "out").rglob("*.json"))
    for path in paths:
        content = json.loads(found[path.relative_to(tmp_path / "out").as_posix()])
        validator.validate(content)
        whole = json.loads(path.read_text())
        assert whole.pop("detailed_evaluation_results")["total_rows"] > 0 and content == whole
    assert len(paths) == 14
