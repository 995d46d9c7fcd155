"""Which lines and variables are asked about, by REval's rules (section III-D of the paper).

Lines: the last suitable statement of each basic block. Variables: what an assignment assigns, what a `return`
gives back, what a bare expression changed.
"""

import ast
from collections.abc import Sequence
from dataclasses import dataclass, field
from operator import itemgetter

from triathlon_runner.runtime._expressions import names_in
from triathlon_runner.runtime._trace import Trace
from triathlon_runner.syntax import Function, parse


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
    names = [name for candidate in places for name in assigned(candidate.statement)]
    for candidate in places:
        statement = candidate.statement
        texts = names if _returns_constant(statement) else [*assigned(statement), *returned(statement)]
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
        is_known = name.startswith("self.") and names_in(ast.parse(name)) <= known
        if other.line < candidate.line and (other.function is candidate.function or is_known):
            return [name]
    return []


def _changed(trace: Trace, line: int) -> list[str]:
    """What a line changed: new variables, then changed ones, then attributes of self, each by name."""
    new: dict[str, None] = {}
    changed: dict[str, None] = {}
    attributes: dict[str, None] = {}
    for step, _ in trace.at(line):
        for name, value in sorted(step.after.items()):
            if value != step.before.get(name):
                kind = attributes if name.startswith("self.") else changed if name in step.before else new
                kind[name] = None
    return list(dict.fromkeys((*new, *changed, *attributes)))


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
    _BlockBuilder().run(function.body, order[0])
    for block in order:
        order += [target for target in block.next if target not in order]
    return order


def functions(program: ast.Module) -> list[Function]:
    """Every function and method, nested ones too, in the order of the text."""
    nodes = [node for node in ast.walk(program) if isinstance(node, Function)]
    return sorted(nodes, key=lambda function: (function.lineno, function.col_offset))


class _BlockBuilder:
    """Follows the statements of a function and makes blocks of them."""

    def __init__(self) -> None:
        self._loops: list[tuple[Block, Block]] = []
        """Of each loop around: its header, and the block after it."""

    def run(self, body: list[ast.stmt], block: Block) -> Block | None:
        """Appends statements to `block`; the block by which control leaves them, None where it never does."""
        current: Block | None = block
        for statement in body:
            # Statements after a `return` get a block that nothing leads to: it is visited last or never.
            current = self._statement(statement, current or Block())
        return current

    def _statement(self, statement: ast.stmt, block: Block) -> Block | None:
        if isinstance(statement, ast.For | ast.AsyncFor | ast.While):
            return self._loop(statement, block)
        block.statements.append(statement)
        end: Block | None = block
        match statement:
            case ast.If():
                end = self._branch(block, Block(), statement.body, statement.orelse)
            case ast.Match():
                end = self._branch(block, Block(), *(case.body for case in statement.cases), [])
            case ast.Try() | ast.TryStar():
                end = self._try(statement, block)
            case ast.With() | ast.AsyncWith():
                end = self.run(statement.body, block)
            case ast.Return() | ast.Raise():
                end = None
            case ast.Break() | ast.Continue():
                header, after = self._loops[-1]
                block.to(after if isinstance(statement, ast.Break) else header)
                end = None
        return end

    def _branch(self, before: Block, after: Block, *bodies: list[ast.stmt]) -> Block:
        """Leads from a block through each of the bodies, or past an empty one, to the block after them."""
        for body in bodies:
            first = Block() if body else after
            before.to(first)
            last = self.run(body, first) if body else None
            if last:
                last.to(after)
        return after

    def _loop(self, statement: ast.For | ast.AsyncFor | ast.While, block: Block) -> Block:
        header, after = Block([statement]), Block()
        block.to(header)
        self._loops.append((header, after))
        self._branch(header, header, statement.body)
        self._loops.pop()
        return self._branch(header, after, statement.orelse)

    def _try(self, statement: ast.Try | ast.TryStar, block: Block) -> Block:
        joined, after = Block(), Block()
        end = self.run(statement.body, block)
        if end:
            self._branch(end, joined, statement.orelse)
        self._branch(block, joined, *(handler.body for handler in statement.handlers))
        last = self.run(statement.finalbody, joined)
        if last:
            last.to(after)
        return after
