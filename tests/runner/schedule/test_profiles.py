"""Which tasks a profile takes."""

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triathlon_runner import catalogue, models_yaml
from triathlon_runner.schedule import PROFILES, Wanted, spread
from triathlon_runner.suites import Task

MODELS_FILE = Path(__file__).parents[3] / "models.yaml"
SMALL = ("smollm2-135m-instruct", "gemma-3-270m")
TASKS = tuple(Task(f"t{number}", level=1 + number // 4) for number in range(20))


def test_a_subset_is_even_over_the_levels() -> None:
    """Ten of five levels are two of each, in the suite's order."""
    chosen = spread(TASKS, 10)
    assert Counter(task.level for task in chosen) == {1: 2, 2: 2, 3: 2, 4: 2, 5: 2}
    assert list(chosen) == sorted(chosen, key=TASKS.index)


def test_a_few_tasks_are_easy_middling_and_hard() -> None:
    """Three tasks of five levels are of the first, the third and the fifth."""
    assert [task.level for task in spread(TASKS, 3)] == [1, 3, 5]


@given(st.integers(0, 25), st.integers(0, 25))
def test_a_smaller_subset_is_part_of_a_larger_one(few: int, many: int) -> None:
    """A longer run goes on from a shorter one."""
    few, many = sorted((few, many))
    assert set(spread(TASKS, few)) <= set(spread(TASKS, many))
    assert len(spread(TASKS, many)) == min(many, len(TASKS))


def test_groups_take_turns() -> None:
    """With several inputs a program, a subset takes one input of each program before a second of any."""
    tasks = [Task(f"{program}#{number}", level=1, group=program) for program in "ab" for number in range(3)]
    assert [task.task_id for task in spread(tasks, 3)] == ["a#0", "a#1", "b#0"]


def test_a_named_suite_has_tasks_under_the_quick_profile() -> None:
    """What `quick` does not take by itself is run at its quick size where the user names it."""
    quick = PROFILES["quick"]
    left_out = [entry for entry in catalogue.entries() if entry.core and not quick.takes(entry)]
    assert {"translation/core", "evolved/core-decompose"} <= {entry.id for entry in left_out}
    assert all(len(quick.choose(entry, TASKS)) == entry.quick_tasks > 0 for entry in catalogue.entries())


@pytest.mark.parametrize(
    ("profile", "named", "asked"),
    [
        ("quick", None, ["qwen2.5-coder-0.5b-instruct", "smollm2-135m-instruct"]),
        ("standard", None, ["qwen2.5-coder-0.5b-instruct", "qwen2.5-coder-1.5b-instruct", *SMALL]),
        ("quick", ["gemma-3-270m"], ["gemma-3-270m"]),
    ],
)
def test_models_that_a_profile_asks(profile: str, named: list[str] | None, asked: list[str]) -> None:
    """A run that names no models asks those of its profile and of smaller ones; what is named is asked."""
    wanted = Wanted(PROFILES[profile], named)
    listed = [row for row in models_yaml.load(MODELS_FILE).select(named) if row.serve]
    on_any_machine = [row for row in listed if row.serve and row.serve.device == "auto"]
    assert [row.id for row in on_any_machine if wanted.why_not(row) is None] == asked
    reasons = {wanted.why_not(row) for row in on_any_machine if row.id not in asked}
    assert all(reason and "--profile standard" in reason for reason in reasons)
