"""What a run will take: requests, tokens, dollars and hours.

A unit's cost is known by earlier results, else by the suite's first prompts.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from triathlon_runner.errors import UserError
from triathlon_runner.grading import Grader
from triathlon_runner.llm import CHARACTERS_A_TOKEN, Answer, Chat, Completion, ModelKind, Sampling
from triathlon_runner.models_yaml import ModelRow
from triathlon_runner.records import Manifest, Reply, Usage
from triathlon_runner.schedule import RunPlan, Work, kept_apart, spread, stored_lines
from triathlon_runner.store import ResultsFolder
from triathlon_runner.suites import UnitRun
from triathlon_runner.terminal import counted

_PROBED_TASKS = 3


@dataclass(frozen=True, slots=True)
class Cost:
    """What one unit takes on average, or several together."""

    requests: float = 0.0
    input_tokens: float = 0.0
    output_tokens: float = 0.0
    basis: str = ""
    """The source of these numbers, in words."""

    def __add__(self, other: "Cost") -> "Cost":
        return Cost(
            self.requests + other.requests,
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
        )

    def times(self, factor: float) -> "Cost":
        """Returns so many times the cost."""
        input_tokens, output_tokens = self.input_tokens * factor, self.output_tokens * factor
        return Cost(self.requests * factor, input_tokens, output_tokens, self.basis)


@dataclass(frozen=True, slots=True)
class SuiteEstimate:
    """What is left of one model on one suite."""

    suite: str
    units: int
    open: int
    cost: Cost
    """Of the open units."""
    judge: str = ""
    """Id of the judge that its units may ask, too: that is not in the cost."""
    kept_apart: str = ""
    """That a run does not go on with the file, and why, in a sentence."""
    error: str = ""
    """What is wrong with the file."""


@dataclass(frozen=True, slots=True)
class ModelEstimate:
    """What is left of one model."""

    model: str
    suites: Sequence[SuiteEstimate]
    cost: Cost
    usd: float | None
    """None where the row names no price."""
    hours: float | None
    """None where no speed is known."""
    speed: str
    """Where the speed comes from, or what to do to have one."""


async def estimate(plan: RunPlan, folder: ResultsFolder, grader: Grader) -> list[ModelEstimate]:
    """Estimates every model of a plan without asking any.

    Where no results tell more, each suite is probed once for each kind of model.

    Raises:
        SandboxError: the sandbox failed.
    """
    manifests = list(folder.manifests())
    probed: dict[tuple[str, str], Cost] = {}
    estimates = []
    for works in plan.work.values():
        suites = []
        for work in works:
            cost, kind = observed_cost(work, manifests), (work.suite_id, work.row.kind)
            if cost is None:
                probed[kind] = probed.get(kind) or await highest_cost(work, grader)
                cost = _at_limits_of_row(probed[kind], work)
            left, apart, error = 0, "", ""
            try:
                left, apart = left_to_ask(work, folder)
            except UserError as fault:
                error = f"{work.row.id} {work.suite_id}: {fault}"
            of_open = cost.times(left / work.built.samples if work.asks_for_copies else left)
            judge = (work.settings.get("judge") or {}).get("model", "")
            suites.append(SuiteEstimate(work.suite_id, work.built.count, left, of_open, judge, apart, error))
        if works:
            estimates.append(_of_model(works[0].row, suites, manifests))
    return estimates


def left_to_ask(work: Work, folder: ResultsFolder) -> tuple[int, str]:
    """Returns how many units a run asks, and why it asks none where it keeps the file apart, else "".

    Raises:
        UserError: a damaged line or manifest, or a file that is not read where it is.
    """
    place = work.row.id, work.suite_id
    lines, why = stored_lines(folder, work)
    return (0, kept_apart(folder, why, *place)) if why else (len(work.open_units(lines.units)), "")


def _of_model(row: ModelRow, suites: Sequence[SuiteEstimate], manifests: Sequence[Manifest]) -> ModelEstimate:
    cost = sum((suite.cost for suite in suites), Cost())
    unpriced = 0.0 if row.serve is not None else None
    usd = row.price.usd(cost.input_tokens, cost.output_tokens) if row.price else unpriced
    rate, source = row.speed, "stated"
    if not rate:  # that of the model's last run
        runs = [each for each in manifests if each.model == row.id and each.tokens_per_second]
        rate = max(runs, key=lambda run: run.ended).tokens_per_second if runs else None
        source = "observed"
    # The longest of what the speed and the provider's limits a minute ask for.
    hours = [] if rate is None else [cost.output_tokens / rate / 3600]
    if row.api is not None and row.api.requests_per_minute:
        hours.append(cost.requests / row.api.requests_per_minute / 60)
    if row.api is not None and row.api.tokens_per_minute:
        hours.append((cost.input_tokens + cost.output_tokens) / row.api.tokens_per_minute / 60)
    if not hours and cost.requests:
        source = "unknown: set `speed` (output tokens a second) in the row"
    elif rate is None:
        source = "by the row's limits a minute"
    without_speed = None if cost.requests else 0.0
    return ModelEstimate(row.id, suites, cost, usd, max(hours, default=without_speed), source)


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
    whose = "this model" if own_runs else counted(len(runs), "other model")
    basis = f"{counted(units, 'unit')} of {whose}"
    return Cost(usage.requests, usage.input_tokens, usage.output_tokens, basis).times(1 / units)


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
        await suite.run(UnitRun(task.task_id, 0, model, grader, work.protocol, work.judge))
    if not model.requests:
        return Cost(basis="asks nothing")
    requests = work.built.entry.most_requests or model.requests / len(tasks)
    input_tokens = model.characters / CHARACTERS_A_TOKEN
    seen = Cost(model.requests, input_tokens, model.limit, "first prompts; at most")
    return seen.times(requests / model.requests)


def _at_limits_of_row(cost: Cost, work: Work) -> Cost:
    """Returns the same with replies at the limit that is sent: the row's own, if any, and its reasoning."""
    own, reasoning = work.settings.get("max_tokens"), work.row.api.reasoning_max_tokens if work.row.api else 0
    limits = cost.output_tokens if own is None else own * cost.requests
    return replace(cost, output_tokens=limits + reasoning * cost.requests)
