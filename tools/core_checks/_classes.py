"""What must be true of a class: on paper, and when its tests are run on it and on its mutants."""

import ast
from collections.abc import Iterator
from typing import Final

from core_checks._alive import Report, judged
from core_checks._details import CoreClass
from core_checks._execute import SECONDS_OF_A_REFERENCE, run_batch, tested
from core_checks._mutants import mutants
from core_checks._rules import IMPORTS, WIDTH, imports, label_findings
from triathlon_runner.datasets import ClassProblem
from triathlon_runner.sandbox import Sandbox

METHODS: Final = range(3, 6)
"""How many methods a class has beside `__init__`."""
TESTS: Final = 5


def _methods(problem: ClassProblem) -> list[ast.FunctionDef]:
    made = [node for node in ast.parse(problem.reference).body if isinstance(node, ast.ClassDef)]
    return [
        node
        for shown in made
        if shown.name == problem.class_name
        for node in shown.body
        if isinstance(node, ast.FunctionDef) and node.name != "__init__"
    ]


def _root(target: ast.expr) -> ast.expr:
    """`self.grid` for `self.grid[row][seat]`."""
    while isinstance(target, ast.Subscript):
        target = target.value
    return target


def _changes(methods: list[ast.FunctionDef]) -> bool:
    """Whether a method sets an attribute, or an item of one."""
    return any(
        isinstance(node, ast.Attribute | ast.Subscript)
        and isinstance(node.ctx, ast.Store)
        and isinstance(_root(node), ast.Attribute)
        for method in methods
        for node in ast.walk(method)
    )


def _shape(problem: ClassProblem) -> Iterator[str]:
    methods = _methods(problem)
    names = {method.name for method in methods}
    used = {node.attr for made in methods for node in ast.walk(made) if isinstance(node, ast.Attribute)}
    if len(methods) not in METHODS:
        yield f"{len(methods)} methods beside __init__, {METHODS.start} to {METHODS.stop - 1} wanted"
    if not names & used:
        yield "no method uses another"
    if not _changes(methods):
        yield "no method changes an attribute"
    yield from (f"{method.name} needs a docstring" for method in methods if not ast.get_docstring(method))


def _text(core: CoreClass) -> Iterator[str]:
    problem = core.problem
    strange = imports(problem.reference) - IMPORTS | imports(problem.test) - {"unittest"}
    if strange:
        yield f"imports {sorted(strange)}"
    lines = f"{problem.reference}\n{problem.test}".splitlines()
    yield from (f"line too long: {line}" for line in lines if len(line) > WIDTH)


def class_findings(core: CoreClass) -> list[str]:
    """The rules that a class breaks on paper."""
    problem = core.problem
    labels = label_findings(problem.level, problem.topics, core.canary)
    return [*_shape(problem), *_text(core), *labels]


async def check_class(sandbox: Sandbox, core: CoreClass) -> Report:
    """Runs a class's tests on itself and on each of its mutants, in one process.

    Raises:
        SandboxError: our machinery failed.
    """
    problem, changed = core.problem, mutants(core.problem.reference)
    calls = [tested(problem.reference, problem.test, SECONDS_OF_A_REFERENCE)]
    calls += [tested(mutant.source, problem.test) for mutant in changed]
    (own, *_), *seen = await run_batch(sandbox, (), calls)
    alive = [mutant.name for mutant, (got, *_) in zip(changed, seen, strict=True) if got.kind == "value"]
    findings = class_findings(core)
    if own.kind != "value":
        findings.append(f"its own tests do not pass: {own.value}")
    elif own.value < TESTS:
        findings.append(f"{own.value} tests, {TESTS} needed")
    return judged(findings, changed, alive, core.survivors)
