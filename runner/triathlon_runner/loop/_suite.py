"""A loop suite: generate, execute, summarise, and again (EVALOOOP, section 2.1)."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

from triathlon_runner import suites
from triathlon_runner.concurrency import in_other_process
from triathlon_runner.datasets import FunctionProblem
from triathlon_runner.llm import ModelKind
from triathlon_runner.loop import _judge, _prompt
from triathlon_runner.prompts import PromptSet
from triathlon_runner.records import Finish, LoopRecord, LoopStep, Outcome, Reply, Usage, Verdict
from triathlon_runner.replies import extract
from triathlon_runner.syntax import tree_text


@dataclass
class LoopSuite:
    """Runs the loop of EVALOOOP over problems. Without a judge, similarities stay unknown."""

    id: str
    data: suites.DataSetInfo
    problems: Sequence[FunctionProblem]
    prompts: PromptSet
    setting: _prompt.Setting = field(default_factory=_prompt.Setting)

    inputs: Literal["base", "all"] = "all"
    """The whole test suite decides whether a loop is sustained."""

    def functions(self) -> tuple[FunctionProblem, ...]:
        return tuple(self.problems)

    def tasks(self) -> Sequence[suites.Task]:
        return [suites.Task(problem.task_id, problem.level) for problem in self.problems]

    @property
    def protocol(self) -> Mapping[str, Mapping[str, Any]]:
        """What is carried from one prompt into the next is part of what it asks."""
        setting = self.setting
        texts = [(problem.task_id, problem.prompt, problem.assertion) for problem in self.problems]
        return {
            "asked": suites.asked_settings(
                self.data,
                setting.sampling(),
                self.prompts.digest(*setting.templates),
                questions=suites.digest_of(texts),
                max_loops=setting.max_loops,
                attack=setting.attack,
                as_written=setting.as_written,
            ),
            "graded": suites.graded_settings(
                self.data, "authors" if setting.as_written else "value", inputs=self.inputs
            ),
        }

    def settings(self, kind: ModelKind, judge: str | None = None) -> Mapping[str, Any]:
        """Returns how a model of this kind is asked, and the judge."""
        asks_judge = self.setting.max_loops > 1
        return {
            **suites.request_settings(
                kind, self.setting.sampling(*(_prompt.BASE_STOPS if kind == "base" else ()))
            ),
            "judge": _judge.settings(judge, self.prompts) if judge and asks_judge else None,
        }

    async def run(self, unit: suites.UnitRun) -> LoopRecord:
        """Runs one task to its end."""
        begin = time.monotonic()
        loops = _Loops(unit, self._by_id[unit.task_id], self.prompts, self.setting)
        await loops.run()
        steps = loops.steps
        sustained = sum(step.outcome is Outcome.PASSED for step in steps)
        judgement: dict[str, Any] = {}
        if unit.judge is not None and 1 <= sustained < len(steps):
            # Only a failure after a passed loop has prompts on both its sides.
            judgement = await _judge.compare_prompts(unit.judge, self.prompts, *steps[-2:])
        outcome, summary = steps[-1].outcome, steps[-1].summary_reply
        if outcome is Outcome.PASSED and summary is not None:  # the last loop was passed, but has no summary
            outcome = summary.finish.outcome_without_answer
        return LoopRecord(
            **unit.record_fields(self.id),
            outcome=outcome,
            usage=loops.usage,
            seconds=time.monotonic() - begin,
            max_loops=self.setting.max_loops,
            sustained_loops=sustained,
            loops=tuple(steps),
            **judgement,
        )

    @cached_property
    def _by_id(self) -> dict[str, FunctionProblem]:
        return {problem.task_id: problem for problem in self.problems}


@dataclass(slots=True)
class _Loops:
    """A task on its way through the loops, with one model."""

    unit: suites.UnitRun
    problem: FunctionProblem
    prompts: PromptSet
    setting: _prompt.Setting
    steps: list[LoopStep] = field(default_factory=list)
    usage: Usage = field(default_factory=Usage)
    _verdicts: dict[str, Verdict] = field(default_factory=dict)
    """By syntax tree: a model that has reached its fixed point writes one program again and again."""

    @property
    def completes(self) -> bool:
        """Whether a reply continues the prompt instead of answering it."""
        return self.unit.model.kind == "base"

    async def run(self) -> None:
        """Loops from p^1 until a failure or M."""
        prompt = _prompt.first_prompt(self.problem, self.setting.attack, self.prompts)
        for loop in range(1, self.setting.max_loops + 1):
            step = await self._turn(loop, prompt)
            self.steps.append(step)
            if step.summary is None:
                return
            prompt = _prompt.next_prompt(
                step.summary, self.problem.assertion, as_written=self.setting.as_written
            )

    async def _turn(self, loop: int, prompt: str) -> LoopStep:
        """One loop; where a program stands in place of the summary it is the last on our own problems."""
        as_written, completes = self.setting.as_written, self.completes
        reply = await self._ask("generate", loop, _prompt.BASE_STOPS, task=prompt)
        extraction = await extract(
            reply,
            entry_point=self.problem.entry_point,
            prompt=_prompt.program_part(prompt) if loop == 1 else "",
            completes=completes,
            as_written=as_written,
        )
        verdict = None if extraction.outcome else await self._grade(extraction.program)
        outcome = verdict.outcome if verdict else extraction.outcome or Outcome.NO_ANSWER
        fields: dict[str, Any] = {}
        if outcome is Outcome.PASSED and loop < self.setting.max_loops:
            summary = await self._ask(self.setting.summary_template, loop, ("\n",), code=extraction.written)
            options = {"completes": completes, "as_written": as_written}
            sentence, is_code = await in_other_process(
                len(summary.text), _prompt.summary_in, summary.text, **options
            )
            whole = summary.finish is Finish.STOP or (completes and "\n" in summary.text.strip())
            counts = whole and (as_written or (bool(sentence) and not is_code))
            fields = {
                "summary_reply": summary,
                "summary": sentence if counts else None,
                "summary_is_program": is_code,
            }
        return LoopStep(
            loop=loop,
            prompt=prompt,
            reply=reply,
            program=extraction.program,
            changes=extraction.changes,
            outcome=outcome,
            verdict=verdict,
            **fields,
        )

    async def _grade(self, program: str) -> Verdict:
        tree = tree_text(program)
        if tree not in self._verdicts:
            self._verdicts[tree] = await self.unit.grader.grade(program, self.problem)
        return self._verdicts[tree]

    async def _ask(self, template: str, turn: int, base_stops: tuple[str, ...], **values: str) -> Reply:
        """Asks for a program or for a sentence; a base model completes two worked examples and the task."""
        text = self.prompts.render(f"base-{template}" if self.completes else template, **values)
        sampling = self.setting.sampling(*(base_stops if self.completes else ()))
        model = self.unit.model
        answer = await model.ask(_prompt.question(model.kind, text, turn), sampling, sample=self.unit.sample)
        self.usage += answer.usage
        return answer.reply
