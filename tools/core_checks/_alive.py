"""What must be true of a problem when it is run: examples, wrong solutions, mutants, parents."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from core_checks import _details
from core_checks._details import CoreProblem, SurvivorEntry
from core_checks._execute import (
    SECONDS_OF_A_REFERENCE,
    Outcome,
    outcomes,
    run_batch,
    shown,
)
from core_checks._mutants import Mutant, mutants
from triathlon_runner.datasets import Comparison
from triathlon_runner.datasets.core import _load
from triathlon_runner.grading import agree
from triathlon_runner.sandbox import Sandbox

INHERITING: Final = frozenset({"verbose", "concise", "tool_use-main_only"})
"""Sets whose reference and inputs are another set's, which is checked itself."""

_Outcomes = tuple[Outcome, ...]


@dataclass(frozen=True, slots=True)
class Report:
    """What running one problem showed."""

    findings: tuple[str, ...]
    """Rules broken; none in a sound problem."""
    mutants: int = 0
    killed: int = 0
    survivors: tuple[str, ...] = ()
    """Mutants that survive and are not listed in the file."""


def judged(
    findings: Iterable[str], changed: Sequence[Mutant], alive: Sequence[str], listed: Sequence[SurvivorEntry]
) -> Report:
    """The report on a program whose mutants were run; a survivor has to be listed, and nothing else."""
    names = {survivor.mutant for survivor in listed}
    open_ones = tuple(name for name in alive if name not in names)
    survivors = (
        *(f"survives and is not judged: {name}" for name in open_ones),
        *(f"judged but no survivor: {name}" for name in sorted(names - set(alive))),
    )
    return Report((*findings, *survivors), len(changed), len(changed) - len(alive), open_ones)


def _same(expected: Outcome, got: Outcome, comparison: Comparison) -> bool:
    """Whether a program gave on one input what the reference gave, by the problem's own rule."""
    if expected.kind != got.kind:
        return False
    return agree(comparison if expected.kind == "value" else Comparison(), expected.value, got.value)


def _all_same(expected: _Outcomes, got: _Outcomes, comparison: Comparison) -> bool:
    return len(expected) == len(got) and all(
        _same(left, right, comparison) for left, right in zip(expected, got, strict=True)
    )


def _promises(core: CoreProblem) -> list[str]:
    """For each input the expression that says whether it keeps what the docstring promises."""
    if not core.requires:
        return []
    asked = _load.asked_function(core.problem.prompt)
    parameters = ", ".join(argument.arg for argument in asked.args.args)
    return [f"bool((lambda {parameters}: {core.requires})(*{text}))" for text in core.problem.inputs]


def _reference_findings(seen: _Outcomes, again: _Outcomes, core: CoreProblem) -> Iterator[str]:
    for name, outcome in zip(core.input_names, seen, strict=False):
        if outcome.kind != "value":
            yield f"the reference {outcome.kind} {outcome.value} on {name!r}"
    if seen != again:
        yield "the reference gives other values when it runs again"
    if all(outcome == seen[0] for outcome in seen):
        yield "every input gives the same value"


def _example_findings(seen: Sequence[_Outcomes], core: CoreProblem) -> Iterator[str]:
    for (call, want), (outcome, *_) in zip(_load.examples(core.problem.prompt), seen, strict=True):
        if outcome != Outcome("value", want):
            yield f"the example {call} shows {want}, the reference gives {outcome.value}"


def _promise_findings(seen: Sequence[_Outcomes], core: CoreProblem) -> Iterator[str]:
    for name, (outcome, *_) in zip(core.input_names, seen, strict=False):
        if outcome != Outcome("value", "True"):
            yield f"the input {name!r} breaks {core.requires!r}: {outcome.value}"


def _wrong_findings(truth: _Outcomes, seen: Sequence[_Outcomes], core: CoreProblem) -> Iterator[str]:
    for wrong, got in zip(core.wrong, seen, strict=True):
        if _all_same(truth, got, core.problem.comparison):
            yield f"the wrong solution passes: {wrong.why}"
        elif got[0].kind == "raised" and len(got) == 1:
            yield f"the wrong solution does not load ({got[0].value}): {wrong.why}"
        elif all(outcome.kind != "value" for outcome in got):
            yield f"the wrong solution never returns: {wrong.why}"


def _parent_findings(
    truth: _Outcomes, seen: Sequence[_Outcomes], parents: Sequence[CoreProblem], core: CoreProblem
) -> Iterator[str]:
    comparison = core.problem.comparison
    for parent, got in zip(parents, seen, strict=True):
        differs = any(
            theirs.kind == "value" and not _same(ours, theirs, comparison)
            for ours, theirs in zip(truth, got, strict=False)
        )
        if _all_same(truth, got, comparison):
            yield f"its parent {parent.name} solves it"
        elif _details.types(core.problem.prompt) == _details.types(parent.problem.prompt) and not differs:
            yield f"its parent {parent.name} gives no other value on any shared input"


async def check_alive(sandbox: Sandbox, core: CoreProblem) -> Report:
    """Runs a problem's reference, examples, wrong solutions, mutants and parents, in one process.

    Raises:
        SandboxError: our machinery failed.
    """
    problem, changed = core.problem, mutants(core.problem.reference)
    parents = [_details.detail(name) for name in problem.parents] if core.set_name != "decompose" else []
    reference = outcomes(problem.reference, problem.entry_point, SECONDS_OF_A_REFERENCE)
    parts = [
        [reference, reference],
        [shown(problem.reference, call) for call, _ in _load.examples(problem.prompt)],
        [shown(problem.reference, promise) for promise in _promises(core)],
        [outcomes(wrong.code, problem.entry_point) for wrong in core.wrong],
        [outcomes(parent.problem.reference, parent.problem.entry_point) for parent in parents],
        [outcomes(mutant.source, problem.entry_point) for mutant in changed],
    ]
    answers = iter(await run_batch(sandbox, problem.inputs, [call for part in parts for call in part]))
    (truth, again), examples, promises, wrong, of_parents, of_mutants = (
        [next(answers) for _ in part] for part in parts
    )
    alive = [
        mutant.name
        for mutant, got in zip(changed, of_mutants, strict=True)
        if _all_same(truth, got, problem.comparison)
    ]
    findings = (
        *_reference_findings(truth, again, core),
        *_example_findings(examples, core),
        *_promise_findings(promises, core),
        *_wrong_findings(truth, wrong, core),
        *_parent_findings(truth, of_parents, parents, core),
    )
    return judged(findings, changed, alive, core.survivors)


async def check_join(sandbox: Sandbox, seed: CoreProblem) -> list[str]:
    """Whether a seed's two halves, joined, solve the seed.

    Raises:
        SandboxError: our machinery failed.
    """
    if not seed.halves:
        return []
    problem, join = seed.problem, _details.join(seed.name)
    halves = [_details.detail(half).problem for half in seed.halves]
    joined = "\n\n\n".join([*(half.reference for half in halves), join])
    programs = [outcomes(program, problem.entry_point) for program in (problem.reference, joined)]
    truth, got = await run_batch(sandbox, problem.inputs, programs)
    unused = [half.entry_point for half in halves if half.entry_point not in join]
    findings = [f"the join does not call {name}" for name in unused]
    if not _all_same(truth, got, problem.comparison):
        findings.append("the two halves, joined, do not solve the seed")
    return findings
