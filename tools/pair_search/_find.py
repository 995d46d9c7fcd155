"""Which problems can follow which: by the types of what references returned, then by executing the pairs."""

import asyncio
import hashlib
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from pair_search._types import Type, common_type, fits, type_of
from triathlon_runner.datasets import Problem
from triathlon_runner.evolved.problem_pairs import composed, composed_reference, prompt_parts
from triathlon_runner.sandbox import Call, Job, Limits, Returned, Sandbox, SandboxError, Source

MIN_INPUTS: Final = 3
"""Inputs that must remain of a pair; their outputs must not all be the same."""
_LIMITS: Final = Limits(cpu_seconds=4.0, result_bytes=1 << 20)
"""A pair whose own reference takes more is left out: some second steps explode on what the first gives."""


@dataclass(frozen=True, slots=True)
class ProblemPair:
    """B after A."""

    first: str
    second: str
    dropped: tuple[int, ...] = ()
    """Positions of A's base inputs whose result B's contract forbids, or on which B's reference fails."""


@dataclass(frozen=True, slots=True)
class FoundPairs:
    """What the search over a set gave."""

    matching: int
    """Pairs whose types match."""
    pairs: tuple[ProblemPair, ...]
    """Those of them that execute, in the order of the set."""


@dataclass(frozen=True, slots=True)
class _Known:
    problem: Problem
    result: Type
    argument: Type | None
    """None where the function does not take exactly one argument."""


async def find_pairs(
    problems: Sequence[Problem], requires: Mapping[str, str], sandbox: Sandbox
) -> FoundPairs:
    """All pairs of a set that can be solved in sequence.

    Args:
        problems: the set; only base inputs count.
        requires: by task_id the body of a contract check, where a problem has one.
        sandbox: where the references run.

    Raises:
        SandboxError: a reference did not return on its inputs.
    """
    known = await asyncio.gather(*(_look_at(problem, sandbox) for problem in problems))
    matching = [(first, second) for first in known for second in known if _can_follow(first, second)]
    tried = await asyncio.gather(
        *(
            _try(first.problem, second.problem, requires.get(second.problem.task_id, ""), sandbox)
            for first, second in matching
        )
    )
    return FoundPairs(len(matching), tuple(pair for pair in tried if pair is not None))


def draw(known: FoundPairs, most: int) -> tuple[ProblemPair, ...]:
    """At most so many of the pairs, drawn at random but always the same, in the order of the set.

    The paper combines at random too, and does not say how many pairs its 1,074 were drawn from.
    """
    lots = {pair: hashlib.sha256(f"{pair.first}+{pair.second}".encode()).digest() for pair in known.pairs}
    chosen = set(sorted(known.pairs, key=lots.__getitem__)[:most])
    return tuple(pair for pair in known.pairs if pair in chosen)


async def _look_at(problem: Problem, sandbox: Sandbox) -> _Known:
    """Runs the reference to see the types of its arguments and results.

    The arguments come back from a function that returns them: they are source text until then.
    """
    inputs = tuple(map(Source, problem.inputs[: problem.base_inputs]))
    program = f"{problem.reference}\n\ndef its_arguments(*arguments):\n    return arguments\n"
    calls = (
        *(Call("its_arguments", text) for text in inputs),
        *(Call(problem.entry_point, text) for text in inputs),
    )
    execution = await sandbox.run(Job(program, calls, limits=_LIMITS, libraries=problem.libraries))
    values = [result.value for result in execution.results if isinstance(result, Returned)]
    if len(values) != len(calls):
        raise SandboxError(f"the reference of {problem.task_id} did not return on every base input")
    arguments, results = values[: len(inputs)], values[len(inputs) :]
    one_argument = all(len(row) == 1 for row in arguments)
    argument = common_type(type_of(row[0]) for row in arguments) if one_argument else None
    return _Known(problem, common_type(map(type_of, results)), argument)


def _can_follow(first: _Known, second: _Known) -> bool:
    if second.argument is None or first.problem.entry_point == second.problem.entry_point:
        return False
    if "checker" in (first.problem.comparison.oracle, second.problem.comparison.oracle):
        # Several results are right: so would be those of what follows; and a check looks at the arguments.
        return False
    return fits(first.result, second.argument) and _has_parts(first.problem) and _has_parts(second.problem)


def _has_parts(problem: Problem) -> bool:
    try:
        prompt_parts(problem)
    except (SyntaxError, ValueError):
        return False
    return True


async def _try(first: Problem, second: Problem, requires: str, sandbox: Sandbox) -> ProblemPair | None:
    """The pair with the inputs that it can't take, or None where too little remains."""
    problem = composed(first, second)
    checked = _checked(second, requires)
    calls = tuple(Call(f"{first.entry_point}_then_{checked.entry_point}", Source(t)) for t in problem.inputs)
    job = Job(composed_reference(first, checked), calls, limits=_LIMITS, libraries=problem.libraries)
    execution = await sandbox.run(job)
    if len(execution.results) != len(calls):
        return None
    dropped = [index for index, result in enumerate(execution.results) if not isinstance(result, Returned)]
    outputs = [result.value for result in execution.results if isinstance(result, Returned)]
    if len(outputs) < MIN_INPUTS or all(output == outputs[0] for output in outputs):
        return None
    return ProblemPair(first.task_id, second.task_id, tuple(dropped))


def _checked(second: Problem, requires: str) -> Problem:
    """The problem with a reference that raises where step 1 gives it what its contract forbids.

    `requires` is the body, maybe empty, of a function of its parameter that raises where that is broken.
    """
    parameter = prompt_parts(second).parameters[0].arg
    body = textwrap.indent(textwrap.dedent(requires), "    ") if requires.strip() else "    pass"
    reference = (
        f"{second.reference}\n\ndef requires({parameter}):\n{body}\n\n"
        f"def checked(passed_on):\n    requires(passed_on)\n    return {second.entry_point}(passed_on)\n"
    )
    return replace(second, entry_point="checked", reference=reference)
