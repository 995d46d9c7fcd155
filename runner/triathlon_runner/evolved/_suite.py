"""One set of problems: ask for each function once, grade it against the reference."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

from triathlon_runner import suites
from triathlon_runner.datasets import FunctionProblem
from triathlon_runner.llm import Chat, Completion, Message, ModelKind, Sampling
from triathlon_runner.prompts import PromptSet
from triathlon_runner.records import EvolvedRecord
from triathlon_runner.replies import extract

STOP: Final = ("\ndef ", "\nclass ", "\nif __name__", "\nprint(")
"""Where a base model has left the function that it completes. Four, as some servers take no more; all begin
at the start of a line, so that none can occur in a function's body. Extraction cuts off what else follows."""

STOP_SELF_INVOKING: Final = ("\n```",)
"""Where a base model has left the code block in which it solves a problem and its base problem."""

GREEDY: Final = Sampling(max_tokens=1024)
"""One greedy sample, pass@1 (EvoEval, section 3). The paper gives no token limit; 1,024 is EVALOOOP's."""


@dataclass(frozen=True)
class EvolvedSuite:
    """A set of problems with the way in which they are asked and graded."""

    id: str
    data: suites.DataSetInfo
    problems: Mapping[str, FunctionProblem]
    inputs: Literal["base", "all"]
    prompts: PromptSet
    sampling: Sampling = GREEDY
    typing_names: bool = True
    """Whether names of `typing` that only annotations use are imported; EvoEval's board fails their lack."""
    self_invoking: bool = False
    """Whether a prompt holds a base problem and a second one, both to be solved (HumanEval Pro, MBPP Pro).
    A base model continues the instruction then, not the prompt: that cannot begin two functions."""

    def tasks(self) -> Sequence[suites.Task]:
        return [suites.Task(problem.task_id, problem.level) for problem in self.problems.values()]

    def functions(self) -> tuple[FunctionProblem, ...]:
        return tuple(self.problems.values())

    @property
    def protocol(self) -> Mapping[str, Mapping[str, Any]]:
        """Which of its data's prompts a set has is part of what it asks."""
        questions = suites.digest_of(
            [(problem.task_id, problem.prompt) for problem in self.problems.values()]
        )
        prompts = self.prompts.digest(self._template)
        return {
            "asked": suites.asked_settings(self.data, self.sampling, prompts, questions=questions),
            "graded": suites.graded_settings(self.data, inputs=self.inputs),
        }

    def settings(self, kind: ModelKind, _judge: str | None = None) -> Mapping[str, Any]:
        return suites.request_settings(kind, self._sampling(kind))

    @property
    def _template(self) -> str:
        return "solve-pro" if self.self_invoking else "solve"

    async def run(self, unit: suites.UnitRun) -> EvolvedRecord:
        """Asks for one function and grades it."""
        problem, model = self.problems[unit.task_id], unit.model
        is_base = model.kind == "base"
        completes = is_base and not self.self_invoking
        question = problem.prompt.rstrip() + "\n" if completes else self._instruction(problem)
        if is_base and not completes:
            question += "\n\n```python\n"
        asked = Completion(question) if is_base else Chat((Message("user", question),))
        answer = await model.ask(asked, self._sampling(model.kind), sample=unit.sample)
        taken = await extract(
            answer.reply,
            entry_point=problem.entry_point,
            prompt=question if completes else problem.prompt,
            completes=completes,
            typing_names=self.typing_names,
        )
        outcome, verdict = taken.outcome, None
        if outcome is None:
            verdict = await unit.grader.grade(taken.program, problem, inputs=self.inputs)
            outcome = verdict.outcome
        return EvolvedRecord(
            **unit.record_fields(self.id),
            outcome=outcome,
            usage=answer.usage,
            seconds=answer.seconds,
            prompt=question,
            reply=answer.reply,
            program=taken.program,
            changes=taken.changes,
            verdict=verdict,
            parents=problem.parents,
        )

    def _instruction(self, problem: FunctionProblem) -> str:
        return self.prompts.render(
            self._template,
            prompt=problem.prompt.strip("\n"),
            entry_point=problem.entry_point,
            helpers=problem.prompt.count("\ndef ") + problem.prompt.startswith("def ") > 1,
        )

    def _sampling(self, kind: ModelKind) -> Sampling:
        stop = STOP_SELF_INVOKING if self.self_invoking else STOP
        return replace(self.sampling, stop=stop if kind == "base" else ())
