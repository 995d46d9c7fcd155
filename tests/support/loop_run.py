"""`triathlon run` for one scripted model: registry, plan, client, cache, sandbox and results."""

import io
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from support.core_model import problem_in
from support.server_replies import Asked
from triathlon_runner.datasets import DataStore, Problem
from triathlon_runner.grading import ProgramGrader
from triathlon_runner.llm import ReplyCache
from triathlon_runner.loop import LoopSuite, Setting, catalogue
from triathlon_runner.models_yaml import Registry
from triathlon_runner.prompts import load_prompts
from triathlon_runner.records import LoopRecord
from triathlon_runner.sandbox import open_sandbox
from triathlon_runner.schedule import (
    ConsoleProgress,
    ModelOpener,
    Runner,
    RunPlan,
    Summary,
    Wanted,
    build_plan,
    choose,
    work_for,
)
from triathlon_runner.store import ResultsFolder, read_records
from triathlon_runner.suites import DataSetInfo

SUITE = "loop/core"


@dataclass
class LoopRun:
    """One results folder and one model behind an address; every call goes on from the last."""

    root: Path
    base_url: str
    suite: str = SUITE
    tasks: int = 2
    """At most."""
    problems: Sequence[Problem] = ()
    """Where given, they are the suite's tasks."""

    async def __call__(self, variants: Sequence[str] = ()) -> Summary:
        """Runs what is open, as the command does."""
        registry = self._registry()
        progress = ConsoleProgress(Console(file=io.StringIO()))
        async with AsyncExitStack() as stack:
            sandbox = await stack.enter_async_context(open_sandbox(jobs=2))
            replies = stack.enter_context(ReplyCache(self.root / "replies.sqlite"))
            opener = ModelOpener(registry, replies, self.root, progress.say)
            grader = ProgramGrader(sandbox, self.root / "keys")
            plan = self._own_plan(registry) if self.problems else None
            plan = plan or await build_plan(
                registry,
                grader,
                DataStore(cache=self.root / "data", fetch=False),
                Wanted(models=["m"], suites=[self.suite], variants=variants, limit=self.tasks),
            )
            return await Runner(self.folder, grader, opener, progress, plan).run()

    @property
    def folder(self) -> ResultsFolder:
        return ResultsFolder(self.root / "results")

    def records(self, suite: str | None = None) -> list[LoopRecord]:
        """The lines that were written."""
        return list(read_records(self.folder.lines("m", suite or self.suite), LoopRecord))

    def _own_plan(self, registry: Registry) -> RunPlan:
        data = DataSetInfo("own", "1", "0" * 64)
        suite = LoopSuite(self.suite, data, self.problems, load_prompts("loop"), Setting())
        (entry,) = (entry for entry in catalogue() if entry.id == self.suite)
        row = registry.row("m")
        return RunPlan({"m": work_for(registry, row, [choose(entry, suite, Wanted())])})

    def _registry(self) -> Registry:
        api = {"base_url": self.base_url, "model": "scripted", "concurrency": 32}
        return Registry.model_validate({"models": [{"id": "m", "name": "m", "api": api}]})


def asks_for_words(text: str) -> bool:
    """Whether a question of our built-in prompts, in any of the six forms, asks for a summary."""
    return "Reply with the complete program" not in text


def programmer(asked: Asked) -> str:
    """A model that knows `core`: its first program is right, and the one for its own sentence nonsense."""
    problem = problem_in(asked.prompt)
    assert problem is not None
    if asks_for_words(asked.prompt):
        return "Write a Python function again."
    nonsense = f"def {problem.entry_point}(*arguments):\n    return 'nonsense'\n"
    program = nonsense if "function again." in asked.prompt else problem.reference
    return f"```python\n{program}```"
