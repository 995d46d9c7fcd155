"""Carries out jobs, several at a time; what is on disk is not done again."""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from triathlon_runner.errors import InfrastructureError
from triathlon_runner.evolved.evolve._conversation import Conversation
from triathlon_runner.evolved.evolve._files import History, Workspace
from triathlon_runner.evolved.evolve._job import Job
from triathlon_runner.evolved.evolve._pipeline import evolve
from triathlon_runner.evolved.evolve._refine import DroppedError, Written
from triathlon_runner.llm import CHARACTERS_A_TOKEN, Model
from triathlon_runner.models_yaml import Price
from triathlon_runner.prompts import PromptSet
from triathlon_runner.records import Usage
from triathlon_runner.sandbox import Sandbox

MAX_JOBS: Final = 8
"""Jobs in flight; the endpoint and the sandbox have limits of their own."""
_REQUESTS: Final = {"verbose": 2, "concise": 2, "decompose": 12}
_USUAL_REQUESTS: Final = 6
"""Questions of a job that goes well the first time; each further round takes about four more."""
_PROMPT_CHARACTERS: Final = 1200
"""Characters of our own prompts around a problem, on average."""
_TOKENS_A_REPLY: Final = 450


@dataclass(slots=True)
class Progress:
    """Where a run stands."""

    jobs: int
    done_before: int = 0
    finished: int = 0
    dropped: int = 0
    open: dict[str, str] = field(default_factory=dict)
    """Job ids whose model or machinery failed, with the error; the next run tries them again."""
    usage: Usage = field(default_factory=Usage)
    cost_usd: float | None = None


def cost(usage: Usage, price: Price | None) -> float | None:
    """USD for these tokens; None without a price, or where the server did not count them all."""
    if price is None or usage.uncounted:
        return None
    return price.usd(usage.input_tokens, usage.output_tokens)


def estimate(jobs: Iterable[Job]) -> Usage:
    """What these jobs will take, roughly, if every one goes well the first time."""
    usage = Usage()
    for job in jobs:
        requests = _REQUESTS.get(job.transformation, _USUAL_REQUESTS)
        characters = sum(len(parent.prompt) for parent in job.parents) + _PROMPT_CHARACTERS
        usage += Usage(
            requests=requests,
            input_tokens=round(requests * characters / CHARACTERS_A_TOKEN),
            output_tokens=requests * _TOKENS_A_REPLY,
        )
    return usage


@dataclass(frozen=True, slots=True)
class Evolver:
    """What every job needs."""

    model: Model
    prompts: PromptSet
    sandbox: Sandbox
    workspace: Workspace
    price: Price | None = None
    stopped: Callable[[], str] = str
    """Why no new job begins; empty while they may."""


async def run(
    evolver: Evolver, jobs: Sequence[Job], report: Callable[[Progress], None] = lambda _: None
) -> Progress:
    """Carries out what is not on disk yet. `report` gets the progress after every job."""
    remaining = [job for job in jobs if not evolver.workspace.is_done(job)]
    progress = Progress(
        len(jobs), done_before=len(jobs) - len(remaining), cost_usd=cost(Usage(), evolver.price)
    )
    slots = asyncio.Semaphore(MAX_JOBS)

    async def run_within_budget(job: Job) -> None:
        async with slots:
            if why := evolver.stopped():
                progress.open[job.id] = why
            else:
                await _run_job(evolver, job, progress)
            report(progress)

    async with asyncio.TaskGroup() as group:
        for job in remaining:
            group.create_task(run_within_budget(job))
    return progress


async def _run_job(evolver: Evolver, job: Job, progress: Progress) -> None:
    conversation = Conversation(evolver.model, evolver.prompts)
    problems: tuple[Written, ...] = ()
    reason = ""
    try:
        problems = await evolve(job, conversation, evolver.sandbox)
    except DroppedError as error:
        reason = str(error)
    except InfrastructureError as error:
        progress.open[job.id] = evolver.stopped() or str(error)
    progress.usage += conversation.usage
    progress.cost_usd = cost(progress.usage, evolver.price)
    if job.id in progress.open:
        return
    progress.finished += bool(problems)
    progress.dropped += not problems
    evolver.workspace.write(job, problems, _history(evolver, job, conversation, problems, reason))


def _history(
    evolver: Evolver, job: Job, conversation: Conversation, problems: Sequence[Written], reason: str
) -> History:
    return History(
        job=job.id,
        transformation=job.transformation,
        parents=tuple(parent.task_id for parent in job.parents),
        model=evolver.model.id,
        served_model=conversation.served_model,
        prompts=evolver.prompts.sha256,
        status="finished" if problems else "dropped",
        reason=reason,
        rounds=conversation.round,
        steps=tuple(conversation.steps),
        usage=conversation.usage,
        cost_usd=cost(conversation.usage, evolver.price),
        disputed=tuple(text for written in problems for text in written.disputed),
    )
