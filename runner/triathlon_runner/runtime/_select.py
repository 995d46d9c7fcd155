"""The trace of a run, and which lines and variables are asked about (REval, section III-D of the paper).

Lines: the last suitable statement of each basic block. Variables: what an assignment assigns, what a `return`
gives back, what a bare expression changed.
"""

import ast
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from operator import itemgetter
from typing import Final, Literal

from triathlon_runner.runtime._expressions import names_in
from triathlon_runner.runtime._questions import StatementQuestion, Value
from triathlon_runner.syntax import Function, parse

NOT_EXECUTED: Final = -1
"""The successor of a line that is not executed, and of the last one (REval's own convention)."""


@dataclass(frozen=True, slots=True)
class Step:
    """One execution of a statement, or of a lambda or generator expression on another line."""

    line: int
    before: Mapping[str, Value]
    """Local variables, and attributes of `self` as `self.name`; none where an expression is executed."""
    after: Mapping[str, Value]  # None of them where the end of the statement was not recorded
    watched: Mapping[str, Value]  # Values of the expressions that were asked for, after the statement


@dataclass(frozen=True)
class Trace:
    """All that was recorded of one run."""

    outcome: Literal["returned", "raised", "limit", "untraceable", "lost"]
    """`lost`: the program ended its process, ran out of time, or changed the record."""
    error: str = ""
    """The exception, the limit that was hit, how the program escaped the tracer, or why the trace is lost."""
    result: Value | None = None  # None where the run gave nothing, or nothing that is a variable
    steps: tuple[Step, ...] = ()

    @cached_property
    def _executions(self) -> Mapping[int, list[tuple[Step, Step | None]]]:
        executions: dict[int, list[tuple[Step, Step | None]]] = {}
        for step, following in zip(self.steps, (*self.steps[1:], None), strict=False):
            executions.setdefault(step.line, []).append((step, following))
        return executions

    def at(self, line: int) -> Sequence[tuple[Step, Step | None]]:
        """The executions of a line in order, each with the step that followed; None where none did."""
        return self._executions.get(line, ())

    def truth(self, line: int, variable: str, *, or_at_next_step: bool = False) -> StatementQuestion:
        """The question about a line and a variable with its truth.

        The variable is any watched expression; without a watch a local variable or an attribute of `self`.
        `or_at_next_step`: where the line's function has none, it is one of a function that is called there,
        as REval reads it.
        """
        executions = self.at(line)
        states = _different(step.watched.get(variable) or step.after.get(variable) for step, _ in executions)
        if or_at_next_step and not states:
            states = _different(following.before.get(variable) for _, following in executions if following)
        next_lines = {following.line if following else NOT_EXECUTED for _, following in executions}
        return StatementQuestion(
            line=line,
            variable=variable,
            executed=bool(executions),
            states=states,
            next_lines=tuple(sorted(next_lines or {NOT_EXECUTED})),
        )


def _different(values: Iterable[Value | None]) -> tuple[Value, ...]:
    return tuple(dict.fromkeys(value for value in values if value is not None))


# Lines and variables


@dataclass(frozen=True, slots=True)
class CandidateStatement:
    """A statement that may be asked about."""

    line: int
    statement: ast.stmt
    function: Function
    last: bool  # Whether it is its block's last suitable statement


def candidate_statements(program: str) -> tuple[CandidateStatement, ...]:
    """All suitable statements of a program's functions, by function and breadth first within it."""
    candidates: list[CandidateStatement] = []
    for function in functions(parse(program)):
        for block in blocks(function):
            suitable = [statement for statement in block.statements if _is_suitable(statement)]
            candidates += [
                CandidateStatement(statement.lineno, statement, function, statement is suitable[-1])
                for statement in suitable
            ]
    return tuple(candidates)


def _is_suitable(statement: ast.stmt) -> bool:
    match statement:
        case ast.Expr(ast.Constant()) | ast.AnnAssign(value=None):
            return False
    return isinstance(statement, ast.Expr | ast.Assign | ast.AugAssign | ast.AnnAssign | ast.Return)


def watches(program: str) -> dict[int, list[str]]:
    """For each line the expressions whose values the tracer has to record there."""
    watched: dict[int, dict[str, None]] = {}
    places = candidate_statements(program)
    names = [name for candidate in places for name in _assigned(candidate.statement)]
    for candidate in places:
        statement = candidate.statement
        texts = names if _returns_constant(statement) else [*_assigned(statement), *returned(statement)]
        watched.setdefault(candidate.line, {}).update(dict.fromkeys(texts))
    return {line: list(texts) for line, texts in watched.items()}


def choose(places: Sequence[CandidateStatement], trace: Trace) -> list[tuple[int, str]]:
    """The line of each block end with the variable to ask about, by line; empty where there is none."""
    pairs: list[tuple[int, str]] = []
    earlier: list[tuple[CandidateStatement, str]] = []
    for candidate in places:
        statement = candidate.statement
        if isinstance(statement, ast.Expr):
            variables = _changed(trace, candidate.line)
        elif _returns_constant(statement):
            variables = _nearest(candidate, earlier)
        else:
            variables = [*_assigned(statement), *returned(statement)]
        earlier += [(candidate, name) for name in variables]
        if candidate.last:
            pairs.append((candidate.line, variables[0] if variables else ""))
    return sorted(pairs, key=itemgetter(0))


def _assigned(statement: ast.stmt) -> list[str]:
    """The targets of an assignment as text; none where a plain constant or empty collection is assigned.

    `self.rows[key(x)]` becomes `self.rows`: a variable is read, and reading must not call anything.
    """
    targets: list[ast.expr] = []
    match statement:
        case ast.Assign(of_assignment, value) if not _is_trivial(value):
            targets = of_assignment
        case ast.AnnAssign(target, value=ast.expr() as value) if not _is_trivial(value):
            targets = [target]
        case ast.AugAssign(target):
            targets = [target]
    names = [ast.unparse(_without_calls(target)) for target in targets]
    return [name for name in names if name != "_"]


def _without_calls(target: ast.expr) -> ast.expr:
    while isinstance(target, ast.Subscript) and any(isinstance(node, ast.Call) for node in ast.walk(target)):
        target = target.value
    return target


def _is_trivial(value: ast.expr) -> bool:
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


def _returns_constant(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Return) and isinstance(statement.value, ast.Constant)


def _nearest(candidate: CandidateStatement, earlier: Sequence[tuple[CandidateStatement, str]]) -> list[str]:
    """For a constant `return`: the variable before it that is nearest in the control flow.

    Another method's variable counts where it reads only `self` and parameters of this function, too.
    """
    arguments = candidate.function.args
    known = {argument.arg for argument in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)}
    for other, name in reversed(earlier):
        is_known = name.startswith("self.") and names_in(ast.parse(name)) <= known
        if other.line < candidate.line and (other.function is candidate.function or is_known):
            return [name]
    return []


def _changed(trace: Trace, line: int) -> list[str]:
    """What a line changed: new variables, then changed ones, then attributes of self, each by name."""
    changed: tuple[list[str], ...] = ([], [], [])
    for step, _ in trace.at(line):
        for name, value in sorted(step.after.items()):
            if value != step.before.get(name):
                kind = 2 if name.startswith("self.") else 1 if name in step.before else 0
                changed[kind].append(name)
    return list(dict.fromkeys(name for names in changed for name in names))


# Basic blocks: written here because staticfg, the library for it, was last released in 2020, before `match`


@dataclass(eq=False)
class Block:
    """Statements that are executed one after the other, and the blocks that may follow.

    The header of a branch or loop stands at the end of its block. Exceptions are edges from the beginning of
    a `try` body to its handlers; `with` does not branch.
    """

    statements: list[ast.stmt] = field(default_factory=list)
    next: list["Block"] = field(default_factory=list)


def blocks(function: Function) -> list[Block]:
    """The blocks of a function's body that can be reached, breadth first from its beginning."""
    order = [Block()]
    _add(function.body, order[0], [])
    for block in order:
        order += [target for target in dict.fromkeys(block.next) if target not in order]
    return order


def functions(program: ast.Module) -> list[Function]:
    """Every function and method, nested ones too, in the order of the text."""
    nodes = [node for node in ast.walk(program) if isinstance(node, Function)]
    return sorted(nodes, key=lambda function: (function.lineno, function.col_offset))


_Loops = list[tuple[Block, Block]]  # Of each loop around: its header, and the block after it


def _add(body: list[ast.stmt], block: Block, loops: _Loops) -> Block | None:
    """Appends statements to `block`; the block by which control leaves them, None where it never does."""
    current: Block | None = block
    for statement in body:
        # Statements after a `return` get a block that nothing leads to: it is visited last or never.
        current = _add_statement(statement, current or Block(), loops)
    return current


def _add_statement(statement: ast.stmt, block: Block, loops: _Loops) -> Block | None:
    if isinstance(statement, ast.For | ast.AsyncFor | ast.While):
        header, after = Block([statement]), Block()
        block.next.append(header)
        _branch(header, header, [statement.body], [*loops, (header, after)])
        return _branch(header, after, [statement.orelse], loops)
    block.statements.append(statement)
    match statement:
        case ast.If():
            return _branch(block, Block(), [statement.body, statement.orelse], loops)
        case ast.Match():
            return _branch(block, Block(), [*(case.body for case in statement.cases), []], loops)
        case ast.With() | ast.AsyncWith():
            return _add(statement.body, block, loops)
        case ast.Break() | ast.Continue():
            header, after = loops[-1]
            block.next.append(after if isinstance(statement, ast.Break) else header)
        case ast.Try() | ast.TryStar():
            joined, after = Block(), Block()
            if end := _add(statement.body, block, loops):
                _branch(end, joined, [statement.orelse], loops)
            _branch(block, joined, [handler.body for handler in statement.handlers], loops)
            if last := _add(statement.finalbody, joined, loops):
                last.next.append(after)
            return after
    is_left = isinstance(statement, ast.Return | ast.Raise | ast.Break | ast.Continue)
    return None if is_left else block


def _branch(before: Block, after: Block, bodies: list[list[ast.stmt]], loops: _Loops) -> Block:
    """Leads from a block through each of the bodies, or past an empty one, to the block after them."""
    for body in bodies:
        first = Block() if body else after
        before.next.append(first)
        if body and (last := _add(body, first, loops)):
            last.next.append(after)
    return after
