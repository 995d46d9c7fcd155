"""Units that ask often, one question after another or several at once, against a real endpoint."""

from pathlib import Path
from typing import cast

from support.fake_model import FakeModel
from support.fake_suite import FakeOpener, FakeSuite
from support.schedule import Bench
from triathlon_runner.concurrency import run_all
from triathlon_runner.llm import Chat, Message, ReplyCache, Sampling
from triathlon_runner.models_yaml import ModelRow, Registry
from triathlon_runner.records import Outcome, UnitRecord, Usage
from triathlon_runner.schedule import Control, ModelOpener, Summary
from triathlon_runner.suites import Task, UnitRun

QUESTIONS = 19
"""Requests of a loop of ten that passes to its end."""


class LongSuite(FakeSuite):
    """Each unit asks `QUESTIONS` things: one after another, as a loop does, or at once."""

    def __init__(self, units: int, *, at_once: bool = False) -> None:
        super().__init__(tasks=[Task(f"task {number}") for number in range(units)])
        self._at_once = at_once

    async def run(self, unit: UnitRun) -> UnitRecord:
        async def ask(number: int) -> Usage:
            question = Chat((Message("user", f"{unit.task_id}, question {number}"),))
            return (await unit.model.ask(question, Sampling(max_tokens=5))).usage

        numbers = range(QUESTIONS)
        usages = await run_all(map(ask, numbers)) if self._at_once else [await ask(n) for n in numbers]
        return UnitRecord(**unit.record_fields(self.id), outcome=Outcome.PASSED, usage=sum(usages, Usage()))


class LongRun(Bench):
    """One results folder; each call runs what is open, as the command does."""

    def __init__(self, root: Path, suite: FakeSuite, concurrency: int = 32) -> None:
        super().__init__(root / "results", suite, FakeModel(str, id="m"))
        self._root, self._concurrency = root, concurrency

    async def __call__(self, base_url: str, control: Control | None = None) -> Summary:
        self.row = ModelRow.model_validate(
            {
                "id": "m",
                "api": {"base_url": base_url, "model": "scripted", "concurrency": self._concurrency},
                "price": {"input": 1.0, "output": 1.0},
            }
        )
        registry, self.control = Registry(models=(self.row,)), control or Control()
        with ReplyCache(self._root / "replies.sqlite") as replies:
            opener = ModelOpener(registry, replies, self._root, self.said.append, control=self.control)
            self.opener = cast(FakeOpener, opener)
            return await self.run()
