"""Which tasks and models a profile takes, and which suites a run asks at another temperature."""

import re
from collections import Counter
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Final, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.fake_model import FakeModel
from support.fake_suite import FakeSuite, entry_of
from triathlon_runner import catalogue, models_yaml
from triathlon_runner.errors import UserError
from triathlon_runner.llm import Completion, Sampling
from triathlon_runner.models_yaml import ModelRow, Registry
from triathlon_runner.schedule import OpenModel, Wanted, choose, spread, why_not, work_for
from triathlon_runner.schedule._plan import ProfileName, same_as_baseline
from triathlon_runner.suites import Task

MODELS_FILE = Path(__file__).parents[3] / "models.yaml"
SMALL = ("smollm2-135m-instruct", "gemma-3-270m")
TASKS = tuple(Task(f"t{number}", level=1 + number // 4) for number in range(20))
SEEDS, LOOP = "evolved/core-seeds", "loop/core"
API: Final = {"base_url": "http://127.0.0.1:1/v1", "model": "m"}
ROW: Final[dict[str, Any]] = {"id": "m", "name": "M", "api": API}


def test_a_subset_is_even_over_levels_and_groups() -> None:
    """Ten of five levels are two of each, in order; three: easy, middling, hard; programs take turns."""
    chosen = spread(TASKS, 10)
    assert Counter(task.level for task in chosen) == {1: 2, 2: 2, 3: 2, 4: 2, 5: 2}
    assert list(chosen) == sorted(chosen, key=TASKS.index)
    assert [task.level for task in spread(TASKS, 3)] == [1, 3, 5]
    tasks = [Task(f"{program}#{number}", level=1, group=program) for program in "ab" for number in range(3)]
    assert [task.task_id for task in spread(tasks, 3)] == ["a#0", "a#1", "b#0"]


@given(st.integers(0, 25), st.integers(0, 25))
def test_a_smaller_subset_is_part_of_a_larger_one(few: int, many: int) -> None:
    """A longer run goes on from a shorter one."""
    few, many = sorted((few, many))
    assert set(spread(TASKS, few)) <= set(spread(TASKS, many))
    assert len(spread(TASKS, many)) == min(many, len(TASKS))


def test_rows_that_cannot_be_asked(tmp_path: Path) -> None:
    """Of a path that has nothing, which is known before vLLM is installed; from its day on a retired one."""
    weights, template, python = tmp_path / "m.gguf", tmp_path / "chat.jinja", tmp_path / "python"
    serve = {"engine": "vllm", "weights": {"path": weights}, "chat_template": template, "python": python}
    row = ModelRow.model_validate({"id": "a", "serve": serve})
    for what, path in (("weights", weights), ("chat template", template), ("interpreter", python)):
        assert why_not(row) == f"no {what}: nothing is at '{path}'"
        path.touch()
    assert why_not(row) is None
    for day, reason in (("2026-10", "retired 2026-10, as its row says"), ("9999-01-01", None)):
        assert why_not(row.model_copy(update={"retired": day})) == reason


def test_a_named_suite_has_tasks_under_the_quick_profile() -> None:
    """What `quick` does not take by itself is run at its quick size where the user names it."""
    quick, suite = Wanted("quick"), FakeSuite(tasks=TASKS)
    left_out = {entry.id for entry in catalogue.entries() if entry.core and not quick.takes(entry)}
    assert {"translation/core", "evolved/core-decompose"} <= left_out
    for entry in catalogue.entries():
        assert len(choose(entry, suite, quick).chosen) == entry.quick_tasks > 0


@pytest.mark.parametrize(
    ("profile", "named", "asked"),
    [
        ("quick", None, ["qwen2.5-coder-0.5b-instruct", "smollm2-135m-instruct"]),
        ("standard", None, ["qwen2.5-coder-0.5b-instruct", "qwen2.5-coder-1.5b-instruct", *SMALL]),
        ("quick", ["gemma-3-270m"], ["gemma-3-270m"]),
    ],
)
def test_models_that_a_profile_asks(profile: ProfileName, named: list[str] | None, asked: list[str]) -> None:
    """A run that names no models asks those of its profile and of smaller ones; what is named is asked."""
    wanted = Wanted(profile, named)
    rows = models_yaml.load(MODELS_FILE).select(named)
    on_any_machine = [row for row in rows if row.serve and row.serve.device == "auto"]
    assert [row.id for row in on_any_machine if wanted.why_not(row) is None] == asked
    reasons = {wanted.why_not(row) for row in on_any_machine if row.id not in asked}
    assert all(reason and "--profile standard" in reason for reason in reasons)


@pytest.mark.parametrize(
    ("suites", "row", "asked"),
    [
        ([SEEDS], {}, [SEEDS]),
        ([SEEDS], {"temperature": 0.8}, [SEEDS]),
        (None, {}, [entry.id for entry in catalogue.select() if Wanted("quick").takes(entry)]),
        ([LOOP], {}, UserError("'loop/core': its settings fix the temperature")),
        ([SEEDS], {"temperature": 0.2}, UserError("'m' is asked at temperature 0.2")),
    ],
)
def test_suites_at_the_users_temperature(
    suites: list[str] | None, row: dict[str, Any], asked: list[str] | UserError
) -> None:
    """Each becomes the suite at that temperature; what fixes its own is an error where somebody named it."""
    rows = (ModelRow.model_validate({**ROW, **row}),)
    wanted = Wanted("quick", suites=suites, samples=5, temperature=0.8)
    if isinstance(asked, UserError):
        with pytest.raises(UserError, match=re.escape(str(asked))):
            wanted.entries(rows)
        return
    entries = wanted.entries(rows)
    evolved = [suite for suite in asked if suite.startswith("evolved/")]
    assert [entry.id for entry in entries] == [f"{suite}@temperature-0.8" for suite in evolved]
    assert {choose(entry, FakeSuite(), wanted).samples for entry in entries} == {5}


def test_a_suite_at_a_temperature_has_a_name(tmp_path: Path) -> None:
    """It is found and selected by its id, with the user's prompts; a wrong number is unknown."""
    (tmp_path / "evolved").mkdir()
    (tmp_path / "evolved/solve.txt").write_text("Write {{ entry_point }}: {{ prompt }}")
    (entry,) = catalogue.select([f"{SEEDS}@temperature-0.75"], prompts=tmp_path)
    assert (entry.id, entry.variant_of) == (f"{SEEDS}@temperature-0.75", SEEDS)
    own, ours = (one.build(None).protocol["asked"]["prompts"] for one in (entry, catalogue.find(entry.id)))  # type: ignore[arg-type,union-attr]
    assert own != ours
    for wrong in (f"{SEEDS}@temperature-x", "evolved/none@temperature-1", f"{SEEDS}@x-1"):
        assert catalogue.find(wrong) is None
    with pytest.raises(UserError, match="unknown suite"):
        catalogue.select([f"{SEEDS}@temperature-0.80"])


@pytest.mark.parametrize(
    ("defaults", "row", "suites", "asked"),
    [
        (None, None, 0.0, 0.0),
        (None, None, 0.8, 0.8),
        (0.0, None, 0.0, 0.0),
        (0.0, None, 0.8, 0.8),
        (0.3, None, 0.0, 0.3),
        (0.3, None, 0.8, 0.8),
        (0.3, 1.0, 0.0, 1.0),
        (None, 1.0, 0.8, 1.0),
        (0.3, 0.0, 0.8, 0.0),
    ],
)
async def test_whose_temperature_counts(
    defaults: float | None, row: float | None, suites: float, asked: float
) -> None:
    """A row's own before the suite's; the defaults' stands for greedy. Another one is another protocol."""
    content = {"defaults": {"temperature": defaults}, "models": [{**ROW, "temperature": row}]}
    registry = Registry.model_validate(content)
    fake = FakeModel(str, id="m")
    sampling = partial(registry.sampling, registry.models[0])
    opened = OpenModel(cast(Any, fake), "a test", "m", slots=1, sampling=sampling)
    await opened.ask(Completion("q"), Sampling(8, temperature=suites))
    assert [sampling.temperature for _, sampling, _ in fake.asked] == [asked]
    suite = FakeSuite()
    entry = replace(entry_of(suite), sampling=Sampling(8, temperature=suites))
    (work,) = work_for(registry, registry.models[0], [choose(entry, suite, Wanted())])
    of_suite = suite.protocol["asked"]["temperature"]
    assert work.settings["asked"]["temperature"] == (of_suite if asked == suites else asked)


def test_a_judge_is_asked_as_its_own_row_says() -> None:
    """Loops that it judged at another temperature or token limit are loops of another judge."""
    judge = {**ROW, "id": "j", "temperature": 1.0, "max_tokens": 9}
    registry, (entry,) = Registry.model_validate({"models": [ROW, judge]}), catalogue.select([LOOP])
    built = choose(entry, entry.build(cast(Any, None)), Wanted(limit=1))
    (work,) = work_for(registry, registry.models[0], [built], FakeModel(str, id="j"))
    assert work.settings["judge"].items() >= {"model": "j", "temperature": 1.0, "max_tokens": 9}.items()
    with pytest.raises(UserError, match="unknown model 'k'"):
        work_for(registry, registry.models[0], [built], FakeModel(str, id="k"))


@pytest.mark.parametrize(
    ("row", "asked"),
    [
        ({}, {"temperatures", "sampling", "prompts"}),
        ({"temperature": 1.0}, {"sampling", "prompts"}),
        ({"temperature": 0}, {"prompts"}),
        ({"api": {**API, "unsupported": ["temperature"]}}, {"sampling", "prompts"}),
    ],
)
def test_variants_that_would_be_none(row: dict[str, Any], asked: set[str]) -> None:
    """A model of one temperature is not asked for others; of temperature 0 not for samples either."""
    model = ModelRow.model_validate({**ROW, **row})
    reasons = {kind: same_as_baseline(kind, model) for kind in ("temperatures", "sampling", "prompts")}
    assert {kind for kind, reason in reasons.items() if not reason} == asked
    if "sampling" not in asked:
        assert "asked at temperature 0, whatever" in reasons["sampling"]
