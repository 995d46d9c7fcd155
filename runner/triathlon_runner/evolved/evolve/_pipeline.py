"""One job from its seed to a problem file, or to the reason why there is none."""

import ast
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from triathlon_runner.datasets import Problem
from triathlon_runner.evolved.evolve._draft import (
    Draft,
    UnusableReplyError,
    is_copy,
    main_function,
    parse,
    read_halves,
    read_problem,
    seed_draft,
    with_docstring,
)
from triathlon_runner.evolved.evolve._examples import without_examples
from triathlon_runner.evolved.evolve._execute import run_on, same
from triathlon_runner.evolved.evolve._job import PRESERVING, Job
from triathlon_runner.evolved.evolve._refine import MAX_ROUNDS, DroppedError, Written, refine
from triathlon_runner.evolved.evolve._scribe import Scribe, shown
from triathlon_runner.extraction import extract_program
from triathlon_runner.sandbox import Sandbox

Reader = Callable[[str], tuple[Draft, ...]]
MENDS: Final = 2
"""How often a reply that cannot be used goes back to the model with a complaint."""
WEAK_TESTS: Final = 0.8
"""Share of mutants killed below which a reviewer is told."""
FEW_INPUTS: Final = 10


@dataclass(frozen=True, slots=True)
class Evolved:
    """What a job gave: one problem, or two halves with the program that joins them."""

    problems: tuple[Written, ...]
    join: str = ""
    flags: tuple[str, ...] = ()
    """What a reviewer should look at."""


async def evolve(job: Job, scribe: Scribe, sandbox: Sandbox) -> Evolved:
    """Carries out one job.

    Raises:
        DroppedError: it gives no problem.
        InfrastructureError: the job stays open.
    """
    if job.transformation == "decompose":
        return await _decompose(job, scribe, sandbox)
    if job.transformation in PRESERVING:
        return Evolved((await _reword(job, scribe, sandbox),))
    draft = await _transform(job, scribe)
    written = await refine(scribe, sandbox, draft)
    await _differs_from_seeds(job, written, sandbox)
    return Evolved((written,), flags=_flags(job, written))


async def _transform(job: Job, scribe: Scribe) -> Draft:
    """The first draft that can be used and is no copy.

    Raises:
        DroppedError: none came.
    """
    helpers = job.transformation == "tool_use"
    name = job.parents[0].entry_point if job.transformation in PRESERVING else None

    def read(reply: str) -> tuple[Draft, ...]:
        draft = read_problem(reply, helpers=helpers, name=name)
        if any(is_copy(draft, parent) for parent in job.parents):
            raise UnusableReplyError("it is the problem that you were given.")
        return (draft,)

    (draft,) = await _usable(job, scribe, read)
    return draft


async def _usable(job: Job, scribe: Scribe, read: Reader) -> tuple[Draft, ...]:
    rules = scribe.prompts.render("evolve-rules")
    question, reply = await scribe.ask(
        f"evolve-{job.transformation}", parents=shown(job.parents), rules=rules
    )
    for _ in range(MENDS):
        try:
            return read(reply.text)
        except UnusableReplyError as error:
            scribe.found(f"cannot be used: {error}")
            _, reply = await scribe.ask(
                "evolve-mend", question=question, answer=reply.text, complaint=str(error)
            )
    try:
        return read(reply.text)
    except UnusableReplyError as error:
        scribe.found(f"cannot be used: {error}")
        raise DroppedError(f"no usable problem came: {error}") from error


async def _reword(job: Job, scribe: Scribe, sandbox: Sandbox) -> Written:
    """The seed in other words: a solution written from them must give what the seed's reference gives."""
    (seed,) = job.parents
    draft = _with_seeds_examples(await _transform(job, scribe), seed)
    truth = await run_on(sandbox, seed.reference, seed.entry_point, seed.inputs)
    for number in range(1, MAX_ROUNDS + 1):
        scribe.round = number
        solution = await scribe.solve(draft, turn=number)
        results = await run_on(sandbox, solution, draft.entry_point, seed.inputs)
        rows = zip(seed.inputs, truth, results, strict=True)
        differing = [(text, right, got) for text, right, got in rows if not same(right, got)]
        scribe.note("compare", f"differs from the seed on {len(differing)} of {len(truth)} inputs")
        if not differing:
            inputs = tuple(("seed", text) for text in seed.inputs)
            return Written(
                draft, seed.reference, solution, inputs, mutants=0, killed=0, survivors=(), disputed=()
            )
        text, right, got = differing[0]
        complaint = f"a solution written from it gives {got} for {text}, where the original gives {right}."
        draft = _with_seeds_examples(await _mended(job, scribe, draft, complaint), seed)
    raise DroppedError(f"solutions written from it still differ from the seed's after {MAX_ROUNDS} rounds")


async def _mended(job: Job, scribe: Scribe, draft: Draft, complaint: str) -> Draft:
    rules = scribe.prompts.render("evolve-rules")
    question = scribe.prompts.render(f"evolve-{job.transformation}", parents=shown(job.parents), rules=rules)
    answer = f"```python\n{draft.prompt}```"
    _, reply = await scribe.ask(
        "evolve-mend", turn=scribe.round, question=question, answer=answer, complaint=complaint
    )
    try:
        return read_problem(reply.text, name=draft.entry_point)
    except UnusableReplyError as error:
        scribe.found(f"not taken: {error}")
        return draft


def _with_seeds_examples(draft: Draft, seed: Problem) -> Draft:
    """The new words around the seed's own signature and examples: nothing else may change.

    Raises:
        DroppedError: the parameters are others than the seed's.
    """
    old = seed_draft(seed)
    if draft.parameters != old.parameters:
        raise DroppedError(f"the parameters {draft.parameters} are not the seed's {old.parameters}")
    examples = old.docstring[len(without_examples(old.docstring)) :].strip("\n")
    prose = without_examples(draft.docstring)
    return with_docstring(old, f"{prose}\n\n{examples}" if examples else prose)


async def _decompose(job: Job, scribe: Scribe, sandbox: Sandbox) -> Evolved:
    """Two problems whose references, joined, solve the seed."""
    (seed,) = job.parents

    def read(reply: str) -> tuple[Draft, ...]:
        halves = read_halves(reply)
        if any(is_copy(half, seed) for half in halves):
            raise UnusableReplyError("one of the two is the problem that you were given.")
        return halves

    drafts = await _usable(job, scribe, read)
    halves = [await refine(scribe, sandbox, draft) for draft in drafts]
    join = await _join(job, scribe, sandbox, halves)
    flags = tuple(flag for half in halves for flag in _flags(job, half))
    return Evolved(tuple(halves), join, flags)


async def _join(job: Job, scribe: Scribe, sandbox: Sandbox, halves: list[Written]) -> str:
    """A program that solves the seed by calling both halves.

    Raises:
        DroppedError: none came that does.
    """
    (seed,) = job.parents
    names = {half.draft.entry_point for half in halves}
    truth = await run_on(sandbox, seed.reference, seed.entry_point, seed.inputs)
    for turn in range(1, MAX_ROUNDS + 1):
        _, reply = await scribe.ask(
            "evolve-join",
            turn=turn,
            parents=shown(job.parents),
            halves="\n\n\n".join(half.draft.prompt.strip("\n") for half in halves),
            entry_point=seed.entry_point,
        )
        taken = extract_program(reply, entry_point=seed.entry_point, prompt=seed.prompt, completes=False)
        program = "\n\n\n".join((*(half.reference for half in halves), taken.program))
        results = await run_on(sandbox, program, seed.entry_point, seed.inputs)
        right = sum(same(one, other) for one, other in zip(truth, results, strict=True))
        scribe.found(f"the join gives what the seed gives on {right} of {len(truth)} inputs")
        if right == len(truth) and names <= _names(taken.program):
            return taken.program
    raise DroppedError(f"no program that calls both halves solves the seed, in {MAX_ROUNDS} attempts")


def _names(program: str) -> set[str]:
    return {node.id for node in ast.walk(parse(program)) if isinstance(node, ast.Name)}


async def _differs_from_seeds(job: Job, written: Written, sandbox: Sandbox) -> None:
    """A seed's own reference must not solve what was evolved from it.

    Raises:
        DroppedError: it does.
    """
    inputs = [text for _, text in written.inputs]
    truth = await run_on(sandbox, written.reference, written.draft.entry_point, inputs)
    for parent in job.parents:
        if len(seed_draft(parent).parameters) != len(written.draft.parameters):
            continue
        results = await run_on(sandbox, parent.reference, parent.entry_point, inputs)
        if all(same(right, got) for right, got in zip(truth, results, strict=True)):
            raise DroppedError(f"the reference of its seed {parent.task_id} solves it on all inputs")


def _flags(job: Job, written: Written) -> tuple[str, ...]:
    flags = []
    if written.disputed:
        flags.append(f"the two solutions differ on {len(written.disputed)} further inputs")
    if written.mutants and written.killed / written.mutants < WEAK_TESTS:
        flags.append(f"the inputs kill {written.killed} of {written.mutants} mutants only")
    if len(written.inputs) < FEW_INPUTS:
        flags.append(f"{len(written.inputs)} inputs only")
    if job.transformation == "tool_use" and not _uses_helper(written):
        flags.append("the reference uses none of the helpers")
    if any(argument.annotation is None for argument in main_function(written.draft.prompt).args.args):
        flags.append("parameters without types")
    return tuple(flags)


def _uses_helper(written: Written) -> bool:
    """Whether the main function of the reference calls one of the helpers that the prompt offers."""
    offered = {node.name for node in parse(written.draft.helpers).body if isinstance(node, ast.FunctionDef)}
    functions = [node for node in parse(written.reference).body if isinstance(node, ast.FunctionDef)]
    own = [node for node in functions if node.name not in offered]
    return any(isinstance(n, ast.Name) and n.id in offered for node in own for n in ast.walk(node))
