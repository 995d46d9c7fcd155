"""Which lines and variables are asked about, by REval's rules (section III-D of the paper).

Lines: the last suitable statement of each basic block. Variables: what an assignment assigns, what a `return`
gives back, what a bare expression changed.
"""

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from operator import itemgetter

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class CandidateStatement:
    """A statement that may be asked about."""

    line: int
    statement: ast.stmt
    function: Function
    last: bool
    """Whether it is its block's last suitable statement."""


def candidate_statements(program: str) -> tuple[CandidateStatement, ...]:
    """All suitable statements of a program's functions, by function and breadth first within it."""
    candidates: list[CandidateStatement] = []
    for function in functions(ast.parse(program)):
        for block in blocks(function):
            suitable = [statement for statement in block.statements if _is_suitable(statement)]
            candidates += [
                CandidateStatement(statement.lineno, statement, function, statement is suitable[-1])
                for statement in suitable
            ]
    return tuple(candidates)


def _is_suitable(statement: ast.stmt) -> bool:
    """At a bare `yield` others change variables, so that those have one value before and one after it."""
    match statement:
        case ast.Expr(ast.Constant() | ast.Yield() | ast.YieldFrom()) | ast.AnnAssign(value=None):
            return False
    return isinstance(statement, ast.Expr | ast.Assign | ast.AugAssign | ast.AnnAssign | ast.Return)


def watches(places: Sequence[CandidateStatement]) -> dict[int, list[str]]:
    """For each line the expressions whose values the tracer has to record there."""
    watched: dict[int, dict[str, None]] = {}
    names = [name for candidate in places for name in assigned(candidate.statement)]
    for candidate in places:
        statement = candidate.statement
        texts = names if _returns_constant(statement) else [*assigned(statement), *returned(statement)]
        watched.setdefault(candidate.line, {}).update(dict.fromkeys(texts))
    return {line: list(texts) for line, texts in watched.items()}


def choose(
    places: Sequence[CandidateStatement], changed: Callable[[int], Sequence[str]]
) -> list[tuple[int, str]]:
    """The line of each block end with the variable to ask about, by line; empty where there is none.

    `changed` gives what a line changed.
    """
    pairs: list[tuple[int, str]] = []
    earlier: list[tuple[CandidateStatement, str]] = []
    for candidate in places:
        statement = candidate.statement
        if isinstance(statement, ast.Expr):
            variables = list(changed(candidate.line))
        elif _returns_constant(statement):
            variables = _nearest(candidate, earlier)
        else:
            variables = [*assigned(statement), *returned(statement)]
        earlier += [(candidate, name) for name in variables]
        if candidate.last:
            pairs.append((candidate.line, variables[0] if variables else ""))
    return sorted(pairs, key=itemgetter(0))


def assigned(statement: ast.stmt) -> list[str]:
    """The targets of an assignment as text; none where a plain constant or empty collection is assigned."""
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
    """`self.rows[key(x)]` becomes `self.rows`: a variable is read, and reading must not call anything."""
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
        names = {part.id for part in ast.walk(ast.parse(name)) if isinstance(part, ast.Name)}
        is_known = name.startswith("self.") and names <= known
        if other.line < candidate.line and (other.function is candidate.function or is_known):
            return [name]
    return []


@dataclass(eq=False)
class Block:
    """Statements that are executed one after the other, and the blocks that may follow.

    The header of a branch or loop stands at the end of its block. Exceptions are edges from the beginning of
    a `try` body to its handlers; `with` does not branch.
    """

    statements: list[ast.stmt] = field(default_factory=list)
    next: list["Block"] = field(default_factory=list)

    def to(self, target: "Block") -> None:
        if target not in self.next:
            self.next.append(target)


def blocks(function: Function) -> list[Block]:
    """The blocks of a function's body that can be reached, breadth first from its beginning.

    Written here because the best-known library for it, staticfg, was last released in 2020, before `match`
    and `except*`.
    """
    order = [Block()]
    _follow(function.body, order[0])
    for block in order:
        order += [target for target in block.next if target not in order]
    return order


def functions(program: ast.Module) -> list[Function]:
    """Every function and method, nested ones too, in the order of the text."""
    nodes = [node for node in ast.walk(program) if isinstance(node, Function)]
    return sorted(nodes, key=lambda function: (function.lineno, function.col_offset))


def _follow(body: list[ast.stmt], block: Block) -> Block | None:
    """Appends statements to `block`; the block by which control leaves them, None where it never does."""
    current: Block | None = block
    for statement in body:
        # Statements after a `return` get a block that nothing leads to: it is never visited.
        current = _statement(statement, current or Block())
    return current


def _statement(statement: ast.stmt, block: Block) -> Block | None:
    after = Block()
    if isinstance(statement, ast.For | ast.AsyncFor | ast.While):
        block.to(header := Block([statement]))
        _branch(header, header, statement.body)
        _branch(header, after, statement.orelse)
        header.to(after)  # past its `else`, as `break` leaves it
        return after
    block.statements.append(statement)
    end: Block | None = block
    match statement:
        case ast.If():
            end = _branch(block, after, statement.body, statement.orelse)
        case ast.Match():
            end = _branch(block, after, *(case.body for case in statement.cases), [])
        case ast.Try() | ast.TryStar():
            end = _try(statement, block, after)
        case ast.With() | ast.AsyncWith():
            end = _follow(statement.body, block)
        case ast.Return() | ast.Raise() | ast.Break() | ast.Continue():
            end = None
    return end


def _branch(before: Block, after: Block, *bodies: list[ast.stmt]) -> Block:
    """Leads from a block through each of the bodies, or past an empty one, to the block after them."""
    for body in bodies:
        first = Block() if body else after
        before.to(first)
        last = _follow(body, first) if body else None
        if last:
            last.to(after)
    return after


def _try(statement: ast.Try | ast.TryStar, block: Block, after: Block) -> Block:
    joined = Block()
    if end := _follow(statement.body, block):
        _branch(end, joined, statement.orelse)
    _branch(block, joined, *(handler.body for handler in statement.handlers))
    if last := _follow(statement.finalbody, joined):
        last.to(after)
    return after
