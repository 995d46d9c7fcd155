"""The control-flow graph of a function, from its syntax tree: basic blocks and what may follow them.

Built for choosing lines: a block is a run of statements that are executed one after the other. The header of
a branch or loop stands at the end of its block. Exceptions are edges from the beginning of a `try` body to
its handlers; `with` does not branch. Written here because the best-known library for it, staticfg, was last
released in 2020, before `match` and `except*`.
"""

import ast
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field

from triathlon_runner.syntax import Function


@dataclass(eq=False)
class Block:
    statements: list[ast.stmt] = field(default_factory=list)
    next: list["Block"] = field(default_factory=list)

    def to(self, *targets: "Block") -> None:
        self.next += [target for target in targets if target not in self.next]


@dataclass(slots=True)
class _Loop:
    header: Block
    after: Block


class _Builder:
    def __init__(self) -> None:
        self._loops: list[_Loop] = []

    def run(self, body: list[ast.stmt], block: Block) -> Block | None:
        """Appends statements to `block`; the block by which control leaves them, None where it never does."""
        current: Block | None = block
        for statement in body:
            # Statements after a `return` get a block that nothing leads to: it is visited last or never.
            current = self._statement(statement, Block() if current is None else current)
        return current

    def _statement(self, statement: ast.stmt, block: Block) -> Block | None:
        block.statements.append(statement)
        end: Block | None = block
        match statement:
            case ast.If():
                end = self._if(statement, block)
            case ast.For() | ast.AsyncFor() | ast.While():
                end = self._loop(statement, block)
            case ast.Try() | ast.TryStar():
                end = self._try(statement, block)
            case ast.With() | ast.AsyncWith():
                end = self.run(statement.body, block)
            case ast.Match():
                end = self._match(statement, block)
            case ast.Return() | ast.Raise():
                end = None
            case ast.Break():
                block.to(self._loops[-1].after)
                end = None
            case ast.Continue():
                block.to(self._loops[-1].header)
                end = None
        return end

    def _branch(self, body: list[ast.stmt], before: Block, after: Block) -> None:
        if not body:
            before.to(after)
            return
        first = Block()
        before.to(first)
        last = self.run(body, first)
        if last is not None:
            last.to(after)

    def _if(self, statement: ast.If, block: Block) -> Block:
        after = Block()
        self._branch(statement.body, block, after)
        self._branch(statement.orelse, block, after)
        return after

    def _loop(self, statement: ast.For | ast.AsyncFor | ast.While, block: Block) -> Block:
        block.statements.pop()
        header, after = Block([statement]), Block()
        block.to(header)
        self._loops.append(_Loop(header, after))
        self._branch(statement.body, header, header)
        self._loops.pop()
        self._branch(statement.orelse, header, after)
        return after

    def _try(self, statement: ast.Try | ast.TryStar, block: Block) -> Block:
        joined, after = Block(), Block()
        end = self.run(statement.body, block)
        if end is not None:
            self._branch(statement.orelse, end, joined)
        for handler in statement.handlers:
            self._branch(handler.body, block, joined)
        last = self.run(statement.finalbody, joined)
        if last is not None:
            last.to(after)
        return after

    def _match(self, statement: ast.Match, block: Block) -> Block:
        after = Block()
        for case in statement.cases:
            self._branch(case.body, block, after)
        block.to(after)
        return after


def blocks(function: Function) -> list[Block]:
    """The blocks of a function's body that can be reached, breadth first from its beginning."""
    entry = Block()
    _Builder().run(function.body, entry)
    seen, order = {id(entry)}, []
    queue = deque([entry])
    while queue:
        block = queue.popleft()
        order.append(block)
        for target in block.next:
            if id(target) not in seen:
                seen.add(id(target))
                queue.append(target)
    return order


def functions(program: ast.Module) -> Iterator[Function]:
    """Every function and method, nested ones too, in the order of the text."""
    nodes = [node for node in ast.walk(program) if isinstance(node, Function)]
    return iter(sorted(nodes, key=lambda function: (function.lineno, function.col_offset)))
