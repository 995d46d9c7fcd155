"""A translation suite: the loop whose steps are languages (EVALOOOP, section 5)."""

import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from triathlon_runner.endpoints import Model, ModelKind
from triathlon_runner.grading import Grader
from triathlon_runner.prompts import PromptSet
from triathlon_runner.records import LoopRecord, LoopStep, Outcome, Usage
from triathlon_runner.sandbox import Sandbox
from triathlon_runner.suites import DataSetInfo, Task
from triathlon_runner.translation._languages import CHAIN, STEPS
from triathlon_runner.translation._phrasing import Phrasing
from triathlon_runner.translation._task import TranslationTask

ReadTasks = Callable[[Sandbox], Awaitable[Sequence[TranslationTask]]]


@dataclass
class TranslationSuite:
    """Translates a correct Python program through the chain until a translation fails its tests."""

    id: str
    data: DataSetInfo
    prompts: PromptSet
    read: ReadTasks
    _tasks: dict[str, TranslationTask] = field(default_factory=dict)

    async def prepare(self, grader: Grader) -> None:
        """Reads the tasks; what a reference returns is measured by executing it.

        Raises:
            SandboxError: a reference could not be executed.
        """
        self._tasks = {task.task_id: task for task in await self.read(grader.sandbox)}

    def tasks(self) -> Sequence[Task]:
        return [Task(task.task_id, task.level) for task in self._tasks.values()]

    def settings(self, kind: ModelKind, _judge: str | None = None) -> Mapping[str, Any]:
        """Returns prompts, sampling, the chain and the data set."""
        return {
            "chain": [language.value for language in CHAIN],
            **Phrasing(kind, self.prompts).settings(),
            "data": asdict(self.data),
        }

    async def run(
        self,
        task_id: str,
        sample: int,
        model: Model,
        grader: Grader,
        settings_hash: str,
        _judge: Model | None = None,
    ) -> LoopRecord:
        """Runs one task through the chain, to the first failure.

        Raises:
            InfrastructureError: the unit stays open.
        """
        begin = time.monotonic()
        phrasing = Phrasing(model.kind, self.prompts)
        chain = _Chain(self._tasks[task_id], phrasing, model, grader.sandbox, sample)
        await chain.run()
        sustained = sum(step.outcome is Outcome.PASSED for step in chain.steps)
        return LoopRecord(
            suite=self.id,
            model=model.id,
            task_id=task_id,
            sample=sample,
            protocol=settings_hash,
            outcome=chain.steps[-1].outcome,
            usage=chain.usage,
            seconds=time.monotonic() - begin,
            max_loops=STEPS,
            sustained_loops=sustained,
            loops=tuple(chain.steps),
            similarity=1.0 if 1 <= sustained < STEPS else None,  # no prompts to compare: s = 1 by definition
        )


@dataclass(slots=True)
class _Chain:
    """One task on its way through the languages."""

    task: TranslationTask
    phrasing: Phrasing
    model: Model
    sandbox: Sandbox
    sample: int
    steps: list[LoopStep] = field(default_factory=list)
    usage: Usage = field(default_factory=Usage)

    async def run(self) -> None:
        code = self.task.start
        for loop in range(1, STEPS + 1):
            step = await self._step(loop, code)
            self.steps.append(step)
            if step.outcome is not Outcome.PASSED:
                return
            code = step.program

    async def _step(self, loop: int, code: str) -> LoopStep:
        source, target = CHAIN[loop - 1], CHAIN[loop]
        question = self.phrasing.question(code, source, target, self.task, loop)
        answer = await self.model.ask(question, self.phrasing.sampling, sample=self.sample)
        self.usage += answer.usage
        program, missing = self.phrasing.program(answer.reply, target, self.task)
        verdict = None if missing else await self.task.grade(program, target, self.sandbox)
        return LoopStep(
            loop=loop,
            prompt=code,
            language=target.value,
            reply=answer.reply,
            program=program,
            outcome=verdict.outcome if verdict else missing or Outcome.NO_ANSWER,
            verdict=verdict,
        )
