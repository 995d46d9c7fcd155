"""What a suite asks: its first units are run against a model that sends no request."""

from dataclasses import dataclass

from triathlon_runner.endpoints import CHARACTERS_A_TOKEN, Answer, Chat, Completion, ModelKind, Sampling
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
    """The source of these numbers, in words."""


@dataclass(slots=True)
class DryRunModel:
    """Model of a dry run: counts what it is asked and answers with empty replies."""

    id: str
    kind: ModelKind
    requests: int = 0
    characters: int = 0
    limit: int = 0
    """Most output tokens that the replies may have together."""

    async def ask(self, prompt: Chat | Completion, sampling: Sampling, *, sample: int = 0) -> Answer:  # noqa: ARG002  `Model` has it
        """Counts the question; the reply is empty."""
        texts = (
            [prompt.text] if isinstance(prompt, Completion) else [each.content for each in prompt.messages]
        )
        self.requests += 1
        self.characters += sum(map(len, texts))
        self.limit += sampling.max_tokens
        return Answer(Reply(text=""), Usage(), 0.0, self.id)


async def probe(work: Work, grader: Grader) -> UnitCost:
    """Returns the most that a unit may cost, by the suite's real first prompts.

    Replies are taken at their token limit; a suite that goes on from a reply (a loop) is seen up to its first
    question, which stands for all that may follow.
    """
    model = DryRunModel(work.row.id, work.row.kind)
    suite, tasks = work.built.suite, spread(work.built.chosen, _PROBED_TASKS)
    for task in tasks:
        await suite.run(task.task_id, 0, model, grader, work.settings_hash, work.judge)
    if not model.requests:
        return UnitCost(0.0, 0.0, 0.0, "asks nothing")
    requests = work.built.entry.most_requests or model.requests / len(tasks)
    return UnitCost(
        requests=requests,
        input_tokens=model.characters / CHARACTERS_A_TOKEN / model.requests * requests,
        output_tokens=model.limit / model.requests * requests,
        basis="first prompts; at most",
    )
