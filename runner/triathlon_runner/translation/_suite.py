"""A translation suite: the loop whose steps are languages (EVALOOOP, section 5)."""

import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import pairwise
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
        task, phrasing = self._tasks[task_id], Phrasing(model.kind, self.prompts)
        code, usage, steps = task.start, Usage(), list[LoopStep]()
        for loop, (source, target) in enumerate(pairwise(CHAIN), 1):
            question = phrasing.question(code, source, target, task, loop)
            answer = await model.ask(question, phrasing.sampling, sample=sample)
            usage += answer.usage
            program, missing = phrasing.program(answer.reply, target, task)
            verdict = None if missing else await task.grade(program, target, grader.sandbox)
            outcome = verdict.outcome if verdict else missing or Outcome.NO_ANSWER
            steps.append(
                LoopStep(
                    loop=loop,
                    prompt=code,
                    language=target.value,
                    reply=answer.reply,
                    program=program,
                    outcome=outcome,
                    verdict=verdict,
                )
            )
            if outcome is not Outcome.PASSED:
                break
            code = program
        sustained = sum(step.outcome is Outcome.PASSED for step in steps)
        return LoopRecord(
            suite=self.id,
            model=model.id,
            task_id=task_id,
            sample=sample,
            protocol=settings_hash,
            outcome=steps[-1].outcome,
            usage=usage,
            seconds=time.monotonic() - begin,
            max_loops=STEPS,
            sustained_loops=sustained,
            loops=tuple(steps),
            similarity=1.0 if 1 <= sustained < STEPS else None,  # no prompts to compare: s = 1 by definition
        )
