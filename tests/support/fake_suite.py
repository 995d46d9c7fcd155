"""A suite whose every part a test decides, and what a run needs around it."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any, cast

from support.fake_model import FakeModel
from triathlon_runner.grading import Grader
from triathlon_runner.llm import Chat, Message, Model, ModelKind, Sampling
from triathlon_runner.metrics import pass_at_k_metric
from triathlon_runner.models_yaml import ModelRow
from triathlon_runner.records import Outcome, UnitRecord
from triathlon_runner.schedule import OpenModel
from triathlon_runner.suites import (
    DataSetInfo,
    SuiteEntry,
    Task,
    UnitRun,
    asked_settings,
    graded_settings,
    request_settings,
)

SAMPLING = Sampling(max_tokens=5)
GRADER = cast(Grader, SimpleNamespace(sandbox=SimpleNamespace(level="lite")))
"""Of a suite that executes nothing."""


class FakeSuite:
    """Asks the task's own name once; the outcome is `passed` where the model echoes it."""

    data = DataSetInfo("fake", "1", "0" * 64)

    def __init__(
        self, suite_id: str = "evolved/fake", tasks: Sequence[Task] = (Task("a"), Task("b"))
    ) -> None:
        self.id = suite_id
        self._tasks = tasks
        self.version = 1

    def tasks(self) -> Sequence[Task]:
        return self._tasks

    @property
    def protocol(self) -> Mapping[str, Mapping[str, Any]]:
        asked = asked_settings(self.data, SAMPLING, "", version=self.version)
        return {"asked": asked, "graded": graded_settings(self.data)}

    def settings(self, kind: ModelKind, _judge: str | None = None) -> Mapping[str, Any]:
        return request_settings(kind, SAMPLING)

    async def run(self, unit: UnitRun) -> UnitRecord:
        answer = await unit.model.ask(Chat((Message("user", unit.task_id),)), SAMPLING)
        return UnitRecord(
            **unit.record_fields(self.id),
            outcome=Outcome.PASSED if answer.reply.text == unit.task_id else Outcome.FAILED,
            usage=answer.usage,
        )


def entry_of(suite: FakeSuite) -> SuiteEntry:
    metrics = (replace(pass_at_k_metric(1, "a test"), role="baseline"),)  # no headline, as suites of attacks
    fields: Any = {"metrics": metrics, "record": UnitRecord, "core": True}
    return SuiteEntry(suite.id, "Fake", "evolved", build=lambda _: suite, sampling=SAMPLING, **fields)


@dataclass
class FakeOpener:
    """Reaches one fake model, whatever the row; counts how often."""

    model: FakeModel
    opened: int = 0
    served_by: str = "a test"
    weights: str = ""

    @asynccontextmanager
    async def open(self, row: ModelRow) -> AsyncIterator[OpenModel]:
        self.opened += 1
        model = cast(Model, self.model)
        yield OpenModel(model, self.served_by, "fake", slots=2, weights=self.weights)
