"""Compares every truth of DREval with a second tracer, on another mechanism.

Run: `TRIATHLON_DATA=<folder> python benchmarks/second_tracer.py`; exit code 1 where they differ.

The program's source is rewritten so that it reports its own steps; nothing is shared with our tracer.
What it reports is defined by the language: before each statement (the header of a loop: each time that it is
looked at; `with`: again when it is left; `except`: when it is tried) the program says on which line it is.
A test keeps the truths as they were when both agreed (`tests/runner/runtime/dreval_truths.json`).
"""

import ast
import asyncio
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from triathlon_runner.datasets import DataStore
from triathlon_runner.runtime import ProgramQuestions, StatementQuestion, Value
from triathlon_runner.runtime._answers import is_same
from triathlon_runner.runtime._catalogue import dreval_programs
from triathlon_runner.runtime._construct import construct
from triathlon_runner.sandbox import Call, Job, Limits, Raised, Sandbox, open_sandbox

RECORDER: Final = """
import random, sys

class _Recorder:
    def __init__(self):
        self.on = False
        self.lines = []
        self.open = {}
        self.frames = 0
        self.values = []
        self.watches = {}

    def enter(self):
        self.frames += 1
        return self.frames

    def begin(self, line, number):
        if self.on:
            self.close(number, sys._getframe(1))
            self.lines.append(line)
            self.open[number] = line
        return True

    def leave(self, number):
        if self.on:
            self.close(number, sys._getframe(1))
        self.open.pop(number, None)

    def inner(self, line):
        if self.on and self.lines and self.lines[-1] != line:
            self.lines.append(line)
        return True

    def close(self, number, frame):
        line = self.open.get(number)
        for text in self.watches.get(line, ()):
            try:
                value = eval(text, frame.f_globals, dict(frame.f_locals))
            except Exception:
                continue
            self.values.append((line, text, _type(value), _show(value)))

    def loop(self, iterable, line, number):
        return _Loop(self, iter(iterable), line, number)

class _Loop:
    def __init__(self, recorder, iterator, line, number):
        self.recorder, self.iterator, self.line, self.number = recorder, iterator, line, number
        self.first = True

    def __iter__(self):
        return self

    def __next__(self):
        if not self.first and self.recorder.on:
            self.recorder.close(self.number, sys._getframe(1))
            self.recorder.lines.append(self.line)
            self.recorder.open[self.number] = self.line
        self.first = False
        return next(self.iterator)

def _type(value):
    kind = type(value)
    own = kind.__module__ in ("builtins", "solution")
    return kind.__name__ if own else kind.__module__ + "." + kind.__qualname__

def _show(value):
    if isinstance(value, (set, frozenset)):
        return "{" + ", ".join(sorted(map(_show, value))) + "}" if value else "set()"
    if isinstance(value, dict):
        return "{" + ", ".join(_show(k) + ": " + _show(v) for k, v in value.items()) + "}"
    if isinstance(value, type):
        return value.__name__
    if type(value) is list:
        return "[" + ", ".join(map(_show, value)) + "]"
    if type(value) is tuple:
        return "(" + ", ".join(map(_show, value)) + ("," if len(value) == 1 else "") + ")"
    if type(value).__name__ in ("ndarray", "matrix"):
        return type(value).__name__.replace("ndarray", "array") + "(" + _show(value.tolist()) + ")"
    if hasattr(value, "item") and type(value).__module__ == "numpy":
        return repr(value.item())
    return repr(value)

_t = _Recorder()

def _run(program, watches, function, arguments):
    names = _load(program)
    return _observe(names, watches, lambda: names[function](*eval(arguments, names)))

def _run_test(program, module, class_name, method, watches):
    names = _load(program)
    known = dict(names)
    exec(compile(module, "<test>", "exec", dont_inherit=True), known)
    case = known[class_name](method)
    case.setUp()
    return _observe(names, watches, getattr(case, method))

def _load(program):
    random.seed(0)
    global _t
    _t = _Recorder()
    numpy = sys.modules.get("numpy")
    if numpy is not None and not hasattr(numpy, "mat"):
        class matrix(numpy.matrix):
            def __float__(self):
                return float(self.item())
        matrix.__module__ = "numpy"
        matrix.__qualname__ = "matrix"
        numpy.mat = lambda data, dtype=None: numpy.asmatrix(data, dtype).view(matrix)
    names = {"__name__": "solution", "_t": _t}
    exec(compile(program, "<rewritten>", "exec", dont_inherit=True), names)
    return names

def _observe(names, watches, call):
    _t.watches = watches
    _t.on = True
    try:
        call()
    finally:
        _t.on = False
    return _t.lines, [value for value in dict.fromkeys(_t.values)]
"""
"""What the rewritten program reports to; runs in the sandbox beside it."""


def rewrite(program: str) -> str:
    """The program with reports of its own steps in every function."""
    tree = _Rewriter().visit(ast.parse(program))
    return ast.unparse(ast.fix_missing_locations(tree))


def _report(name: str, line: int) -> ast.Expr:
    return ast.Expr(_call(name, line))


def _call(name: str, line: int) -> ast.expr:
    return ast.parse(f"_t.{name}({line}, _f)", mode="eval").body


def _first(call: ast.expr, then: ast.expr) -> ast.expr:
    """An expression that reports before it is evaluated."""
    return ast.Subscript(ast.Tuple([call, then], ast.Load()), ast.Constant(1), ast.Load())


class _Rewriter(ast.NodeTransformer):
    """Rewrites functions only: the bodies of modules and classes run before anything is observed."""

    def __init__(self) -> None:
        self._inside = 0
        self._line = 0

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        self._inside += 1
        body = self.block(node.body)
        self._inside -= 1
        entering = ast.parse("_f = _t.enter()").body
        leaving = ast.parse("_t.leave(_f)").body
        node.body = [*entering, ast.Try(body, [], [], leaving)]
        return node

    def block(self, statements: list[ast.stmt]) -> list[ast.stmt]:
        return [new for statement in statements for new in self.statement(statement)]

    def statement(self, node: ast.stmt) -> list[ast.stmt]:
        assert not isinstance(node, (ast.ClassDef, ast.Match, ast.AsyncFor, ast.AsyncWith)), ast.unparse(node)
        line = self._line = node.lineno
        before: list[ast.stmt] = [_report("begin", line)]
        if getattr(node, "body", None) and node.body[0].lineno == line:  # type: ignore[attr-defined]
            return [*before, node]  # all on one line: one step, however often it goes round
        match node:
            case ast.FunctionDef():
                return [*before, self.visit_FunctionDef(node)]
            case ast.If():
                node.test = self.visit(node.test)
                node.body, node.orelse = self.block(node.body), self.block(node.orelse)
            case ast.For():
                looped = ast.parse(f"_t.loop(None, {line}, _f)", mode="eval").body
                assert isinstance(looped, ast.Call)
                looped.args[0] = self.visit(node.iter)
                node.iter = looped
                node.body, node.orelse = self.block(node.body), self.block(node.orelse)
            case ast.While():
                node.test = _first(_call("begin", line), self.visit(node.test))
                node.body, node.orelse = self.block(node.body), self.block(node.orelse)
                return [node]
            case ast.With():
                inner = self.block(node.body)
                node.body = [ast.Try(inner, [], [], [_report("begin", line)])]
            case ast.Try():
                return [*before, self._try(node)]
            case _:
                node = self.generic_visit(node)  # type: ignore[assignment]  # a statement stays one
        return [*before, node]

    def _try(self, node: ast.Try) -> ast.Try:
        node.body, node.orelse = self.block(node.body), self.block(node.orelse)
        node.finalbody = self.block(node.finalbody)
        for handler in node.handlers:
            body = self.block(handler.body)
            if handler.type is None:
                body = [_report("begin", handler.lineno), *body]
            else:
                handler.type = _first(_call("begin", handler.lineno), handler.type)
            handler.body = body
        return node

    def visit_Lambda(self, node: ast.Lambda) -> ast.Lambda:
        node.body = _first(ast.parse(f"_t.inner({self._line})", mode="eval").body, self.visit(node.body))
        return node

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> ast.GeneratorExp:
        report = ast.parse(f"_t.inner({self._line})", mode="eval").body
        node.generators[0].ifs.insert(0, report)
        return node


# Comparing

CALLEES = {
    ("DREval/87", 33, "m"),
    ("DREval/95", 14, "args"),
    ("DREval/100", 12, "new_course"),
    ("DREval/102", 28, "m"),
    ("DREval/123", 11, "sentence"),
    ("DREval/134", 16, "name"),
    ("DREval/148", 10, "path"),
}
"""Official pairs whose variable the line's own function does not have: it belongs to the function that
control goes on to. DREval's truth is its value there, and so is ours; a tracer that keeps to the line's frame
has none."""

Observation = tuple[list[int], list[tuple[int, str, str, str]]]
"""Lines in order; (line, variable, type, text) of every value that was seen."""


async def observe(sandbox: Sandbox, program: ProgramQuestions) -> list[Observation]:
    """What the program reports of itself when its source is rewritten."""
    text = rewrite(program.program)
    calls = []
    for asked in program.inputs:
        watches: dict[int, list[str]] = {}
        for one in asked.statements:
            watches.setdefault(one.line, []).append(_stored(one.variable, program))
        calls.append(
            Call("_run_test", (text, program.test, asked.test_class, asked.test_method, watches))
            if program.test
            else Call("_run", (text, watches, program.entry_point, asked.arguments))
        )
    limits = Limits(cpu_seconds=60)
    job = Job(RECORDER, tuple(calls), limits=limits, libraries=frozenset(program.libraries))
    execution = await sandbox.run(job)
    assert len(execution.results) == len(program.inputs), (program.task_id, execution.detail)
    found = []
    for result in execution.results:
        assert not isinstance(result, Raised), (program.task_id, result)
        found.append(result.value)
    return found


def _stored(variable: str, program: ProgramQuestions) -> str:
    """A private name as its class stores it."""
    return variable.replace("self.__", f"self._{program.entry_point}__")


def differences(
    program: ProgramQuestions, observed: list[Observation]
) -> Iterator[tuple[str, str, int, str]]:
    """Every question whose truth is not what was observed: of what, program, line, variable."""
    for asked, (lines, values) in zip(program.inputs, observed, strict=True):
        for one in asked.statements:
            place = (program.task_id, one.line, one.variable)
            if one.executed is not (one.line in lines):
                yield ("coverage", *place)
            after = {
                lines[index + 1] if index + 1 < len(lines) else -1
                for index, line in enumerate(lines)
                if line == one.line
            }
            if set(one.next_lines) != (after or {-1}):
                yield ("path", *place)
            if not _same_states(one, values, _stored(one.variable, program)):
                yield ("state", *place)


def _same_states(one: StatementQuestion, values: list[tuple[int, str, str, str]], name: str) -> bool:
    seen = [(kind, text) for line, variable, kind, text in values if (line, variable) == (one.line, name)]
    return all(any(_is_seen(value, *row) for row in seen) for value in one.states) and all(
        any(_is_seen(value, *row) for value in one.states) for row in seen
    )


def _is_seen(value: Value, kind: str, text: str) -> bool:
    return kind == value.type and (is_same(text, value) or text.split() == value.text.split())


async def main() -> bool:
    """Whether all truths agree: only a callee's variables are not seen, as this tracer keeps to one frame."""
    folder = Path(os.environ["TRIATHLON_DATA"])
    named = dreval_programs(DataStore(cache=folder, folder=folder, fetch=False))
    async with open_sandbox() as sandbox:
        programs, _ = await construct(named, sandbox)
        observed = await asyncio.gather(*(observe(sandbox, program) for program in programs))
    pairs = zip(programs, observed, strict=True)
    found = {difference for program, seen in pairs for difference in differences(program, seen)}
    unexpected = found ^ {("state", *place) for place in CALLEES}
    print(f"{len(programs)} programs, {len(found)} places differ", *sorted(unexpected), sep="\n")
    return not unexpected


if __name__ == "__main__":
    sys.exit(0 if asyncio.run(main()) else 1)
