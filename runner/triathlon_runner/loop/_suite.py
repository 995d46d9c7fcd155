"""A loop suite: one data set with one setting."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any, Literal

from triathlon_runner.datasets import FunctionProblem
from triathlon_runner.endpoints import Model, ModelKind
from triathlon_runner.grading import Grader
from triathlon_runner.loop import _judge
from triathlon_runner.loop._phrasing import Phrasing
from triathlon_runner.loop._prompt import first_prompt
from triathlon_runner.loop._setting import Setting
from triathlon_runner.loop._unit import LoopUnit
from triathlon_runner.prompts import PromptSet
from triathlon_runner.records import LoopRecord
from triathlon_runner.suites import DataSetInfo, Task


@dataclass
class LoopSuite:
    """Runs the loop of EVALOOOP over problems. Without a judge, similarities stay unknown."""

    id: str
    data: DataSetInfo
    problems: Sequence[FunctionProblem]
    prompts: PromptSet
    setting: Setting = field(default_factory=Setting)

    inputs: Literal["base", "all"] = "all"
    """The whole test suite decides whether a loop is sustained."""

    def functions(self) -> tuple[FunctionProblem, ...]:
        return tuple(self.problems)

    def tasks(self) -> Sequence[Task]:
        return [Task(problem.task_id, problem.level) for problem in self.problems]

    def settings(self, kind: ModelKind, judge: str | None = None) -> Mapping[str, Any]:
        """Returns prompts, sampling, loops, attack, judge and data set."""
        attack = self.setting.attack
        return {
            "max_loops": self.setting.max_loops,
            "attack": attack,
            **(
                {"attack_prompt": self.prompts.digest(f"attack-{attack}")}
                if attack and attack != "upper"
                else {}
            ),
            **self._phrasing(kind).settings(),
            "judge": _judge.settings(judge, self.prompts) if judge and self._has_prompts_to_compare else None,
            "data": asdict(self.data),
        }

    async def run(
        self,
        task_id: str,
        sample: int,
        model: Model,
        grader: Grader,
        settings_hash: str,
        judge: Model | None = None,
    ) -> LoopRecord:
        """Runs one task to its end.

        Raises:
            InfrastructureError: the unit stays open.
        """
        begin = time.monotonic()
        problem = self._by_id[task_id]
        unit = LoopUnit(problem, self._phrasing(model.kind), model, grader, sample)
        await unit.run(first_prompt(problem, self.setting.attack, self.prompts))
        judgement = await self._compared(unit, judge)
        return LoopRecord(
            suite=self.id,
            model=model.id,
            task_id=task_id,
            sample=sample,
            protocol=settings_hash,
            outcome=unit.outcome,
            usage=unit.usage,
            seconds=time.monotonic() - begin,
            max_loops=self.setting.max_loops,
            sustained_loops=unit.sustained,
            loops=tuple(unit.steps),
            similarity=judgement.similarity,
            judge_replies=judgement.replies,
            judge_usage=judgement.usage,
        )

    async def _compared(self, unit: LoopUnit, judge: Model | None) -> _judge.Judgement:
        """Asks the judge about a failure after a passed loop: only that has prompts on both its sides."""
        if judge is None or not self._has_prompts_to_compare or not 1 <= unit.sustained < len(unit.steps):
            return _judge.Judgement()
        before, failed = unit.steps[-2:]
        return await _judge.compare_prompts(judge, self.prompts, before, failed)

    @property
    def _has_prompts_to_compare(self) -> bool:
        """Whether there are two loops whose prompts a judge could compare."""
        return self.setting.max_loops > 1

    def _phrasing(self, kind: ModelKind) -> Phrasing:
        return Phrasing(kind, self.prompts, self.setting)

    @cached_property
    def _by_id(self) -> dict[str, FunctionProblem]:
        return {problem.task_id: problem for problem in self.problems}
