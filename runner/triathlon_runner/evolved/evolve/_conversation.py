"""Questions to the model and results of programs, each recorded."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from triathlon_runner.evolved.evolve._draft import Draft, UnusableReplyError, parse
from triathlon_runner.evolved.evolve._execute import Result, run_on
from triathlon_runner.llm import Chat, Message, Model, Sampling
from triathlon_runner.prompts import PromptSet
from triathlon_runner.records import Reply, Strict, Usage
from triathlon_runner.replies import extract
from triathlon_runner.sandbox import Sandbox

SAMPLING: Final = Sampling(max_tokens=2048)
"""Greedy, like everything that is asked in this discipline; twice the length of a solution, for stories."""


class Step(Strict):
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
        """What a program gives on each input.

        Raises:
            SandboxError: our machinery failed.
        """
        return await run_on(self.sandbox, program, entry_point, inputs)

    def note(self, kind: str, finding: str) -> None:
        """Records a result of executing programs, without a question to the model."""
        self.steps.append(Step(kind=kind, round=self.round, found=finding))

    def set_result(self, text: str) -> None:
        """Records the result of the last step."""
        self.steps[-1] = self.steps[-1].model_copy(update={"found": text})
