"""What an entry of the catalogue states of its suite is what the suite does."""

import asyncio
from pathlib import Path
from typing import Final

import pytest

from support.built_questions import build
from support.case_files import rows
from support.fake_model import FakeModel
from support.hashes import hashes
from support.suite_tables import REMEDY, TABLE, stated
from triathlon_runner import catalogue
from triathlon_runner.datasets import DataStore
from triathlon_runner.grading import Grader
from triathlon_runner.llm import ModelKind
from triathlon_runner.schedule import Wanted, build_suite
from triathlon_runner.suites import UnitRun

SUITES: Final = (
    "loop/core",
    "loop/core@temperature-0.4",
    "translation/core",
    "evolved/core-seeds",
    "evolved/core-seeds@temperature-0.8",
    *("own.json", "own.json@cot", "own.json@sampled"),
)
"""The last ones ask questions of a file of the user's own."""


@pytest.fixture(scope="module")
def questions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a file of questions."""
    folder = tmp_path_factory.mktemp("questions")
    asyncio.run(build(folder / "own.json"))
    return folder


@pytest.mark.parametrize("kind", ["instruct", "base"])
@pytest.mark.parametrize("suite", SUITES)
async def test_a_suite_asks_as_its_entry_says(
    suite: str, kind: ModelKind, grader: Grader, questions: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All questions of a unit, which are several in the runtime discipline."""
    monkeypatch.chdir(questions)
    (entry,) = catalogue.select([suite])
    model = FakeModel(lambda _: "", kind)
    data = DataStore(cache=Path("nowhere"), fetch=False)
    built = await build_suite(entry, data, grader, Wanted(limit=1))
    await built.suite.run(UnitRun(built.chosen[0].task_id, 0, model, grader, hashes("hash")))
    asked = [sampling for _, sampling, _ in model.asked]
    assert set(asked) == {entry.sampling_of(kind)}
    assert (len(asked) > 1) is suite.startswith("own.json")


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
