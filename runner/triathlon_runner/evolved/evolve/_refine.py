"""From a first draft to a problem on which two solutions agree (EvoEval, section 2)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from triathlon_runner.evolved.evolve._conversation import Conversation
from triathlon_runner.evolved.evolve._draft import (
    Draft,
    UnusableReplyError,
    as_doctest,
    choose,
    read_problem,
    with_docstring,
    without_examples,
)
from triathlon_runner.evolved.evolve._execute import Result, differing, run_on, same
from triathlon_runner.evolved.evolve._inputs import read_inputs
from triathlon_runner.sandbox import Sandbox
from triathlon_runner.syntax import call_text

MIN_INPUTS: Final = 3
ASKED_INPUTS: Final = 10
MORE_INPUTS: Final = 20
"""Asked for once two solutions agree (EvoEval, section 2: test augmentation by the model)."""
MAX_ROUNDS: Final = 3
"""Attempts at making two solutions agree before the problem is dropped."""


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


@dataclass(frozen=True, slots=True)
class Agreed:
    """Two solutions that give the same on the inputs so far."""

    draft: Draft
    first: str
    second: str
    inputs: tuple[str, ...]


async def refine(conversation: Conversation, sandbox: Sandbox, draft: Draft) -> Written:
    """Solution and inputs, results, real examples in the docstring, second solution, comparison; more inputs.

    Raises:
        DroppedError: no two solutions agreed, or nothing can be executed.
        InfrastructureError: the job stays open.
    """
    for number in range(1, MAX_ROUNDS + 1):
        conversation.round = number
        result = await _round(conversation, sandbox, draft)
        if isinstance(result, Agreed):
            return await _finish(conversation, sandbox, result)
        draft = result
    raise DroppedError(f"two solutions still differ after {MAX_ROUNDS} rounds")


async def _round(conversation: Conversation, sandbox: Sandbox, draft: Draft) -> Agreed | Draft:
    """One round: two solutions that agree, or the problem rewritten for the next round."""
    first = await conversation.solve(draft, turn=2 * conversation.round)
    if not first:
        raise DroppedError("the model gives no solution to its own problem")
    inputs = await _ask_inputs(conversation, draft, ASKED_INPUTS)
    results = await run_on(sandbox, first, draft.entry_point, inputs)
    usable = {text: result for text, result in zip(inputs, results, strict=True) if result.usable}
    works = f"{len(usable)} of {len(inputs)} inputs"
    fault = _first_fault(inputs, results)
    conversation.note("execute", f"{works} give a value{fault}")
    if len(usable) < MIN_INPUTS:
        raise DroppedError(f"its solution works on {works}{fault}")
    backwards = list(usable)[::-1]
    again = await run_on(sandbox, first, draft.entry_point, backwards)
    if differing(backwards, list(usable.values())[::-1], again):  # chance, or a state between calls
        raise DroppedError("its solution gives other values when it runs again in another order")
    repaired = await _repair(conversation, draft, usable)
    second = await conversation.solve(repaired, turn=2 * conversation.round + 1)
    second_results = await run_on(sandbox, second, draft.entry_point, list(usable))
    differences = differing(usable, usable.values(), second_results)
    conversation.note("compare", f"the second solution differs on {len(differences)} of {len(usable)} inputs")
    if not differences:
        return Agreed(repaired, first, second, tuple(usable))
    return await _ask_which_is_right(conversation, repaired, differences)


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


async def _repair(conversation: Conversation, draft: Draft, usable: Mapping[str, Result]) -> Draft:
    """The problem with a docstring that fits what its solution returns, and with real examples in it.

    The model rewrites the prose; the examples are put in here, so that they are true whatever it wrote.
    """
    examples = choose(draft.entry_point, {text: result.value for text, result in usable.items()})
    doctest = as_doctest(examples)
    _, reply = await conversation.ask(
        "evolve-examples",
        problem=draft.prompt.strip("\n"),
        examples=doctest,
        helpers=bool(draft.helpers),
    )
    rewritten = _rewritten(conversation, reply.text, draft)
    return with_docstring(rewritten, without_examples(rewritten.docstring), doctest)


async def _ask_which_is_right(
    conversation: Conversation, draft: Draft, differences: Sequence[tuple[str, Result, Result]]
) -> Draft:
    _, reply = await conversation.ask(
        "evolve-disagree",
        problem=draft.prompt.strip("\n"),
        disagreements="\n".join(
            f"- {call_text(draft.entry_point, text)} gives {left} to the one and {right} to the other"
            for text, left, right in differences[:5]
        ),
        helpers=bool(draft.helpers),
    )
    return _rewritten(conversation, reply.text, draft)


def _rewritten(conversation: Conversation, reply: str, draft: Draft) -> Draft:
    """The problem as the reply has it; the old one where the reply changes more than the docstring."""
    try:
        new = read_problem(reply, helpers=bool(draft.helpers), name=draft.entry_point)
        if (new.parameters, new.helpers) != (draft.parameters, draft.helpers):
            raise UnusableReplyError("it changes the parameters or the helpers.")
    except UnusableReplyError as error:
        conversation.set_result(f"not taken: {error}")
        return draft
    return new


async def _finish(conversation: Conversation, sandbox: Sandbox, agreed: Agreed) -> Written:
    """Asks for more inputs and keeps those on which both solutions agree."""
    draft = agreed.draft
    asked = await _ask_inputs(conversation, draft, MORE_INPUTS, agreed.inputs)
    inputs = list(dict.fromkeys((*agreed.inputs, *asked)))
    results = await run_on(sandbox, agreed.second, draft.entry_point, inputs)
    checks = await run_on(sandbox, agreed.first, draft.entry_point, inputs)
    usable: dict[str, Result] = {}
    disputed: list[str] = []
    for text, result, check in zip(inputs, results, checks, strict=True):
        if result.usable and same(result, check):
            usable[text] = result
        elif result.usable or check.usable:
            disputed.append(f"{call_text(draft.entry_point, text)}: {check} / {result}")
    conversation.note(
        "augment", f"{len(usable)} of {len(inputs)} inputs can be used, {len(disputed)} are disputed"
    )
    first, *others = usable.values()
    if all(same(first, result) for result in others):
        raise DroppedError(f"its solution gives {first} on each of {len(usable)} inputs")
    return Written(draft, agreed.second, tuple(usable), tuple(disputed))


def _first_fault(inputs: Sequence[str], results: Sequence[Result]) -> str:
    fault = next(((t, r) for t, r in zip(inputs, results, strict=True) if not r.usable), None)
    return (
        "" if fault is None else f"; on {fault[0][:80]} it {_FAULTS[fault[1].kind]} {fault[1].text}".rstrip()
    )


_FAULTS: Final = {
    "returned": "gave what is no plain value",
    "raised": "raised",
    "endless": "never ended:",
    "died": "died:",
}
