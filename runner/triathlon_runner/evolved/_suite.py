"""One set of problems: ask for each function once, grade it against the reference."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Final, Literal

from triathlon_runner.datasets import FunctionProblem
from triathlon_runner.endpoints import Chat, Completion, Message, Model, ModelKind, Sampling
from triathlon_runner.extraction import extract_program
from triathlon_runner.grading import Grader
from triathlon_runner.prompts import PromptSet
from triathlon_runner.records import EvolvedRecord
from triathlon_runner.suites import DataSetInfo, Task

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
    data: DataSetInfo
    problems: Mapping[str, FunctionProblem]
    inputs: Literal["base", "all"]
    prompts: PromptSet
    sampling: Sampling = GREEDY
    typing_names: bool = True
    """Whether names of `typing` that only annotations use are imported; EvoEval's board fails their lack."""
    self_invoking: bool = False
    """Whether a prompt holds a base problem and a second one, both to be solved (HumanEval Pro, MBPP Pro).
    A base model continues the instruction then, not the prompt: that cannot begin two functions."""

    def tasks(self) -> Sequence[Task]:
        return [Task(problem.task_id, problem.level) for problem in self.problems.values()]

    def functions(self) -> tuple[FunctionProblem, ...]:
        return tuple(self.problems.values())

    def settings(self, kind: ModelKind, _judge: str | None = None) -> Mapping[str, Any]:
        """Returns data set, sampling, prompts, and whether the model is instructed or completes."""
        completes = kind == "base"
        return {
            "data": {**asdict(self.data), "inputs": self.inputs},
            "sampling": asdict(self._sampling(completes=completes)),
            "asked": self._asked(completes=completes),
            "prompts": self.prompts.digest(self._template) if self._instructs(completes=completes) else "",
        }

    @property
    def _template(self) -> str:
        return "solve-pro" if self.self_invoking else "solve"

    def _instructs(self, *, completes: bool) -> bool:
        return self.self_invoking or not completes

    def _asked(self, *, completes: bool) -> str:
        if not completes:
            return "instruction"
        return "completion of the instruction" if self.self_invoking else "completion of the prompt"

    async def run(
        self,
        task_id: str,
        sample: int,
        model: Model,
        grader: Grader,
        settings_hash: str,
        _judge: Model | None = None,
    ) -> EvolvedRecord:
        """Asks for one function and grades it.

        Raises:
            InfrastructureError: no reply, or the sandbox failed; the unit stays open.
        """
        problem = self.problems[task_id]
        completes = model.kind == "base"
        question = self._question(problem, completes=completes)
        asked = Completion(question) if completes else Chat((Message("user", question),))
        answer = await model.ask(asked, self._sampling(completes=completes), sample=sample)
        taken = extract_program(
            answer.reply,
            entry_point=problem.entry_point,
            prompt=problem.prompt if self._instructs(completes=completes) else question,
            completes=completes and not self.self_invoking,
            typing_names=self.typing_names,
        )
        outcome, verdict = taken.outcome, None
        if outcome is None:
            verdict = await grader.grade(taken.program, problem, inputs=self.inputs)
            outcome = verdict.outcome
        return EvolvedRecord(
            suite=self.id,
            model=model.id,
            task_id=task_id,
            sample=sample,
            protocol=settings_hash,
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

    def _question(self, problem: FunctionProblem, *, completes: bool) -> str:
        if not self._instructs(completes=completes):
            return problem.prompt.rstrip() + "\n"
        instruction = self._instruction(problem)
        return f"{instruction}\n\n```python\n" if completes else instruction

    def _instruction(self, problem: FunctionProblem) -> str:
        return self.prompts.render(
            self._template,
            prompt=problem.prompt.strip("\n"),
            entry_point=problem.entry_point,
            helpers=problem.prompt.count("\ndef ") + problem.prompt.startswith("def ") > 1,
        )

    def _sampling(self, *, completes: bool) -> Sampling:
        stop = STOP_SELF_INVOKING if self.self_invoking else STOP
        return replace(self.sampling, stop=stop if completes else ())
