"""Units that ask often, one question after another or several at once, against a real endpoint."""

import asyncio
import io
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path

from rich.console import Console

from support.fake_suite import GRADER, FakeSuite, entry_of
from triathlon_runner.grading import Grader
from triathlon_runner.llm import Chat, Message, Model, ReplyCache, Sampling
from triathlon_runner.models_yaml import ModelRow, Registry
from triathlon_runner.records import Manifest, Outcome, ProtocolHashes, UnitRecord, Usage
from triathlon_runner.schedule import (
    PROFILES,
    ConsoleProgress,
    Control,
    ModelOpener,
    Runner,
    RunPlan,
    Summary,
    choose,
    work_for,
)
from triathlon_runner.store import ResultsFolder
from triathlon_runner.suites import Task

QUESTIONS = 19
"""Requests of a loop of ten that passes to its end."""


class LongSuite(FakeSuite):
    """Each unit asks `QUESTIONS` things: one after another, as a loop does, or at once."""

    def __init__(self, units: int, *, at_once: bool = False) -> None:
        super().__init__(tasks=[Task(f"task {number}") for number in range(units)])
        self._at_once = at_once

    async def run(
        self,
        task_id: str,
        sample: int,
        model: Model,
        grader: Grader,
        protocol: ProtocolHashes,
        _judge: Model | None = None,
    ) -> UnitRecord:
        async def ask(number: int) -> Usage:
            question = Chat((Message("user", f"{task_id}, question {number}"),))
            return (await model.ask(question, Sampling(max_tokens=5))).usage

        if self._at_once:
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(ask(number)) for number in range(QUESTIONS)]
            usages: Sequence[Usage] = [task.result() for task in tasks]
        else:
            usages = [await ask(number) for number in range(QUESTIONS)]
        return UnitRecord(
            suite=self.id,
            model=model.id,
            task_id=task_id,
            protocol=protocol,
            outcome=Outcome.PASSED,
            usage=sum(usages, Usage()),
        )


@dataclass
class LongRun:
    """One results folder; each call runs what is open, as the command does."""

    root: Path
    suite: FakeSuite
    concurrency: int = 32
    price: float = 1.0
    """USD per million tokens, either way."""
    said: list[str] = field(default_factory=list)
    control: Control = field(default_factory=Control)
    """Of the last call, or the one under way."""

    async def __call__(self, base_url: str, control: Control | None = None) -> Summary:
        row = ModelRow.model_validate(
            {
                "id": "m",
                "api": {"base_url": base_url, "model": "scripted", "concurrency": self.concurrency},
                "price": {"input": self.price, "output": self.price},
            }
        )
        registry = Registry(models=(row,))
        built = choose(entry_of(self.suite), self.suite, PROFILES["standard"])
        progress = ConsoleProgress(Console(file=io.StringIO()))
        progress.say = self.said.append  # type: ignore[method-assign, assignment]
        self.control = control or Control()
        async with AsyncExitStack() as stack:
            replies = stack.enter_context(ReplyCache(self.root / "replies.sqlite"))
            runner = Runner(
                self.folder,
                GRADER,
                ModelOpener(registry, replies, self.root, self.said.append, control=self.control),
                progress,
                self.control,
            )
            return await runner.run(RunPlan({"m": work_for(registry, row, [built])}))

    @property
    def folder(self) -> ResultsFolder:
        return ResultsFolder(self.root / "results")

    def manifest(self) -> Manifest:
        found = self.folder.read_manifest("m", self.suite.id)
        assert found is not None
        return found
