"""`triathlon gate`: verdicts, exit codes, stored results, bounds, reports."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from support.server_scripts import RATED
from support.small_run import SmallRun, served

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[3]
SUITE = "evolved/core-seeds"
WORSE = f"gate --baseline good --candidate worse --suites {SUITE}"
DOCUMENT = (ROOT / "docs/gate.md").read_text()


class GatePlace(SmallRun):
    """Compares models with `good`."""

    def gate(self, candidate: str, options: str = "", *, code: int, suites: str = SUITE) -> Any:
        """The JSON report of a gate."""
        return self.json(f"gate --baseline good --candidate {candidate} --suites {suites} {options}", code)


@pytest.fixture
def place(tmp_path: Path) -> Iterator[GatePlace]:
    with served(tmp_path, *RATED):
        yield GatePlace(tmp_path)


@pytest.fixture(scope="module")
def worse(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[GatePlace, dict[str, Any]]]:
    """A gate that has found the candidate worse, and its report."""
    place = GatePlace(tmp_path_factory.mktemp("worse"))
    with served(place.root, *RATED):
        report = place.gate("worse", code=1)
        assert len(place.requests) == report["asked"] < 160
        yield place, report


def test_a_worse_model_is_found_before_all_tasks_are_asked(worse: tuple[GatePlace, dict[str, Any]]) -> None:
    """Exit code 1, with fewer tasks than there are; the report names what was lost, and where it stands."""
    place, report = worse
    assert (report["verdict"], report["tasks_planned"]) == ("worse", 80)
    assert report["tasks"] < 60
    assert report["difference"] < 0 and report["interval"][1] <= 0
    assert report["won"] == 0 and report["usd"] > 0
    for lost in report["lost"]:
        for model, score, outcome in (("baseline", 1, "passed"), ("candidate", 0, "failed")):
            stored = (place.root / lost[f"{model}_file"]).read_text().splitlines()
            line = json.loads(stored[lost[f"{model}_line"] - 1])
            assert (line["task_id"], line["outcome"], lost[model]) == (lost["task_id"], outcome, score)


def test_what_was_asked_is_not_asked_again(worse: tuple[GatePlace, dict[str, Any]]) -> None:
    """The same verdict from the stored results; printed with file and line, in Markdown a row a lost task."""
    place, first = worse
    before = len(place.requests)
    second = place.gate("worse", "--markdown gate.md", code=1)
    assert second["asked"] == 0
    same = ("verdict", "tasks", "difference", "interval", "lost")
    assert [second[key] for key in same] == [first[key] for key in same]
    text = (place.root / "gate.md").read_text()
    assert text.startswith("## worse against good: WORSE\n")
    file = "results/runs/worse/evolved/core-seeds.jsonl"
    for lost in first["lost"]:
        assert f"| 1.00 | 0.00 | {file}:{lost['candidate_line']} |\n" in text
    place.expect(WORSE, 1, f"1.00 to 0.00, {file}:")
    assert len(place.requests) == before


def test_a_decided_gate_leaves_nothing_open(place: GatePlace) -> None:
    """The manifest says how many tasks it asked, none is called open; a run then asks the others alone."""
    said = place.expect(WORSE, 1)
    head, good, *_ = said[said.index("model ") :].splitlines()
    assert "open" not in head.split()
    assert 0 < int(good.split()[1].partition("/")[0]) < 80
    manifest = place.facts(SUITE, "worse")
    assert manifest["open_units"] == 0
    assert manifest["tasks_planned"] == len(place.records(SUITE, "worse")) < 80
    place.expect(f"run --models good,worse --suites {SUITE} --profile standard", 0)
    assert len(place.records(SUITE, "good")) == len(place.records(SUITE, "worse")) == 80
    assert len(place.requests) == 160


@pytest.mark.parametrize("shown", re.findall(r"```text\n\$ triathlon (gate .*?)```", DOCUMENT, re.DOTALL))
def test_the_document_shows_what_the_committed_results_give(shown: str, tmp_path: Path) -> None:
    """Command and report of each example; nothing is asked, so that no cache and no server is needed."""
    command, expected = shown.split("\n", 1)
    for name in ("results", "models.yaml"):
        (tmp_path / name).symlink_to(ROOT / name)
    done = SmallRun(tmp_path).call(*command.split())
    assert re.sub(r"(?m)^\d\d:\d\d:\d\d .*\n", "", done.stdout) == expected, done.stderr


def test_equal_models_are_undecided_or_not_worse_by_a_margin(place: GatePlace) -> None:
    """Exit code 3, with no task more than allowed; 0 with a margin that the tasks suffice for."""
    report = place.gate("same", "--max-tasks 12", code=3)
    assert (report["verdict"], report["tasks"], report["difference"]) == ("undecided", 12, 0)
    assert (len(place.requests), report["lost"]) == (24, [])
    report = place.gate("same", "--margin 0.2", code=0)
    assert report["verdict"] == "not worse" and report["interval"][0] >= -0.2


def test_a_spent_budget_leaves_it_undecided(place: GatePlace) -> None:
    """Nothing is sent once the money is spent; the report says so; the next gate goes on."""
    report = place.gate("half", "--budget 0.0001", code=3)
    assert "budget" in report["stopped"]
    assert 0 < report["asked"] < 60
    assert place.gate("half", "--max-tasks 20", code=3)["tasks"] == 20
    assert len(place.requests) == len(place.records(SUITE, "good")) + len(place.records(SUITE, "half"))


def test_stored_results_that_suffice_need_no_budget_and_hide_no_gap(place: GatePlace) -> None:
    """Nothing is left to ask, so no budget stopped it; lines without a manifest are named."""
    tasks = "--max-tasks 12"
    place.gate("same", tasks, code=3)
    report = place.gate("same", f"{tasks} --budget 0", code=3)
    assert (report["tasks"], report["asked"], report["stopped"], report["notes"]) == (12, 0, "", [])
    for options, code in ((tasks, 3), ("--margin 0.9", 0)):
        place.manifest(SUITE, "same").unlink()
        (note,) = place.gate("same", options, code=code)["notes"]
        assert note.startswith("same evolved/core-seeds: no manifest beside")


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("name: good", "name: good, retired: 2026-01-31", "retired 2026-01-31"),
        ("model: good", "model: good, key_env: NO_SUCH_KEY", "no key"),
    ],
)
def test_a_baseline_that_cannot_be_asked_needs_its_results(
    place: GatePlace, before: str, after: str, said: str
) -> None:
    """Retired or without a key, it is compared on the tasks that it has results of; without any, exit 2."""
    place.gate("same", "--max-tasks 12", code=3)
    models = place.root / "models.yaml"
    models.write_text(models.read_text().replace(before, after))
    report = place.gate("worse", code=1)
    assert report["tasks_planned"] == 12 and report["asked"] == len(place.records(SUITE, "worse"))
    assert any(note.startswith(f"good: {said}") for note in report["notes"])
    none = "gate --baseline good --candidate half --suites evolved/core-verbose"
    place.expect(none, 2, f"results of it to compare, got good: {said}")


def test_a_cost_without_that_of_a_model_says_so(place: GatePlace) -> None:
    """One model has a price, the other has none: the sum is one model's, and is called so."""
    models, price = place.root / "models.yaml", ", price: {input: 1, output: 2}"
    models.write_text(models.read_text().replace("model: same}" + price, "model: same}"))
    report = place.gate("same", "--max-tasks 2", code=3)
    assert report["usd"] > 0
    assert "cost: without same, for which no price is known" in report["notes"]


def test_the_order_is_the_seeds_and_nothing_else(place: GatePlace) -> None:
    def tasks(results: str, seed: str) -> set[str]:
        place.gate("same", f"--max-tasks 6 --seed {seed} --results {results}", code=3)
        text = (place.root / results / "runs/good/evolved/core-seeds.jsonl").read_text()
        return {json.loads(line)["task_id"] for line in text.splitlines()}

    assert tasks("first", "1") == tasks("again", "1") != tasks("other", "2")


def test_tasks_of_one_seed_problem_are_compared_together(place: GatePlace) -> None:
    """Two suites with tasks from the same seeds: a cluster is asked whole or not at all."""
    report = place.gate("same", "--max-tasks 13", suites=f"{SUITE},evolved/core-verbose", code=3)
    assert (report["tasks"], report["clusters"]) == (12, 6)
    seeds = {line["task_id"] for line in place.records(SUITE, "good")}
    assert {line["parents"][0] for line in place.records("evolved/core-verbose", "good")} == seeds


def test_a_server_that_is_away_is_an_error_and_no_verdict(place: GatePlace) -> None:
    """A candidate that refuses every request is not worse; exit code 2, and its tasks stay open."""
    models = place.root / "models.yaml"
    models.write_text(models.read_text().replace("model: worse}", "model: refused}").replace("same}", "odd}"))
    few = place.gate("same", "--max-tasks 2", code=2)
    assert few["verdict"] == "none" and few["errors"][0].startswith("400, the server said 'odd'")
    report = place.gate("worse", code=2)
    assert report["verdict"] == "none" and report["errors"]
    place.expect(WORSE, 2, "worse against good: NO VERDICT", "!UNDECIDED")
    assert not place.lines(SUITE, "worse").exists()


def test_results_of_other_conditions_are_refused(place: GatePlace) -> None:
    """Lines that another temperature made are not compared; the message says how to put them aside."""
    place.gate("same", "--max-tasks 4", code=3)
    models = place.root / "models.yaml"
    models.write_text(models.read_text().replace("name: same,", "name: same, temperature: 0.5,"))
    before = len(place.requests)
    archive = "triathlon results archive --models same"
    place.expect(f"gate --baseline good --candidate same --suites {SUITE}", 2, archive)
    assert len(place.requests) == before
