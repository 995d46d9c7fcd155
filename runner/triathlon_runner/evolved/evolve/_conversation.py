"""Questions to the model and results of programs, each recorded."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from triathlon_runner.datasets import Comparison
from triathlon_runner.evolved.evolve._draft import Draft, UnusableReplyError, parse
from triathlon_runner.grading import agree
from triathlon_runner.llm import Chat, Message, Model, Sampling
from triathlon_runner.prompts import PromptSet
from triathlon_runner.records import Reply, Usage
from triathlon_runner.replies import extract
from triathlon_runner.sandbox import Call, Ended, Job, Limits, Opaque, Raised, Sandbox, Source
from triathlon_runner.terminal import shortened

SAMPLING: Final = Sampling(max_tokens=2048)
"""Greedy, like everything that is asked in this discipline; twice the length of a solution, for stories."""
_LIMITS: Final = Limits(cpu_seconds=2.0, wall_seconds=60.0, result_bytes=1 << 20)
_MAX_RESTARTS: Final = 3
"""Inputs on which a program may end the process before the rest counts as lost too."""
_SAME: Final = Comparison("typed", tolerance=1e-6)
"""How outputs of two solutions are compared: as EvoEval compares."""


@dataclass(frozen=True, slots=True)
class Result:
    """The result of one input."""

    kind: Literal["returned", "raised", "endless", "died"]
    value: Any = None
    text: str = ""
    """What was raised, or how it ended."""

    @property
    def usable(self) -> bool:
        """Whether there is a value, and one that can be written down."""
        return self.kind == "returned" and not isinstance(self.value, Opaque) and bool(self._source)

    @property
    def _source(self) -> str:
        """The value as source text; empty for an int of too many digits, and for too deep a nesting."""
        try:
            return repr(self.value)
        except (ValueError, RecursionError):
            return ""

    def __str__(self) -> str:
        if self.kind == "returned":
            return shortened(self._source, 300) or "<what is too large to be written>"
        return f"{self.kind}: {self.text}"


def same(left: Result, right: Result) -> bool:
    """Whether two solutions gave the same on one input, by value or by failing."""
    return left.kind == right.kind and (left.kind != "returned" or agree(_SAME, left.value, right.value))


def differing(
    inputs: Iterable[str], left: Iterable[Result], right: Iterable[Result]
) -> list[tuple[str, Result, Result]]:
    """The inputs on which two solutions do not give the same, with what they give."""
    rows = zip(inputs, left, right, strict=True)
    return [(text, first, second) for text, first, second in rows if not same(first, second)]


@dataclass(slots=True)
class Step:
    """One question to the model and its reply, or one result of executing programs."""

    kind: str
    """Name of the prompt, or `execute`, `compare`, `augment`."""
    round: int
    question: str = ""
    reply: str = ""
    found: str = ""
    """The result, in words."""


@dataclass(slots=True)
class Conversation:
    """One job's questions to the model; each is asked in a conversation of its own."""

    model: Model
    prompts: PromptSet
    sandbox: Sandbox
    steps: list[Step] = field(default_factory=list)
    usage: Usage = field(default_factory=Usage)
    served_model: str = ""
    round: int = 0

    async def ask(self, name: str, *, turn: int | None = None, **values: object) -> tuple[str, Reply]:
        """Asks by the prompt `name`, in each round anew; returns question and reply.

        Raises:
            EndpointError: no reply; the job stays open.
        """
        question = self.prompts.render(name, **values)
        chat = Chat((Message("user", question),), self.round if turn is None else turn)
        answer = await self.model.ask(chat, SAMPLING)
        self.usage += answer.usage
        self.served_model = answer.served_model
        self.steps.append(Step(kind=name, round=self.round, question=question, reply=answer.reply.text))
        return question, answer.reply

    async def solve(self, draft: Draft, turn: int) -> str:
        """A solution of the problem, or the empty text where the reply has none.

        Raises:
            EndpointError: no reply; the job stays open.
        """
        _, reply = await self.ask(
            "solve",
            turn=turn,
            prompt=draft.prompt.strip("\n"),
            entry_point=draft.entry_point,
            helpers=bool(draft.helpers),
        )
        extracted = await extract(reply, entry_point=draft.entry_point, prompt=draft.prompt, completes=False)
        if extracted.outcome is not None:
            return ""
        try:
            parse(extracted.program)
        except UnusableReplyError as error:
            self.set_result(f"not taken: {error}")
            return ""
        return extracted.program

    async def run(self, program: str, entry_point: str, inputs: Sequence[str]) -> list[Result]:
        """What a program gives on each input: one result an input, whatever the program does.

        Raises:
            SandboxError: our machinery failed.
        """
        results: list[Result] = []
        for _ in range(_MAX_RESTARTS):
            calls = tuple(Call(entry_point, Source(text)) for text in inputs[len(results) :])
            if not calls:
                break
            execution = await self.sandbox.run(Job(program, calls, limits=_LIMITS))
            if execution.ended is Ended.NOT_LOADED:
                fault = str(execution.results[-1]) if execution.results else execution.detail
                return [*results, *(Result("raised", text=fault) for _ in calls)]
            results += [
                Result("raised", text=str(result)[:300])
                if isinstance(result, Raised)
                else Result("returned", result.value)
                for result in execution.results
            ]
            if len(results) < len(inputs):
                timed_out = execution.ended is Ended.TIMED_OUT
                results.append(Result("endless" if timed_out else "died", text=execution.detail))
        return [*results, *(Result("died", text="not tried any more") for _ in inputs[len(results) :])]

    def note(self, kind: str, finding: str) -> None:
        """Records a result of executing programs, without a question to the model."""
        self.steps.append(Step(kind=kind, round=self.round, found=finding))

    def set_result(self, text: str) -> None:
        """Records the result of the last step."""
        self.steps[-1].found = text
