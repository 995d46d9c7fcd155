"""One set of problems: ask for each function once, judge it against the reference."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Final, Literal

from triathlon_runner.datasets import Problem
from triathlon_runner.endpoints import Chat, Completion, Message, Model, Sampling
from triathlon_runner.extraction import extract_program
from triathlon_runner.grading import Grader
from triathlon_runner.prompts import PromptSet
from triathlon_runner.records import EvolvedRecord
from triathlon_runner.suites import DataSetInfo, ModelKind, Task

STOP: Final = ("\ndef ", "\nclass ", "\nif __name__", "\nprint(")
"""Where a base model has left the function that it completes. Four, as some servers take no more; all begin
at the start of a line, so that none can occur in a function's body. Extraction cuts off what else follows."""

GREEDY: Final = Sampling(max_tokens=1024)
"""One greedy sample, pass@1 (EvoEval, section 3). The paper gives no token limit; 1,024 is EVALOOOP's."""


@dataclass(frozen=True)
class EvolvedSuite:
    """A set of problems with the way in which they are asked and judged."""

    id: str
    data: DataSetInfo
    problems: Mapping[str, Problem]
    inputs: Literal["base", "all"]
    prompts: PromptSet
    sampling: Sampling = GREEDY
    typing_names: bool = True
    """Whether names of `typing` that only annotations use are imported; EvoEval's board fails their lack."""

    def tasks(self) -> Sequence[Task]:
        return [Task(problem.task_id, problem.level) for problem in self.problems.values()]

    def functions(self) -> tuple[Problem, ...]:
        return tuple(self.problems.values())

    def settings(self, kind: ModelKind, _judge: str | None = None) -> Mapping[str, Any]:
        """Returns data set, sampling, and how and with which prompts is asked."""
        completes = kind == "base"
        return {
            "data": {**asdict(self.data), "inputs": self.inputs},
            "sampling": asdict(self._sampling(completes=completes)),
            "asked": "completion of the prompt" if completes else "instruction",
            "prompts": "" if completes else self.prompts.digest("solve"),
        }

    async def run(
        self,
        task_id: str,
        sample: int,
        model: Model,
        grader: Grader,
        settings_hash: str,
        _judge: Model | None = None,
    ) -> EvolvedRecord:
        """Asks for one function and judges it.

        Raises:
            InfrastructureError: no reply, or the sandbox failed; the unit stays open.
        """
        problem = self.problems[task_id]
        completes = model.kind == "base"
        question = problem.prompt.rstrip() + "\n" if completes else self._instruction(problem)
        asked = Completion(question) if completes else Chat((Message("user", question),))
        answer = await model.ask(asked, self._sampling(completes=completes), sample=sample)
        taken = extract_program(
            answer.reply,
            entry_point=problem.entry_point,
            prompt=question if completes else problem.prompt,
            completes=completes,
            typing_names=self.typing_names,
        )
        outcome, verdict = taken.outcome, None
        if outcome is None:
            verdict = await grader.judge(taken.program, problem, inputs=self.inputs)
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

    def _instruction(self, problem: Problem) -> str:
        return self.prompts.render(
            "solve",
            prompt=problem.prompt.strip("\n"),
            entry_point=problem.entry_point,
            helpers=problem.prompt.count("\ndef ") + problem.prompt.startswith("def ") > 1,
        )

    def _sampling(self, *, completes: bool) -> Sampling:
        return replace(self.sampling, stop=STOP if completes else ())
