"""A second tracer, on another mechanism: the program's source is rewritten so that it reports its own steps.

It shares nothing with the tracer under test. What it reports is defined by the language: before each
statement (the header of a loop: each time that it is looked at; `with`: again when it is left; `except`: when
it is tried) the program says on which line it is.
"""

import ast
from typing import Final

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
