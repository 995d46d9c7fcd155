"""What one unit of a suite takes: by earlier results, else by the suite's first prompts."""

from collections.abc import Sequence
from dataclasses import dataclass

from triathlon_runner.grading import Grader
from triathlon_runner.llm import CHARACTERS_A_TOKEN, Answer, Chat, Completion, ModelKind, Sampling
from triathlon_runner.records import Manifest, Reply, Usage
from triathlon_runner.schedule import Work, spread

_PROBED_TASKS = 3


@dataclass(frozen=True, slots=True)
class Cost:
    """What one unit takes on average, or several together."""

    requests: float
    input_tokens: float
    output_tokens: float
    basis: str
    """The source of these numbers, in words."""

    def times(self, factor: float, divisor: float = 1) -> "Cost":
        """Returns factor / divisor times the cost."""
        amounts = (self.requests, self.input_tokens, self.output_tokens)
        requests, input_tokens, output_tokens = (amount * factor / divisor for amount in amounts)
        return Cost(requests, input_tokens, output_tokens, self.basis)


def observed_cost(work: Work, manifests: Sequence[Manifest]) -> Cost | None:
    """The cost of a unit by earlier results: this model's own, else the others'; None where unknown."""
    runs = [
        manifest
        for manifest in manifests
        if manifest.suite == work.suite_id and manifest.usage.requests and not manifest.usage.uncounted
    ]
    own_runs = [manifest for manifest in runs if manifest.model == work.row.id]
    runs = own_runs or runs
    units = sum(sum(manifest.outcomes.values()) for manifest in runs)
    if not units:
        return None
    usage = sum((manifest.usage for manifest in runs), Usage())
    basis = f"{units} units of this model" if own_runs else f"{units} units of {len(runs)} other models"
    return Cost(usage.requests, usage.input_tokens, usage.output_tokens, basis).times(1, units)


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
        self.requests += 1
        messages = [prompt.text] if isinstance(prompt, Completion) else [m.content for m in prompt.messages]
        self.characters += sum(map(len, messages))
        self.limit += sampling.max_tokens
        return Answer(Reply(text=""), Usage(), 0.0, self.id)


async def highest_cost(work: Work, grader: Grader) -> Cost:
    """Returns the most that a unit may cost: the suite's first units are run against a model of a dry run.

    Replies are taken at their token limit; a suite that goes on from a reply (a loop) is seen up to its first
    question, which stands for all that may follow.
    """
    model = DryRunModel(work.row.id, work.row.kind)
    suite, tasks = work.built.suite, spread(work.built.chosen, _PROBED_TASKS)
    for task in tasks:
        await suite.run(task.task_id, 0, model, grader, work.protocol, work.judge)
    if not model.requests:
        return Cost(0.0, 0.0, 0.0, "asks nothing")
    requests = work.built.entry.most_requests or model.requests / len(tasks)
    input_tokens = model.characters / CHARACTERS_A_TOKEN
    seen = Cost(model.requests, input_tokens, model.limit, "first prompts; at most")
    return seen.times(requests, model.requests)
