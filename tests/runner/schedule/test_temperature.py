"""`--temperature`: which suites a run asks at it, and when it refuses."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, cast

import pytest

from support.fake_suite import FakeModel, FakeSuite, entry_of
from triathlon_runner import catalogue
from triathlon_runner.errors import UserError
from triathlon_runner.llm import Completion, Sampling
from triathlon_runner.models_yaml import ModelRow, Registry
from triathlon_runner.schedule import PROFILES, OpenModel, choose, work_for
from triathlon_runner.schedule._plan import same_as_baseline, suites_at_temperature

API: Final = {"base_url": "http://127.0.0.1:1/v1", "model": "m"}
QUICK = PROFILES["quick"]
ROW: Final[dict[str, Any]] = {"id": "m", "name": "M", "api": API}


SEEDS, SUBTLE, LOOP = "evolved/core-seeds", "evolved/core-subtle", "loop/core"


@pytest.mark.parametrize(
    ("suites", "named", "row", "asked"),
    [
        ([SEEDS], True, {}, SEEDS),
        ([SEEDS], True, {"temperature": 0.8}, SEEDS),
        ([LOOP, SUBTLE], False, {}, SUBTLE),
        ([LOOP], True, {}, UserError("'loop/core': its settings fix the temperature")),
        ([SEEDS], True, {"temperature": 0.2}, UserError("'m' is asked at temperature 0.2")),
    ],
)
def test_suites_at_the_users_temperature(
    suites: list[str], named: bool, row: dict[str, Any], asked: str | UserError
) -> None:
    """Each becomes the suite at that temperature; what fixes its own is an error where somebody named it."""
    rows = (ModelRow.model_validate({**ROW, **row}),)
    profile = QUICK.with_own(samples=5, temperature=0.8)

    def at_temperature() -> list[tuple[str, int]]:
        entries = suites_at_temperature(catalogue.select(suites), rows, profile, named=named)
        return [(entry.id, profile.samples(entry)) for entry in entries]

    if isinstance(asked, UserError):
        with pytest.raises(UserError, match=re.escape(str(asked))):
            at_temperature()
    else:
        assert at_temperature() == [(f"{asked}@temperature-0.8", 5)]


def test_a_suite_at_a_temperature_has_a_name() -> None:
    """Its results can be found, and it can be selected, by the id that it got; a wrong number is unknown."""
    (entry,) = catalogue.select(["evolved/core-seeds@temperature-0.75"])
    assert (entry.id, entry.variant_of) == ("evolved/core-seeds@temperature-0.75", "evolved/core-seeds")
    for wrong in ("evolved/core-seeds@temperature-x", "evolved/none@temperature-1", "evolved/core-seeds@x-1"):
        assert catalogue.find(wrong) is None
    with pytest.raises(UserError, match="unknown suite"):
        catalogue.select(["evolved/core-seeds@temperature-0.80"])


def test_prompts_of_the_users_own(tmp_path: Path) -> None:
    """A folder of prompts goes along to the suite at a temperature."""
    folder = tmp_path / "evolved"
    folder.mkdir()
    (folder / "solve.txt").write_text("Write {{ entry_point }}: {{ prompt }}")
    (entry,) = catalogue.select(["evolved/core-seeds@temperature-0.5"], prompts=tmp_path)
    own, ours = (one.build(None).protocol["asked"]["prompts"] for one in (entry, catalogue.find(entry.id)))  # type: ignore[arg-type,union-attr]
    assert own != ours


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
def test_whose_temperature_counts(
    defaults: float | None, row: float | None, suites: float, asked: float
) -> None:
    """A row's own goes before the suite's; the defaults' stands for greedy, and leaves sampling alone.

    Where it is another than the suite's, results are of a protocol of their own.
    """
    registry = Registry.model_validate(
        {"defaults": {"temperature": defaults}, "models": [{**ROW, "temperature": row}]}
    )
    assert registry.temperature(registry.models[0], suites) == asked
    suite = FakeSuite()
    entry = replace(entry_of(suite), sampling=Sampling(8, temperature=suites))
    built = choose(entry, suite, PROFILES["standard"])
    (work,) = work_for(registry, registry.models[0], [built])
    of_suite = suite.protocol["asked"]["temperature"]
    assert work.settings["asked"]["temperature"] == (of_suite if asked == suites else asked)


async def test_the_designs_defaults_change_nothing(tmp_path: Path) -> None:
    """`defaults: {temperature: 0}` asks greedy suites greedily and lets `@sampled` sample."""
    registry = Registry.model_validate({"defaults": {"temperature": 0}, "models": [ROW]})
    fake = FakeModel("m", lambda text: text)
    row = OpenModel(
        cast(Any, fake),
        served_by="a test",
        served_model="m",
        slots=1,
        temperature=lambda suites: registry.temperature(registry.models[0], suites),
    )
    for suites in (0.0, 0.8):
        await row.ask(Completion("q"), Sampling(8, temperature=suites))
    assert fake.temperatures == [0.0, 0.8]


def variants_of(row: dict[str, Any]) -> tuple[list[str], dict[str, str]]:
    """The variants that a row is asked, and those that it is not, with the reason."""
    kinds = ("temperatures", "sampling", "prompts")
    reasons = {kind: same_as_baseline(kind, ModelRow.model_validate({**ROW, **row})) for kind in kinds}
    return [kind for kind in kinds if not reasons[kind]], {kind: why for kind, why in reasons.items() if why}


def test_variants_that_would_be_none() -> None:
    """A model of one temperature is not asked for others; of temperature 0 not for samples either."""
    assert variants_of({}) == (["temperatures", "sampling", "prompts"], {})
    assert variants_of({"temperature": 1.0})[0] == ["sampling", "prompts"]
    kept, skipped = variants_of({"temperature": 0})
    assert kept == ["prompts"]
    assert "asked at temperature 0, whatever" in skipped["sampling"]
    api = {"api": {**API, "unsupported": ["temperature"]}}
    assert variants_of(api)[0] == ["sampling", "prompts"]
