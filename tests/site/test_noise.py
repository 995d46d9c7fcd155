"""Noise budgets of results with several samples a task."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import triathlon_site.cli  # noqa: F401  adds its commands
from support.aggregates import aggregate
from support.results import FakeModel, FakeSuite, fake_manifest, fake_records, write_results
from triathlon_runner.catalogue import find
from triathlon_runner.cli import app
from triathlon_runner.noise import noise_budget
from triathlon_site.load import FileAggregate
from triathlon_site.noise import score_noise, suite_noise

SUITE = "evolved/core-seeds"


def repeated(model: str, solved: list[int]) -> FileAggregate:
    """Tasks with four samples each, of which so many passed."""
    outcomes = [[1.0] * count + [0.0] * (4 - count) for count in solved]
    values = [value for own in outcomes for value in own]
    numerators = {f"task {place}": sum(own) / 4 for place, own in enumerate(outcomes)}
    file = aggregate(model, SUITE, {"pass@1": numerators}, outcomes={"passed": len(values)})
    columns: dict[str, Any] = {
        "pass@1": values,
        "task": [f"task {place // 4}" for place in range(len(values))],
    }
    return replace(file, frame=file.frame.assign(**columns))


def test_budget_is_that_of_the_samples() -> None:
    """The headline's value of each sample, task by task."""
    (found,) = score_noise([repeated("a", [4, 2, 0, 1])])
    assert found.metric == "pass@1"
    assert found.budget == noise_budget([[1, 1, 1, 1], [1, 1, 0, 0], [0] * 4, [1, 0, 0, 0]])


def test_one_sample_a_task_has_no_budget() -> None:
    """Where every task has one sample, nothing can be said."""
    assert score_noise([aggregate("a", SUITE, {"pass@1": {"task 0": 1.0}})]) == []


def test_copies_of_one_reply_have_no_budget() -> None:
    """Samples that were asked at temperature 0 are one reply: they do not say that sampling has no part."""
    entry = find(SUITE)
    assert entry is not None
    suite = FakeSuite(entry, tasks=6, samples=2)
    greedy = fake_manifest("a", SUITE, list(fake_records(FakeModel("a"), suite)))
    files = [repeated("a", [4, 2, 0, 1])]
    assert score_noise([replace(files[0], manifest=greedy)]) == []
    warm = greedy.model_copy(update={"settings": {"asked": {"temperature": 0.7}}})
    unset = greedy.model_copy(update={"identity": {"unsupported": ["temperature"]}})
    for manifest in (warm, unset):
        assert score_noise([replace(files[0], manifest=manifest)]) == score_noise(files)


def test_a_suite_is_summed_up_by_its_median_model() -> None:
    """Least, median and largest share of sampling, of three models."""
    files = [repeated("a", [4, 0, 4, 0]), repeated("b", [2, 2, 2, 2]), repeated("c", [4, 2, 0, 1])]
    (found,) = suite_noise(files)
    least, middle, largest = found.sampling_share
    assert (found.models, found.tasks, found.samples) == (3, 4, 4)
    assert (least, largest) == (0, 1)
    assert middle == score_noise(files)[2].budget.sampling_share


def test_scores_as_json_have_the_budget(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`scores --json` has the variances, half widths and the sentence of each suite with repeats."""
    monkeypatch.setenv("TRIATHLON_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    entry = find(SUITE)
    assert entry is not None
    write_results(tmp_path / "results", [FakeModel("a", 0.5)], [FakeSuite(entry, tasks=30, samples=3)])
    result = CliRunner().invoke(app, ["scores", "--json"])
    assert result.exit_code == 0, result.output
    (row,) = json.loads(result.stdout)["noise"]
    assert (row["model"], row["suite"], row["tasks"], row["samples"]) == ("a", SUITE, 30, 3)
    assert row["half_width"] < row["half_width_one_sample"]
    assert row["sentence"].startswith(f"3 repeats narrow ±{100 * row['half_width_one_sample']:.1f} to")
