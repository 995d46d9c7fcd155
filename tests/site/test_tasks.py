"""Tasks by ease and separation; noise budgets of several samples a task."""

import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import pearsonr
from typer.testing import CliRunner

import triathlon_site.cli  # noqa: F401  adds its commands
from support.aggregates import aggregate
from support.results import FakeModel, FakeSuite, fake_manifest, fake_records, write_results
from support.user_problems import ROW, write_problems
from triathlon_runner import catalogue
from triathlon_runner.catalogue import BUILT_IN, read_catalogue
from triathlon_runner.cli import app
from triathlon_runner.noise import noise_budget
from triathlon_site.load import FileAggregate
from triathlon_site.tasks import SuiteTasks, score_noise, suite_tasks

(SEEDS,) = catalogue.select(["evolved/core-seeds"])
(LOOP,) = catalogue.select(["loop/core"])


def solved(**rows: str) -> SuiteTasks:
    """Rows of 0, 1 and - (not run) by model, a sign a task, named a, b, c and so on."""
    files = {
        model: aggregate(
            model,
            SEEDS.id,
            {"pass@1": {chr(97 + i): float(sign) for i, sign in enumerate(row) if sign != "-"}},
        )
        for model, row in rows.items()
    }
    found = suite_tasks(SEEDS, files, list(rows))
    assert found
    return found


FIVE = solved(m1="11110", m2="11100", m3="11000", m4="10010", m5="10011")


def test_tasks_by_ease_and_separation() -> None:
    """The easiest first, then by name. Separation is Pearson’s r of a task with the mean of the other tasks,
    as scipy has it; none where all solve it.
    """
    assert [task.task for task in FIVE.tasks] == ["a", "b", "d", "c", "e"]
    assert FIVE.tasks[0].solved == 5 and FIVE.tasks[0].mean == 1.0
    scores = np.array([[1, 1, 1, 1, 0], [1, 1, 1, 0, 0], [1, 1, 0, 0, 0], [1, 0, 0, 1, 0], [1, 0, 0, 1, 1]])
    by_task = {task.task: task for task in FIVE.tasks}
    assert math.isnan(by_task["a"].separation)
    for column, task in enumerate("bcde", start=1):
        rest = np.delete(scores, column, axis=1).mean(axis=1)
        expected = pearsonr(scores[:, column], rest).statistic
        assert math.isclose(by_task[task].separation, expected, abs_tol=1e-12)


def test_who_was_asked_counts() -> None:
    """The mean of a task is over those who were asked; its separation is over those with other tasks, too, of
    whom there are five or more.
    """
    (task,) = (task for task in solved(m1="1-", m2="11", m3="10").tasks if task.task == "b")
    assert (task.models, task.mean) == (2, 0.5) and math.isnan(task.separation)
    of_five = {"m1": "1111", "m2": "1110", "m3": "1100", "m4": "1000", "m5": "0010"}
    one, two = solved(**of_five), solved(**of_five, m6="---1")
    assert [task.separation for task in one.tasks] == [task.separation for task in two.tasks]
    assert not math.isnan(two.tasks[0].separation)


def test_a_loop_suite_tells_the_loops_sustained() -> None:
    """The points of the degradation curve sum to them; the score is plain pass@1."""
    curve = ["pass_at_1", *(f"sustain_{loop}" for loop in range(2, 11))]
    metrics = {name: {"a": float(place < 4), "b": 0.0} for place, name in enumerate(curve)}
    found = suite_tasks(LOOP, {"m": aggregate("m", LOOP.id, metrics)}, ["m"])
    assert found and found.metric.id == "pass_at_1"
    assert {task.task: task.loops for task in found.tasks} == {"a": 4.0, "b": 0.0}


SUITE = SEEDS.id


def repeated(model: str, solved: list[int]) -> FileAggregate:
    """Tasks with four samples each, of which so many passed."""
    outcomes = [[1.0] * count + [0.0] * (4 - count) for count in solved]
    values = [value for own in outcomes for value in own]
    numerators = {f"task {place}": sum(own) / 4 for place, own in enumerate(outcomes)}
    file = aggregate(model, SUITE, {"pass@1": numerators}, outcomes={"passed": len(values)})
    task = [f"task {place // 4}" for place in range(len(values))]
    return replace(file, columns=replace(file.columns, task=task, scores={"pass@1": np.array(values)}))


def test_budgets_are_those_of_the_samples() -> None:
    """The headline's value of each sample, task by task; none of one sample a task."""
    files = [repeated("a", [4, 0, 4, 0]), repeated("b", [2, 2, 2, 2]), repeated("c", [4, 2, 0, 1])]
    alone = aggregate("d", SUITE, {"pass@1": {"task 0": 1.0}})
    found = score_noise([*files, alone], BUILT_IN)
    assert [(one.model, one.metric) for one in found] == [(name, "pass@1") for name in "abc"]
    assert found[2].budget == noise_budget([[1, 1, 1, 1], [1, 1, 0, 0], [0] * 4, [1, 0, 0, 0]])


def test_copies_of_one_reply_have_no_budget() -> None:
    """Samples that were asked at temperature 0 are one reply: they do not say that sampling has no part."""
    suite = FakeSuite(SEEDS, tasks=6, samples=2)
    greedy = fake_manifest("a", SUITE, list(fake_records(FakeModel("a"), suite)))
    files = [repeated("a", [4, 2, 0, 1])]
    assert score_noise([replace(files[0], manifest=greedy)], BUILT_IN) == []
    warm = greedy.model_copy(update={"settings": {"asked": {"temperature": 0.7}}})
    unset = greedy.model_copy(update={"identity": {"unsupported": ["temperature"]}})
    for manifest in (warm, unset):
        changed = [replace(files[0], manifest=manifest)]
        assert score_noise(changed, BUILT_IN) == score_noise(files, BUILT_IN)


def test_scores_as_json_have_the_budget(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`scores --json` has the variances, half widths and the sentence of each suite with repeats, also of one
    on the user's own problems.
    """
    monkeypatch.setenv("TRIATHLON_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "suites.yaml").write_text(ROW)
    write_problems(tmp_path / "mine.jsonl")
    mine = read_catalogue(tmp_path / "suites.yaml").find("evolved/mine")
    assert mine
    suites = [FakeSuite(entry, tasks=30, samples=3) for entry in (SEEDS, mine)]
    write_results(tmp_path / "results", [FakeModel("a", 0.5)], suites)
    result = CliRunner().invoke(app, ["scores", "--json"])
    assert result.exit_code == 0, result.output
    row, of_user = json.loads(result.stdout)["noise"]
    assert (of_user["model"], of_user["suite"], of_user["samples"]) == ("a", "evolved/mine", 3)
    assert (row["model"], row["suite"], row["tasks"], row["samples"]) == ("a", SUITE, 30, 3)
    assert row["half_width"] < row["half_width_one_sample"]
    assert row["sentence"].startswith(f"3 repeats narrow ±{100 * row['half_width_one_sample']:.1f} to")
