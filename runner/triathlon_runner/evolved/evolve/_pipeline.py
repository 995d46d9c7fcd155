"""Runs one job: from its seed to a problem, or to the reason why it was dropped."""

import ast
from typing import Any, Final

from triathlon_runner.datasets import Problem
from triathlon_runner.evolved.evolve._conversation import Conversation, seeds_for_prompt
from triathlon_runner.evolved.evolve._draft import (
    Draft,
    UnusableReplyError,
    is_copy,
    parse,
    read_halves,
    read_problem,
    seed_draft,
    with_docstring,
    without_examples,
)
from triathlon_runner.evolved.evolve._execute import differing, run_on
from triathlon_runner.evolved.evolve._job import PRESERVING, Job
from triathlon_runner.evolved.evolve._refine import MAX_ROUNDS, DroppedError, Written, refine
from triathlon_runner.replies import extract
from triathlon_runner.sandbox import Sandbox

MAX_REPAIRS: Final = 2
"""How often a reply that cannot be used is returned to the model with the reason."""


async def evolve(job: Job, conversation: Conversation, sandbox: Sandbox) -> tuple[Written, ...]:
    """Carries out one job, which gives one problem, or for decompose two halves.

    Raises:
        DroppedError: it gives no problem.
        InfrastructureError: the job stays open.
    """
    if job.transformation == "decompose":
        return await _decompose(job, conversation, sandbox)
    if job.transformation in PRESERVING:
        return (await _reword(job, conversation, sandbox),)
    (draft,) = await _ask_drafts(job, conversation)
    written = await refine(conversation, sandbox, draft)
    await _check_differs_from_seeds(job, written, sandbox)
    return (written,)


async def _ask_drafts(job: Job, conversation: Conversation) -> tuple[Draft, ...]:
    """The first draft, or two halves, that are usable and no copy of a seed."""
    question, reply = await conversation.ask(f"evolve-{job.transformation}", **_values(job, conversation))
    repairs = 0
    while True:
        try:
            return _read_drafts(job, reply.text)
        except UnusableReplyError as error:
            conversation.set_result(f"cannot be used: {error}")
            if repairs == MAX_REPAIRS:
                raise DroppedError(f"no usable problem came: {error}") from error
            repairs += 1
            _, reply = await conversation.ask(
                "evolve-fix", question=question, answer=reply.text, complaint=str(error)
            )


def _read_drafts(job: Job, reply: str) -> tuple[Draft, ...]:
    if job.transformation == "decompose":
        drafts = read_halves(reply)
    else:
        name = job.parents[0].entry_point if job.transformation in PRESERVING else None
        drafts = (read_problem(reply, helpers=job.transformation == "tool_use", name=name),)
    if any(is_copy(draft, parent) for draft in drafts for parent in job.parents):
        raise UnusableReplyError("one of its functions is the problem that you were given.")
    return drafts


def _values(job: Job, conversation: Conversation) -> dict[str, Any]:
    """What the prompt of a transformation shows: the seeds and the rules of a good problem."""
    return {
        "parents": seeds_for_prompt(job.parents),
        "rules": conversation.prompts.render("evolve-rules"),
    }


async def _reword(job: Job, conversation: Conversation, sandbox: Sandbox) -> Written:
    """The seed in other words: a solution written from them must give what the seed's reference gives."""
    (seed,) = job.parents
    if seed.comparison.oracle in ("checker", "set", "not-none"):
        raise DroppedError("its seed has several right answers, which only the seed's own set can judge")
    (draft,) = await _ask_drafts(job, conversation)
    draft = _with_seeds_examples(draft, seed)
    truth = await run_on(sandbox, seed.reference, seed.entry_point, seed.inputs)
    for number in range(1, MAX_ROUNDS + 1):
        conversation.round = number
        solution = await conversation.solve(draft, turn=number)
        results = await run_on(sandbox, solution, draft.entry_point, seed.inputs)
        differences = differing(seed.inputs, truth, results)
        conversation.note("compare", f"differs from the seed on {len(differences)} of {len(truth)} inputs")
        if not differences:
            return Written(draft, seed.reference, seed.inputs)
        text, right, got = differences[0]
        complaint = f"a solution written from it gives {got} for {text}, where the original gives {right}."
        draft = _with_seeds_examples(await _repaired(job, conversation, draft, complaint), seed)
    raise DroppedError(f"solutions written from it still differ from the seed's after {MAX_ROUNDS} rounds")


async def _repaired(job: Job, conversation: Conversation, draft: Draft, complaint: str) -> Draft:
    question = conversation.prompts.render(f"evolve-{job.transformation}", **_values(job, conversation))
    answer = f"```python\n{draft.prompt}```"
    _, reply = await conversation.ask("evolve-fix", question=question, answer=answer, complaint=complaint)
    try:
        return read_problem(reply.text, name=draft.entry_point)
    except UnusableReplyError as error:
        conversation.set_result(f"not taken: {error}")
        return draft


def _with_seeds_examples(draft: Draft, seed: Problem) -> Draft:
    """The new words around the seed's own signature and examples: nothing else may change."""
    old = seed_draft(seed)
    if draft.parameters != old.parameters:
        raise DroppedError(f"the parameters {draft.parameters} are not the seed's {old.parameters}")
    examples = old.docstring[len(without_examples(old.docstring)) :].strip("\n")
    return with_docstring(old, without_examples(draft.docstring), examples)


async def _decompose(job: Job, conversation: Conversation, sandbox: Sandbox) -> tuple[Written, ...]:
    """Two problems whose references, joined, solve the seed."""
    drafts = await _ask_drafts(job, conversation)
    halves = tuple([await refine(conversation, sandbox, draft) for draft in drafts])
    await _check_join(job, conversation, sandbox, halves)
    return halves


async def _check_join(
    job: Job, conversation: Conversation, sandbox: Sandbox, halves: tuple[Written, ...]
) -> None:
    """Drops the halves where no program that calls both solves the seed."""
    (seed,) = job.parents
    names = {half.draft.entry_point for half in halves}
    truth = await run_on(sandbox, seed.reference, seed.entry_point, seed.inputs)
    for turn in range(1, MAX_ROUNDS + 1):
        _, reply = await conversation.ask(
            "evolve-join",
            turn=turn,
            parents=seeds_for_prompt(job.parents),
            halves="\n\n\n".join(half.draft.prompt.strip("\n") for half in halves),
            entry_point=seed.entry_point,
        )
        extracted = await extract(reply, entry_point=seed.entry_point, prompt=seed.prompt, completes=False)
        program = "\n\n\n".join((*(half.reference for half in halves), extracted.program))
        results = await run_on(sandbox, program, seed.entry_point, seed.inputs)
        right = len(truth) - len(differing(seed.inputs, truth, results))
        conversation.set_result(f"the join gives what the seed gives on {right} of {len(truth)} inputs")
        if right == len(truth):
            tree = parse(extracted.program)
            if names <= {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}:
                return
    raise DroppedError(f"no program that calls both halves solves the seed, in {MAX_ROUNDS} attempts")


async def _check_differs_from_seeds(job: Job, written: Written, sandbox: Sandbox) -> None:
    """Drops a problem that is solved by the reference of a seed that it was evolved from."""
    inputs = written.inputs
    truth = await run_on(sandbox, written.reference, written.draft.entry_point, inputs)
    for parent in job.parents:
        if len(seed_draft(parent).parameters) == len(written.draft.parameters):
            results = await run_on(sandbox, parent.reference, parent.entry_point, inputs)
            if not differing(inputs, truth, results):
                raise DroppedError(f"the reference of its seed {parent.task_id} solves it on all inputs")
