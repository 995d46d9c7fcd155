"""One task's loop: generate, execute, summarise, and again (EVALOOOP, section 2.1)."""

from dataclasses import dataclass, field

from triathlon_runner.datasets import FunctionProblem
from triathlon_runner.endpoints import Answer, Chat, Completion, Model, Sampling
from triathlon_runner.extraction import Extraction, extract_program
from triathlon_runner.grading import Grader
from triathlon_runner.loop._phrasing import Phrasing
from triathlon_runner.loop._prompt import next_prompt, program_part, sentence_of
from triathlon_runner.records import Finish, LoopStep, Outcome, Reply, Usage, Verdict


@dataclass(slots=True)
class LoopUnit:
    """A task on its way through the loops, with one model."""

    problem: FunctionProblem
    phrasing: Phrasing
    model: Model
    grader: Grader
    sample: int
    steps: list[LoopStep] = field(default_factory=list)
    usage: Usage = field(default_factory=Usage)
    _extractions: dict[tuple[str, Reply], Extraction] = field(default_factory=dict)
    """By prompt and reply: a model that has reached its fixed point writes one program again and again."""
    _verdicts: dict[str, Verdict] = field(default_factory=dict)
    """By program."""

    @property
    def max_loops(self) -> int:
        return self.phrasing.setting.max_loops

    @property
    def sustained(self) -> int:
        """l: loops passed."""
        return sum(step.outcome is Outcome.PASSED for step in self.steps)

    @property
    def outcome(self) -> Outcome:
        """`passed` where loop M passed, else how the program, or the summary in front of it, failed."""
        last = self.steps[-1]
        if last.outcome is not Outcome.PASSED or last.loop == self.max_loops or last.summary_reply is None:
            return last.outcome
        return last.summary_reply.finish.outcome_without_answer

    async def run(self, prompt: str) -> None:
        """Loops from p^1 until a failure or M.

        Raises:
            InfrastructureError: an endpoint or the sandbox failed.
        """
        for loop in range(1, self.max_loops + 1):
            step = await self._turn(loop, prompt)
            self.steps.append(step)
            if step.summary is None:
                return
            prompt = next_prompt(
                step.summary, self.problem.assertion, as_written=self.phrasing.setting.as_written
            )

    async def _turn(self, loop: int, prompt: str) -> LoopStep:
        reply = await self._ask(self.phrasing.generation(prompt, loop), self.phrasing.generation_sampling)
        extraction = self._extract(reply, program_part(prompt) if loop == 1 else "")
        verdict = None if extraction.outcome else await self._grade(extraction.program)
        outcome = verdict.outcome if verdict else extraction.outcome or Outcome.NO_ANSWER
        goes_on = outcome is Outcome.PASSED and loop < self.max_loops
        summary_reply, summary = await self._summarise(extraction.written, loop) if goes_on else (None, None)
        return LoopStep(
            loop=loop,
            prompt=prompt,
            reply=reply,
            program=extraction.program,
            changes=extraction.changes,
            outcome=outcome,
            verdict=verdict,
            summary_reply=summary_reply,
            summary=summary,
        )

    async def _summarise(self, code: str, loop: int) -> tuple[Reply, str | None]:
        reply = await self._ask(self.phrasing.summary(code, loop), self.phrasing.summary_sampling)
        as_written = self.phrasing.setting.as_written
        sentence = sentence_of(reply.text, completes=self.phrasing.completes, as_written=as_written)
        whole = reply.finish is Finish.STOP or (self.phrasing.completes and "\n" in reply.text.strip())
        return reply, sentence if whole and (sentence or as_written) else None

    def _extract(self, reply: Reply, prompt: str) -> Extraction:
        if (prompt, reply) not in self._extractions:
            self._extractions[prompt, reply] = extract_program(
                reply,
                entry_point=self.problem.entry_point,
                prompt=prompt,
                completes=self.phrasing.completes,
                as_written=self.phrasing.setting.as_written,
            )
        return self._extractions[prompt, reply]

    async def _grade(self, program: str) -> Verdict:
        if program not in self._verdicts:
            self._verdicts[program] = await self.grader.grade(program, self.problem)
        return self._verdicts[program]

    async def _ask(self, question: Chat | Completion, sampling: Sampling) -> Reply:
        answer: Answer = await self.model.ask(question, sampling, sample=self.sample)
        self.usage += answer.usage
        return answer.reply
