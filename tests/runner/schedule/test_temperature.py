"""`--temperature`: which suites a run asks at it, and when it refuses."""

from pathlib import Path
from typing import Any

import pytest

from support.fake_suite import FakeSuite, entry_of
from triathlon_runner import catalogue
from triathlon_runner.errors import UserError
from triathlon_runner.registry import ModelRow, Registry
from triathlon_runner.schedule import PROFILES
from triathlon_runner.schedule._build import at_temperature

QUICK = PROFILES["quick"]
ROW = {"id": "m", "name": "M", "api": {"base_url": "http://127.0.0.1:1/v1", "model": "m"}}


def _ids(suites: list[str], *, named: bool = True, **row: Any) -> list[str]:
    registry = Registry(models=(ModelRow.model_validate({**ROW, **row}),))
    profile = QUICK.with_own(samples=5, temperature=0.8)
    asked = at_temperature(catalogue.select(suites), registry.models, registry, profile, named=named)
    return [entry.id for entry in asked]


def test_evolved_suites_are_asked_at_the_temperature() -> None:
    """Each becomes the suite at that temperature, with results of its own."""
    assert _ids(["evolved/core-seeds"]) == ["evolved/core-seeds@temperature-0.8"]
    assert (
        QUICK.with_own(samples=5, temperature=0.8).samples(catalogue.select(["evolved/core-seeds"])[0]) == 5
    )


def test_suites_whose_protocol_fixes_it() -> None:
    """Named, such a suite is the user's error; else it is left out: nobody asked for it so."""
    with pytest.raises(UserError, match="'loop/core': its protocol fixes the temperature"):
        _ids(["loop/core"])
    both = ["loop/core", "evolved/core-subtle"]
    assert _ids(both, named=False) == ["evolved/core-subtle@temperature-0.8"]


def test_a_row_with_another_temperature() -> None:
    """A row's own temperature would replace the one asked for: said before anything is asked."""
    with pytest.raises(UserError, match=r"'m' is asked at temperature 0\.2"):
        _ids(["evolved/core-seeds"], temperature=0.2)
    assert _ids(["evolved/core-seeds"], temperature=0.8) == ["evolved/core-seeds@temperature-0.8"]


def test_without_the_option_nothing_changes() -> None:
    """The suites stay as they are."""
    entry = entry_of(FakeSuite())
    registry = Registry(models=())
    assert at_temperature([entry], (), registry, QUICK, named=True) == [entry]


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
    own, ours = (one.build(None).protocol("instruct")["prompts"] for one in (entry, catalogue.find(entry.id)))  # type: ignore[arg-type,union-attr]
    assert own != ours
