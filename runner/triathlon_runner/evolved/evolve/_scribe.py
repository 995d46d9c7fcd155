"""Asks the model and writes down everything that is said."""

from dataclasses import dataclass, field
from typing import Final

from triathlon_runner.datasets import Problem
from triathlon_runner.endpoints import Chat, Message, Model, Sampling
from triathlon_runner.evolved.evolve._draft import Draft, UnusableReplyError, parse
from triathlon_runner.evolved.evolve._history import Step
from triathlon_runner.extraction import extract_program
from triathlon_runner.prompts import PromptSet
from triathlon_runner.records import Reply, Usage

SAMPLING: Final = Sampling(max_tokens=2048)
"""Greedy, like everything that is asked in this discipline; twice the length of a solution, for stories."""


@dataclass(slots=True)
class Scribe:
    """One job's conversation with the model. Every question stands alone."""

    model: Model
    prompts: PromptSet
    sampling: Sampling = SAMPLING
    steps: list[Step] = field(default_factory=list)
    usage: Usage = field(default_factory=Usage)
    served_model: str = ""
    round: int = 0

    async def ask(self, name: str, *, turn: int = 0, **values: object) -> tuple[str, Reply]:
        """Asks by the prompt `name`; returns question and reply.

        Raises:
            EndpointError: no reply; the job stays open.
        """
        question = self.prompts.render(name, **values)
        answer = await self.model.ask(Chat((Message("user", question),), turn=turn), self.sampling)
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
        taken = extract_program(reply, entry_point=draft.entry_point, prompt=draft.prompt, completes=False)
        if taken.outcome is not None:
            return ""
        try:
            parse(taken.program)
        except UnusableReplyError as error:
            self.found(f"not taken: {error}")
            return ""
        return taken.program

    def note(self, kind: str, found: str) -> None:
        """Writes down what was found out without the model."""
        self.steps.append(Step(kind=kind, round=self.round, found=found))

    def found(self, text: str) -> None:
        """Adds to the last step what came of it."""
        self.steps[-1] = self.steps[-1].model_copy(update={"found": text})


def shown(parents: tuple[Problem, ...]) -> list[dict[str, str]]:
    """The seeds as prompts see them."""
    return [{"prompt": parent.prompt.strip("\n"), "entry_point": parent.entry_point} for parent in parents]
