"""Data sets as programs with inputs: what the constructor can make questions of."""

import ast
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import zip_longest
from typing import Final

from triathlon_runner.datasets import ClassProblem, Problem
from triathlon_runner.runtime._assertions import Masked
from triathlon_runner.runtime._masking import mask_test, statements_text
from triathlon_runner.runtime._trace import CaseRun, FunctionRun, Run
from triathlon_runner.syntax import Function, call_text, parse, third_party

MAX_INPUTS: Final = 5
"""Inputs a program at most (REval's own limit)."""
CANDIDATES: Final = 10
"""Inputs that are traced to find `MAX_INPUTS` of them with a question."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """An input that may be asked about."""

    index: int
    run: Run
    text: str
    setup: str = ""
    masked: Masked | None = None
    """None for a call (its assertion is made from the result) and for a test without an assertion to mask."""


@dataclass(frozen=True, slots=True)
class Subject:
    """A program and the inputs that may be asked about."""

    task_id: str
    program: str
    entry_point: str
    candidates: tuple[Candidate, ...]
    test: str = ""
    libraries: frozenset[str] = frozenset()
    level: int | None = None
    pairs: Mapping[int, tuple[tuple[int, str], ...]] | None = None
    """The (line, variable) pairs to ask about, by input, where the data set names them."""


def function_subject(problem: Problem) -> Subject:
    """A function problem: its reference and its first inputs."""
    shown = _shown_call(problem.reference, problem.entry_point)
    return Subject(
        task_id=problem.task_id,
        program=problem.reference,
        entry_point=problem.entry_point,
        candidates=tuple(
            Candidate(
                index,
                FunctionRun(problem.entry_point, arguments),
                shown.format(call_text(problem.entry_point, arguments)),
            )
            for index, arguments in enumerate(problem.inputs[:CANDIDATES])
        ),
        libraries=third_party(problem.reference) | problem.libraries,
        level=problem.level,
    )


def _shown_call(program: str, entry_point: str) -> str:
    """How a call is written so that it gives a value: a generator is read out, a coroutine awaited."""
    for statement in parse(program).body:
        if isinstance(statement, ast.AsyncFunctionDef) and statement.name == entry_point:
            return "await {}"
        if isinstance(statement, ast.FunctionDef) and statement.name == entry_point and _yields(statement):
            return "list({})"
    return "{}"


def _yields(function: ast.FunctionDef) -> bool:
    inner: list[ast.AST] = list(function.body)
    while inner:
        node = inner.pop()
        if isinstance(node, (ast.Yield, ast.YieldFrom)):
            return True
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            inner += ast.iter_child_nodes(node)
    return False


def class_subject(problem: ClassProblem) -> Subject:
    """A class with unittest tests: the first test of each test class, then the second of each, and so on."""
    module = parse(problem.test)
    cases = list(cases_of(module))
    methods = [
        (case, method) for turn in zip_longest(*map(_tests_of, cases)) for case, method in filter(None, turn)
    ]
    return Subject(
        task_id=problem.task_id,
        program=problem.reference,
        entry_point=problem.class_name,
        candidates=tuple(
            case_candidate(index, problem.test, case, method)
            for index, (case, method) in enumerate(methods[:CANDIDATES])
        ),
        test=problem.test,
        libraries=third_party(problem.reference, problem.test) | problem.libraries,
        level=problem.level,
    )


def cases_of(module: ast.Module) -> Iterator[ast.ClassDef]:
    """The classes of a test module that hold test methods."""
    for statement in module.body:
        if isinstance(statement, ast.ClassDef) and _tests_of(statement):
            yield statement


def _tests_of(case: ast.ClassDef) -> list[tuple[ast.ClassDef, Function]]:
    return [(case, method) for method in _methods(case) if method.name.startswith("test")]


def _methods(case: ast.ClassDef) -> Iterable[Function]:
    return (statement for statement in case.body if isinstance(statement, Function))


def first_test(case: ast.ClassDef) -> Function:
    """The first test method in the order of the text."""
    return _tests_of(case)[0][1]


def case_candidate(
    index: int, module: str, case: ast.ClassDef, method: Function, statements: list[ast.stmt] | None = None
) -> Candidate:
    """One test method as an input, with what its set-up does; `statements` where others are shown."""
    setup_methods = [method for method in _methods(case) if method.name in ("setUpClass", "setUp")]
    body = _body(method) if statements is None else statements
    text = statements_text(body)
    return Candidate(
        index=index,
        run=CaseRun(module, case.name, method.name, text),
        text=text,
        setup="\n".join(statements_text(_body(setup_method)) for setup_method in setup_methods),
        masked=mask_test(body),
    )


def _body(method: Function) -> list[ast.stmt]:
    """The statements of a method without its docstring."""
    first = method.body[0]
    documented = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
    return method.body[1:] if documented and len(method.body) > 1 else method.body
