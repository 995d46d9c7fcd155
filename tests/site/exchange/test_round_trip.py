"""What leaves by `triathlon export` comes back by `triathlon import` with equal scores."""

import json
from pathlib import Path

import pytest

from support.small_run import SmallRun, made
from triathlon_runner import catalogue
from triathlon_runner.store import read_records
from triathlon_site.build import gather
from triathlon_site.exchange import Wanted, write_export

SUITES = ("loop/core", "runtime/core", "evolved/core-seeds")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> SmallRun:
    """Two tasks of a suite of each discipline, some of them failed."""
    return made(tmp_path_factory.mktemp("round"))


def scores(place: SmallRun, folder: str, suite: str) -> dict[str, float]:
    """Every metric of a suite over one folder's lines."""
    (entry,) = catalogue.select([suite])
    path = place.results / folder / "runs/m" / f"{suite}.jsonl"
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


@pytest.mark.parametrize("form", ["evalplus", "lm-eval"])
def test_programs_come_back(place: SmallRun, tmp_path: Path, form: str) -> None:
    """Programs are judged as before."""
    suite = "evolved/core-seeds"
    write_export(form, gather(place.results, None), place.results, tmp_path / "out", Wanted(["m"], [suite]))
    (samples,) = (tmp_path / "out").rglob("*.jsonl")
    done = place.call("import", form, str(samples), "--suite", suite, "--model", f"again-{form}")
    assert done.exit_code == 0, done.output
    again = place.results / f"imported/runs/again-{form}/{suite}.jsonl"
    first = place.results / f"runs/m/{suite}.jsonl"
    outcomes = [
        [json.loads(line)["outcome"] for line in path.read_text().splitlines()] for path in (again, first)
    ]
    assert outcomes[0] == outcomes[1] and len(outcomes[0]) == 2
