"""Finding out what a suite asks without asking anybody: its first units are run against a model of paper."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from triathlon_runner.endpoints import CHARACTERS_A_TOKEN, Answer, Chat, Completion, Sampling
from triathlon_runner.grading import Grader
from triathlon_runner.records import Reply, Usage
from triathlon_runner.schedule import Work, spread

_PROBED_TASKS = 3


@dataclass(frozen=True, slots=True)
class UnitCost:
    """What one unit takes on average."""

    requests: float
    input_tokens: float
    output_tokens: float
    basis: str
    """How it is known, in words."""


@dataclass(slots=True)
class PaperModel:
    """Notes what it is asked and answers nothing."""

    id: str
    kind: Literal["instruct", "base"]
    requests: int = 0
    characters: int = 0
    limit: int = 0
    """Most output tokens that the replies may have together."""

    async def ask(self, prompt: Chat | Completion, sampling: Sampling, *, sample: int = 0) -> Answer:  # noqa: ARG002  `Model` has it
        """Counts."""
        texts = (
            [prompt.text] if isinstance(prompt, Completion) else [each.content for each in prompt.messages]
        )
        self.requests += 1
        self.characters += sum(map(len, texts))
        self.limit += sampling.max_tokens
        return Answer(Reply(text=""), Usage(), 0.0, self.id)


async def probe(work: Work, grader: Grader) -> UnitCost:
    """The most that a unit may cost, by the suite's real first prompts.

    Replies are taken at their token limit; a suite that goes on from a reply (a loop) is seen up to its first
    question, which stands for all that may follow.
    """
    model = PaperModel(work.row.id, work.row.kind)
    tasks: Sequence[str] = [task.task_id for task in spread(work.built.chosen, _PROBED_TASKS)]
    for task_id in tasks:
        await work.built.suite.run(task_id, 0, model, grader, work.protocol)
    each = _turns(work) / max(len(tasks), 1)
    return UnitCost(
        requests=model.requests * each,
        input_tokens=model.characters / CHARACTERS_A_TOKEN * each,
        output_tokens=model.limit * each,
        basis="first prompts; at most",
    )


def _turns(work: Work) -> int:
    """How often a unit may ask, for each question that its first reply does not decide."""
    if "chain" in work.settings:
        return len(work.settings["chain"]) - 1
    return 2 * int(work.settings.get("max_loops", 1)) - 1  # a program and a sentence a loop, none at the end
