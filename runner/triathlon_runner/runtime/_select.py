"""Which lines and variables are asked about, by REval's rules (section III-D of the paper).

Lines: the last suitable statement of each basic block. Variables: what an assignment assigns, what a `return`
gives back, what a bare expression changed.
"""

import ast
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from triathlon_runner.runtime._blocks import blocks, functions
from triathlon_runner.runtime._trace import Trace
from triathlon_runner.syntax import Function, parse

_SUITABLE: Final = (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Return, ast.Expr)


@dataclass(frozen=True, slots=True)
class CandidateStatement:
    """A statement that may be asked about."""

    line: int
    statement: ast.stmt
    function: Function
    last: bool
    """Whether it is its block's last suitable statement."""


@dataclass(frozen=True, slots=True)
class Chosen:
    line: int
    variable: str


@dataclass(slots=True)
class Choice:
    """What was chosen in one run of a program, and which block ends were left out by which rule."""

    pairs: list[Chosen] = field(default_factory=list)
    left_out: dict[int, str] = field(default_factory=dict)


def candidate_statements(program: str) -> tuple[CandidateStatement, ...]:
    """All suitable statements of a program's functions, by function and breadth first within it."""
    candidates: list[CandidateStatement] = []
    for function in functions(parse(program)):
        for block in blocks(function):
            suitable = [statement for statement in block.statements if _suitable(statement)]
            candidates += [
                CandidateStatement(statement.lineno, statement, function, statement is suitable[-1])
                for statement in suitable
            ]
    return tuple(candidates)


def _suitable(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.Expr):
        return not isinstance(statement.value, ast.Constant)
    if isinstance(statement, ast.AnnAssign):
        return statement.value is not None
    return isinstance(statement, _SUITABLE)


def watches(program: str) -> dict[int, list[str]]:
    """For each line the expressions whose values the tracer has to record there."""
    watched: dict[int, dict[str, None]] = {}
    places = candidate_statements(program)
    names = dict.fromkeys(name for candidate in places for name in assigned(candidate.statement))
    for candidate in places:
        texts = dict.fromkeys((*assigned(candidate.statement), *returned(candidate.statement)))
        constant = isinstance(candidate.statement, ast.Return) and _gives_constant(candidate.statement)
        watched.setdefault(candidate.line, {}).update(dict.fromkeys(names) if constant else texts)
    return {line: list(texts) for line, texts in watched.items()}


def choose(places: Sequence[CandidateStatement], trace: Trace) -> Choice:
    """The (line, variable) pairs of one run, by line."""
    choice = Choice()
    earlier: list[tuple[Function, int, str]] = []
    for candidate in places:
        candidates = _candidates(candidate, trace, earlier)
        earlier += [(candidate.function, candidate.line, name) for name in candidates]
        if not candidate.last:
            continue
        if candidates:
            choice.pairs.append(Chosen(candidate.line, candidates[0]))
        else:
            choice.left_out[candidate.line] = _why_no_variable(candidate, trace)
    choice.pairs.sort(key=lambda pair: pair.line)
    return choice


def _candidates(
    candidate: CandidateStatement, trace: Trace, earlier: Sequence[tuple[Function, int, str]]
) -> list[str]:
    statement = candidate.statement
    if isinstance(statement, ast.Expr):
        return changed(trace, candidate.line)
    if isinstance(statement, ast.Return):
        return returned(statement) or (_nearest(candidate, earlier) if _gives_constant(statement) else [])
    return assigned(statement)


def assigned(statement: ast.stmt) -> list[str]:
    """The targets of an assignment as text; none where a plain constant or empty collection is assigned."""
    match statement:
        case ast.Assign():
            targets = [] if is_trivial(statement.value) else statement.targets
        case ast.AnnAssign():
            targets = [] if statement.value is None or is_trivial(statement.value) else [statement.target]
        case ast.AugAssign():
            targets = [statement.target]
        case _:
            targets = []
    names = [ast.unparse(_without_calls(target)) for target in targets]
    return [name for name in names if name != "_"]


def _without_calls(target: ast.expr) -> ast.expr:
    """`self.rows[key(x)]` becomes `self.rows`: a variable is read, and reading must not call anything."""
    while isinstance(target, ast.Subscript) and any(isinstance(node, ast.Call) for node in ast.walk(target)):
        target = target.value
    return target


def is_trivial(value: ast.expr) -> bool:
    """A constant, an empty collection, or a list, tuple or set of constants."""
    match value:
        case ast.Constant():
            return True
        case ast.List() | ast.Tuple() | ast.Set():
            return all(isinstance(part, ast.Constant) for part in value.elts)
        case ast.Dict():
            return not value.keys
    return False


def returned(statement: ast.stmt) -> list[str]:
    """The names that a `return` gives back, alone or in a tuple; never `self`."""
    if not isinstance(statement, ast.Return):
        return []
    value = statement.value
    parts = value.elts if isinstance(value, ast.Tuple) else [value]
    return [part.id for part in parts if isinstance(part, ast.Name) and part.id != "self"]


def _gives_constant(statement: ast.Return) -> bool:
    return isinstance(statement.value, ast.Constant)


def _nearest(candidate: CandidateStatement, earlier: Sequence[tuple[Function, int, str]]) -> list[str]:
    """For a constant `return`: the variable before it that is nearest in the control flow."""
    for function, line, name in reversed(earlier):
        if line < candidate.line and (
            function is candidate.function or _belongs_to(name, candidate.function)
        ):
            return [name]
    return []


def _belongs_to(name: str, function: Function) -> bool:
    """Whether another method's variable exists in this function too: it reads only `self` and parameters."""
    arguments = function.args
    known = {argument.arg for argument in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)}
    names = {node.id for node in ast.walk(ast.parse(name)) if isinstance(node, ast.Name)}
    return name.startswith("self.") and names <= known


def changed(trace: Trace, line: int) -> list[str]:
    """What a line changed: new variables, then changed ones, then attributes of self, each by name."""
    new: dict[str, None] = {}
    changed_values: dict[str, None] = {}
    attributes: dict[str, None] = {}
    for step in trace.at(line):
        if step.after is None or step.frame < 0:
            continue
        for name in sorted(step.after):
            if step.after[name] == step.before.get(name):
                continue
            kind = attributes if name.startswith("self.") else changed_values if name in step.before else new
            kind[name] = None
    return list(dict.fromkeys((*new, *changed_values, *attributes)))


def _why_no_variable(candidate: CandidateStatement, trace: Trace) -> str:
    if isinstance(candidate.statement, ast.Expr):
        executed = trace.executed(candidate.line)
        return "an expression that changed no variable" if executed else "an expression that did not run"
    if isinstance(candidate.statement, ast.Return):
        return "a return without a variable"
    return "an assignment of a plain constant"
