"""What an entry of the catalogue states of its suite is what the suite does."""

from dataclasses import replace
from pathlib import Path
from typing import Final

import pytest

from support.case_files import rows
from support.fake_model import FakeModel
from support.hashes import hashes
from support.suite_tables import REMEDY, TABLE, stated
from triathlon_runner import catalogue
from triathlon_runner.datasets import DataStore
from triathlon_runner.grading import Grader
from triathlon_runner.llm import EndpointError, ModelKind
from triathlon_runner.schedule import Wanted, build_suite
from triathlon_runner.suites import UnitRun

SUITES: Final = (
    "loop/core",
    "loop/core@temperature-0.4",
    "translation/core",
    "evolved/core-seeds",
    "evolved/core-seeds@temperature-0.8",
    *("mine.json", "mine.json@cot", "mine.json@sampled"),
)
"""The last ones ask questions of a file of the user's own."""


@pytest.mark.parametrize("kind", ["instruct", "base"])
@pytest.mark.parametrize("suite", SUITES)
async def test_a_suite_asks_as_its_entry_says(
    suite: str, kind: ModelKind, grader: Grader, question_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All questions of a unit's sample, several in runtime; without an answer there is no record."""
    monkeypatch.chdir(question_file.parent)
    (entry,) = catalogue.select([suite])
    model = FakeModel(lambda _: "", kind)
    data = DataStore(cache=Path("nowhere"), fetch=False)
    built = await build_suite(entry, data, grader, Wanted(limit=1))
    unit = UnitRun(built.chosen[0].task_id, 3, model, grader, hashes("hash"))
    await built.suite.run(unit)
    asked = [(sampling, sample) for _, sampling, sample in model.asked]
    assert set(asked) == {(entry.sampling_of(kind), 3)}
    assert (len(asked) > 1) is suite.startswith("mine.json")
    with pytest.raises(EndpointError, match="503"):
        await built.suite.run(replace(unit, model=FakeModel(lambda _: EndpointError("503"), kind)))


def test_the_catalogue_is_that_of_the_table() -> None:
    """Suites, their variants, samples, temperatures and seeds, and which need no download."""
    assert stated() == rows(TABLE), REMEDY


def test_every_suite_names_one_headline() -> None:
    """A board ranks by one metric; where a metric is the lower end of a range, the upper end is there."""
    for entry in catalogue.entries():
        roles = [metric.role for metric in entry.metrics]
        by_id = {metric.id: metric.role for metric in entry.metrics}
        assert roles.count("headline") == 1 or roles == ["baseline"], entry.id  # an attack has only pass@1
        assert [by_id[m.upper] for m in entry.metrics if m.upper] == ["upper_end"] * roles.count("upper_end")
