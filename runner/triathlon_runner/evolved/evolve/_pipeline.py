"""One job: from its seeds to problems on which two solutions agree (EvoEval, section 2), or to a reason."""

import ast
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from triathlon_runner.datasets import Problem
from triathlon_runner.datasets.user import Transformation
from triathlon_runner.evolved.evolve._conversation import Conversation, Result, differing, same
from triathlon_runner.evolved.evolve._draft import (
    Draft,
    UnusableReplyError,
    doctest_of,
    is_copy,
    parse,
    read_halves,
    read_inputs,
    read_problem,
    with_docstring,
    without_examples,
)
from triathlon_runner.replies import extract
from triathlon_runner.syntax import call_text

PRESERVING: Final = frozenset({"verbose", "concise"})
"""The meaning stays: reference and inputs are the seed's own."""
MIN_INPUTS: Final = 3
ASKED_INPUTS: Final = 10
MORE_INPUTS: Final = 20
"""Asked for once two solutions agree (EvoEval, section 2: test augmentation by the model)."""
MAX_ROUNDS: Final = 3
"""Attempts at making two solutions agree before the problem is dropped."""
MAX_REPAIRS: Final = 2
"""How often a reply that cannot be used is returned to the model with the reason."""


@dataclass(frozen=True, slots=True)
class Job:
    """One transformation of one seed, or for combine of two."""

    transformation: Transformation
    parents: tuple[Problem, ...]

    @property
    def id(self) -> str:
        """`difficult/core-seeds-fence-posts`: names the job's history and its problem."""
        names = (re.sub(r"[^A-Za-z0-9._-]+", "-", parent.task_id).strip("-.") for parent in self.parents)
        return f"{self.transformation}/{'+'.join(name or 'seed' for name in names)}"


class DroppedError(Exception):
    """The job gives no problem; the message is the reason."""


@dataclass(frozen=True, slots=True)
class Written:
    """A problem that has passed the pipeline and awaits a person's decision."""

    draft: Draft
    reference: str
    inputs: tuple[str, ...]
    """Sources of argument tuples."""
    disputed: tuple[str, ...] = ()
    """Calls on which the two solutions differ although they agreed on the first inputs."""


async def evolve(job: Job, conversation: Conversation) -> tuple[Written, ...]:
    """Carries out one job, which gives one problem, or for decompose two halves.

    Raises:
        DroppedError: it gives no problem.
        InfrastructureError: the job stays open.
    """
    if job.transformation in PRESERVING:
        return (await _reword(job, conversation),)
    _, drafts = await _ask_drafts(job, conversation)
    written = tuple([await _refine(conversation, draft) for draft in drafts])
    if job.transformation == "decompose":
        await _check_join(job, conversation, written)
    else:
        await _check_differs_from_seeds(job, conversation, written[0])
    return written


async def _ask_drafts(job: Job, conversation: Conversation) -> tuple[str, tuple[Draft, ...]]:
    """The question, and the first draft, or two halves, that are usable and no copy of a seed."""
    question, reply = await conversation.ask(
        f"evolve-{job.transformation}",
        parents=_seeds_for_prompt(job),
        rules=conversation.prompts.render("evolve-rules"),
    )
    repairs = 0
    while True:
        try:
            if job.transformation == "decompose":
                drafts = read_halves(reply.text)
            else:
                name = job.parents[0].entry_point if job.transformation in PRESERVING else None
                drafts = (read_problem(reply.text, helpers=job.transformation == "tool_use", name=name),)
            if any(is_copy(draft, parent) for draft in drafts for parent in job.parents):
                raise UnusableReplyError("one of its functions is the problem that you were given.")
            return question, drafts
        except UnusableReplyError as error:
            conversation.set_result(f"cannot be used: {error}")
            if repairs == MAX_REPAIRS:
                raise DroppedError(f"no usable problem came: {error}") from error
            repairs += 1
            _, reply = await conversation.ask(
                "evolve-fix", question=question, answer=reply.text, complaint=str(error)
            )


def _seeds_for_prompt(job: Job) -> list[dict[str, str]]:
    return [{"prompt": each.prompt.strip("\n"), "entry_point": each.entry_point} for each in job.parents]


async def _refine(conversation: Conversation, draft: Draft) -> Written:
    """Solution and inputs, results, real examples in the docstring, second solution, comparison; more inputs.

    Raises:
        DroppedError: no two solutions agreed, or nothing can be executed.
        InfrastructureError: the job stays open.
    """
    for number in range(1, MAX_ROUNDS + 1):
        conversation.round = number
        first, usable = await _solve_on_inputs(conversation, draft)
        # The model rewrites the prose; the examples are put in here, so that they are true whatever it wrote.
        examples = doctest_of(draft.entry_point, {text: result.value for text, result in usable.items()})
        draft = await _rewrite(conversation, draft, "evolve-examples", examples=examples)
        draft = with_docstring(draft, without_examples(draft.docstring), examples)
        second = await conversation.solve(draft, turn=2 * number + 1)
        results = await conversation.run(second, draft.entry_point, list(usable))
        differences = differing(usable, usable.values(), results)
        conversation.note(
            "compare", f"the second solution differs on {len(differences)} of {len(usable)} inputs"
        )
        if not differences:
            return await _add_inputs(conversation, draft, first, second, list(usable))
        disagreements = "\n".join(
            f"- {call_text(draft.entry_point, text)} gives {left} to the one and {right} to the other"
            for text, left, right in differences[:5]
        )
        draft = await _rewrite(conversation, draft, "evolve-disagree", disagreements=disagreements)
    raise DroppedError(f"two solutions still differ after {MAX_ROUNDS} rounds")


async def _solve_on_inputs(conversation: Conversation, draft: Draft) -> tuple[str, dict[str, Result]]:
    """A first solution, and by input what it returns; it must do so again in another order."""
    program = await conversation.solve(draft, turn=2 * conversation.round)
    if not program:
        raise DroppedError("the model gives no solution to its own problem")
    inputs = await _ask_inputs(conversation, draft, ASKED_INPUTS)
    results = await conversation.run(program, draft.entry_point, inputs)
    by_input = dict(zip(inputs, results, strict=True))
    usable = {text: result for text, result in by_input.items() if result.usable}
    works = f"{len(usable)} of {len(inputs)} inputs"
    faults = (f"; on {text[:80]}: {result}" for text, result in by_input.items() if not result.usable)
    fault = next(faults, "")
    conversation.note("execute", f"{works} give a value{fault}")
    if len(usable) < MIN_INPUTS:
        raise DroppedError(f"its solution works on {works}{fault}")
    backwards = list(usable)[::-1]
    again = await conversation.run(program, draft.entry_point, backwards)
    if differing(backwards, list(usable.values())[::-1], again):  # chance, or a state between calls
        raise DroppedError("its solution gives other values when it runs again in another order")
    return program, usable


async def _ask_inputs(
    conversation: Conversation, draft: Draft, count: int, known: Sequence[str] = ()
) -> list[str]:
    _, reply = await conversation.ask(
        "evolve-inputs",
        problem=draft.prompt.strip("\n"),
        entry_point=draft.entry_point,
        count=count,
        known="\n".join(call_text(draft.entry_point, text) for text in known),
    )
    inputs = read_inputs(reply.text, draft.entry_point, len(draft.parameters))
    conversation.set_result(f"{len(inputs)} inputs")
    return inputs


async def _rewrite(conversation: Conversation, draft: Draft, prompt: str, **values: Any) -> Draft:
    """The problem as the model rewrites it; the old one where that changes more than the docstring."""
    problem, helpers = draft.prompt.strip("\n"), bool(draft.helpers)
    _, reply = await conversation.ask(prompt, problem=problem, helpers=helpers, **values)
    try:
        new = read_problem(reply.text, helpers=helpers, name=draft.entry_point)
        if (new.parameters, new.helpers) != (draft.parameters, draft.helpers):
            raise UnusableReplyError("it changes the parameters or the helpers.")
    except UnusableReplyError as error:
        conversation.set_result(f"not taken: {error}")
        return draft
    return new


async def _add_inputs(
    conversation: Conversation, draft: Draft, first: str, second: str, known: list[str]
) -> Written:
    """Asks for more inputs and keeps those on which both solutions agree."""
    asked = await _ask_inputs(conversation, draft, MORE_INPUTS, known)
    inputs = list(dict.fromkeys((*known, *asked)))
    results = await conversation.run(second, draft.entry_point, inputs)
    checks = await conversation.run(first, draft.entry_point, inputs)
    usable: dict[str, Result] = {}
    disputed: list[str] = []
    for text, result, check in zip(inputs, results, checks, strict=True):
        if result.usable and same(result, check):
            usable[text] = result
        elif result.usable or check.usable:
            disputed.append(f"{call_text(draft.entry_point, text)}: {check} / {result}")
    counts = f"{len(usable)} of {len(inputs)} inputs can be used, {len(disputed)} are disputed"
    conversation.note("augment", counts)
    value, *others = usable.values()
    if all(same(value, result) for result in others):
        raise DroppedError(f"its solution gives {value} on each of {len(usable)} inputs")
    return Written(draft, second, tuple(usable), tuple(disputed))


async def _reword(job: Job, conversation: Conversation) -> Written:
    """The seed in other words: a solution written from them must give what the seed's reference gives."""
    (seed,) = job.parents
    if seed.comparison.oracle in ("checker", "set", "not-none"):
        raise DroppedError("its seed has several right answers, which only the seed's own set can judge")
    question, (draft,) = await _ask_drafts(job, conversation)
    draft = _with_seeds_examples(draft, seed)
    truth = await conversation.run(seed.reference, seed.entry_point, seed.inputs)
    for number in range(1, MAX_ROUNDS + 1):
        conversation.round = number
        solution = await conversation.solve(draft, turn=number)
        results = await conversation.run(solution, draft.entry_point, seed.inputs)
        differences = differing(seed.inputs, truth, results)
        conversation.note("compare", f"differs from the seed on {len(differences)} of {len(truth)} inputs")
        if not differences:
            return Written(draft, seed.reference, seed.inputs)
        text, right, got = differences[0]
        complaint = f"a solution written from it gives {got} for {text}, where the original gives {right}."
        answer = f"```python\n{draft.prompt}```"
        draft = await _rewrite(
            conversation, draft, "evolve-fix", question=question, answer=answer, complaint=complaint
        )
        draft = _with_seeds_examples(draft, seed)
    raise DroppedError(f"solutions written from it still differ from the seed's after {MAX_ROUNDS} rounds")


def _with_seeds_examples(draft: Draft, seed: Problem) -> Draft:
    """The new words around the seed's own signature and examples: nothing else may change."""
    old = Draft(seed.entry_point, seed.prompt)
    if draft.parameters != old.parameters:
        raise DroppedError(f"the parameters {draft.parameters} are not the seed's {old.parameters}")
    examples = old.docstring[len(without_examples(old.docstring)) :].strip("\n")
    return with_docstring(old, without_examples(draft.docstring), examples)


async def _check_join(job: Job, conversation: Conversation, halves: tuple[Written, ...]) -> None:
    """Drops the halves where no program that calls both solves the seed."""
    (seed,) = job.parents
    names = {half.draft.entry_point for half in halves}
    truth = await conversation.run(seed.reference, seed.entry_point, seed.inputs)
    for turn in range(1, MAX_ROUNDS + 1):
        _, reply = await conversation.ask(
            "evolve-join",
            turn=turn,
            parents=_seeds_for_prompt(job),
            halves="\n\n\n".join(half.draft.prompt.strip("\n") for half in halves),
            entry_point=seed.entry_point,
        )
        extracted = await extract(reply, entry_point=seed.entry_point, prompt=seed.prompt, completes=False)
        program = "\n\n\n".join((*(half.reference for half in halves), extracted.program))
        results = await conversation.run(program, seed.entry_point, seed.inputs)
        right = len(truth) - len(differing(seed.inputs, truth, results))
        conversation.set_result(f"the join gives what the seed gives on {right} of {len(truth)} inputs")
        if right == len(truth):
            tree = parse(extracted.program)
            if names <= {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}:
                return
    raise DroppedError(f"no program that calls both halves solves the seed, in {MAX_ROUNDS} attempts")


async def _check_differs_from_seeds(job: Job, conversation: Conversation, written: Written) -> None:
    """Drops a problem that is solved by the reference of a seed that it was evolved from."""
    inputs = written.inputs
    truth = await conversation.run(written.reference, written.draft.entry_point, inputs)
    for parent in job.parents:
        parameters = Draft(parent.entry_point, parent.prompt).parameters
        if len(parameters) == len(written.draft.parameters):
            results = await conversation.run(parent.reference, parent.entry_point, inputs)
            if not differing(inputs, truth, results):
                raise DroppedError(f"the reference of its seed {parent.task_id} solves it on all inputs")
