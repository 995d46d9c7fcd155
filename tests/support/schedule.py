"""One results folder and everything around a run of the schedule."""

from pathlib import Path
from typing import Any, cast
from unittest.mock import Mock

from support.fake_model import FakeModel
from support.fake_suite import GRADER, FakeOpener, FakeSuite, entry_of
from triathlon_runner.models_yaml import ModelRow, Registry
from triathlon_runner.records import Manifest, UnitRecord
from triathlon_runner.schedule import (
    ConsoleProgress,
    Control,
    Runner,
    RunPlan,
    Summary,
    Wanted,
    choose,
    work_for,
)
from triathlon_runner.store import ResultsFolder, read_records

ROW = ModelRow.model_validate(
    {"id": "m", "name": "M", "api": {"base_url": "http://127.0.0.1:1/v1", "model": "m"}}
)


class Bench:
    """One results folder and everything around a run."""

    def __init__(self, root: Path, suite: FakeSuite, model: FakeModel, row: ModelRow = ROW) -> None:
        self.folder = ResultsFolder(root)
        self.suite = suite
        self.finished_suites: list[FakeSuite] = []
        """Planned, too, before the suite."""
        self.model = model
        self.row = row
        self.rows: list[ModelRow] = []
        """Where given, these models run in place of the one row."""
        self.opener = FakeOpener(model)
        self.said: list[str] = []
        self.control = Control()

    def plan(self, limit: int | None = None) -> RunPlan:
        wanted = Wanted(limit=limit)
        built = [choose(entry_of(suite), suite, wanted) for suite in (*self.finished_suites, self.suite)]
        rows = self.rows or [self.row]
        work = {row.id: work_for(Registry(models=(row,)), row, built) for row in rows}
        return RunPlan(work, wanted)

    async def run(self, limit: int | None = None) -> Summary:
        plan = self.plan(limit)
        progress = Mock(spec=ConsoleProgress)
        progress.say.side_effect = self.said.append
        progress.failed.side_effect = lambda _model, _suite, reason: self.said.append(reason)
        progress.broke.side_effect = lambda unit, _error: self.said.append(unit)
        self.runner = Runner(self.folder, GRADER, cast(Any, self.opener), progress, plan, self.control)
        return await self.runner.run()

    def manifest(self) -> Manifest:
        found = self.folder.read_manifest("m", self.suite.id)
        assert found is not None
        return found

    def records(self) -> list[UnitRecord]:
        return list(read_records(self.folder.lines("m", self.suite.id), UnitRecord))
