"""What leaves by `triathlon export` comes back by `triathlon import` with equal scores."""

import json
from pathlib import Path

import pytest
import yaml

from support.results import FakeModel, FakeSuite, write_results
from support.small_run import SmallRun, made
from triathlon_runner import catalogue
from triathlon_runner.models_yaml import Registry
from triathlon_runner.store import read_records
from triathlon_site.build import gather
from triathlon_site.cli_options import Wanted
from triathlon_site.exchange import write_export

pytestmark = pytest.mark.slow

API = {"base_url": "http://127.0.0.1:1/v1", "model": "m"}
HUB = "https://huggingface.co/some/M"
SUITES = ("loop/core", "runtime/core", "evolved/core-seeds")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> SmallRun:
    """Two tasks of a suite of each discipline, some of them failed."""
    return made(tmp_path_factory.mktemp("round"))


def scores(place: SmallRun, folder: str, suite: str, model: str = "m") -> dict[str, float]:
    """Every metric of a suite over one folder's lines."""
    (entry,) = catalogue.select([suite])
    path = place.results / folder / "runs" / model / f"{suite}.jsonl"
    records = list(read_records(path, entry.record))
    assert records
    return {metric.id: metric.score(records) for metric in entry.metrics}


@pytest.mark.parametrize("suite", SUITES)
def test_every_eval_ever_comes_back(place: SmallRun, tmp_path: Path, suite: str) -> None:
    """Every metric of each discipline is the same after the replies were judged from the exported samples."""
    write_export(
        "every-eval-ever",
        gather(place.results, None),
        place.results,
        tmp_path / "out",
        Wanted(["m"], [suite]),
    )
    (samples,) = (tmp_path / "out").rglob("*_samples.jsonl")
    done = place.call("import", "every-eval-ever", str(samples), "--suite", suite, "--model", "m")
    assert done.exit_code == 0, done.output
    assert repr(scores(place, "imported", suite)) == repr(scores(place, "", suite))


@pytest.mark.parametrize("form", ["evalplus", pytest.param("inspect", marks=pytest.mark.slow)])
def test_programs_come_back(place: SmallRun, tmp_path: Path, form: str) -> None:
    """Programs, and the replies of inspect_ai's logs, are judged as before: outcomes and scores are equal."""
    if form == "inspect":
        pytest.importorskip("inspect_ai", reason="needs inspect_ai: pip install -e '.[inspect]'")
    suite = "evolved/core-seeds"
    write_export(form, gather(place.results, None), place.results, tmp_path / "out", Wanted(["m"], [suite]))
    (samples,) = (path for path in (tmp_path / "out").rglob("*") if path.is_file())
    done = place.call("import", form, str(samples), "--suite", suite, "--model", f"again-{form}")
    assert done.exit_code == 0, done.output
    again = place.results / f"imported/runs/again-{form}/{suite}.jsonl"
    first = place.results / f"runs/m/{suite}.jsonl"
    outcomes = [
        [json.loads(line)["outcome"] for line in path.read_text().splitlines()] for path in (again, first)
    ]
    assert outcomes[0] == outcomes[1] and len(outcomes[0]) == 2
    again_scores, first_scores = scores(place, "imported", suite, f"again-{form}"), scores(place, "", suite)
    assert repr(again_scores) == repr(first_scores)


@pytest.mark.parametrize("form", ["every-eval-ever", "hf-eval-results"])
def test_aggregates_say_what_the_lines_say(tmp_path: Path, form: str) -> None:
    """Files of scores, which nothing reads back, have the score that the results' own lines lead to."""
    suite = "loop/mbpp-plus"
    write_results(
        tmp_path / "results", [FakeModel("m", 1.0)], [FakeSuite(catalogue.select([suite])[0], tasks=9)]
    )
    registry = Registry.model_validate({"models": [{"id": "m", "name": "M", "link": HUB, "api": API}]})
    root = tmp_path / "results"
    write_export(form, gather(root, registry), root, tmp_path / "out")
    (entry,) = catalogue.select([suite])
    headline = next(metric for metric in entry.metrics if metric.headline)
    expected = headline.score(list(read_records(root / f"runs/m/{suite}.jsonl", entry.record)))
    if form == "hf-eval-results":
        (path,) = (tmp_path / "out").rglob("*.yaml")
        (found,) = (one["value"] for one in yaml.safe_load(path.read_text()))
    else:
        (path,) = (tmp_path / "out").rglob("*.json")
        results = json.loads(path.read_text())["evaluation_results"]
        ids = f"triathlon.loop.{headline.id}"
        (found,) = (
            one["score_details"]["score"] for one in results if one["metric_config"]["metric_id"] == ids
        )
    assert found == pytest.approx(expected, rel=1e-5) and expected > 0
