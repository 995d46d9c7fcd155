"""Runs a program on one input and records every step: the line and the values before and after it.

A step is one execution of a statement (the header, for a compound one), named by the line that it begins on.
It lasts until its frame goes on to another statement, leaves, or comes back to the statement's beginning; so
a statement over several lines, or a loop on a single line, is one step. Comprehensions belong to the
statement that holds them.
"""

import ast
import contextlib
import importlib
import inspect
import io
import linecache
import random
import sys
from collections.abc import Callable, Coroutine
from types import CodeType, FrameType, ModuleType
from typing import Any

from triathlon_runner.runtime._sandboxed.literal import (
    NO_VARIABLES,
    Speller,
    UnspeakableError,
    foreign_repr,
    type_name,
)

FILE = "<traced>"
TEST_FILE = "<test>"
_IN_PLACE = {"<listcomp>", "<setcomp>", "<dictcomp>"}
_EXPRESSIONS = {"<lambda>", "<genexpr>"}
_GENERATORS = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR


class StopTracingError(BaseException):
    """A limit was hit. A program that catches everything is cut off all the same: tracing has ended."""


class Table:
    """Each different thing once, by its number."""

    def __init__(self) -> None:
        self.rows: list[Any] = []
        self._numbers: dict[Any, int] = {}

    def number(self, row: Any) -> int:
        number = self._numbers.get(row)
        if number is None:
            number = self._numbers[row] = len(self.rows)
            self.rows.append(row)
        return number


class _Activity:
    """What one frame is doing: its open step and where in its code that began."""

    __slots__ = ("frame", "number", "start", "step")

    def __init__(self, frame: FrameType, number: int) -> None:
        self.frame = frame
        self.number = number
        self.step = -1
        self.start = -1


class Recorder:
    """The trace function, and what it has seen."""

    def __init__(self, program: str, watches: dict[int, list[str]], limits: dict[str, int]) -> None:
        tree = ast.parse(program)
        self.owner = statement_lines(tree)
        self._definitions = definition_lines(tree)
        self.limits = limits
        self.characters = 0
        self.stopped = ""
        self.lines: list[int] = []
        self.frames: list[int] = []
        self.before: list[int] = []
        self.after: list[int] = []
        self.watched: list[list[int]] = []
        self.values = Table()
        self.snapshots = Table()
        self._watches = read_watches(program, watches)
        self._active: dict[int, _Activity] = {}
        self._frames = 0

    def trace(self, frame: FrameType, event: str, _arg: Any) -> Any:
        """The global trace function: chooses the frames that count."""
        code = frame.f_code
        if event != "call" or code.co_filename != FILE or code.co_name in _IN_PLACE:
            return None
        return self._expression if code.co_name in _EXPRESSIONS else self._statement

    def _expression(self, frame: FrameType, event: str, _arg: Any) -> Any:
        """Lambdas and generator expressions run later, elsewhere: a step where the line is another one."""
        line = self.owner.get(frame.f_lineno, frame.f_lineno)
        if event == "line" and self.lines and self.lines[-1] != line:
            self._begin(line, frame=-1, snapshot=-1)
        return self._expression

    def _statement(self, frame: FrameType, event: str, _arg: Any) -> Any:
        if event == "line":
            self._line(frame)
        elif event == "return":
            self._leave(frame)
        return self._statement

    def _line(self, frame: FrameType) -> None:
        activity = self._active.get(id(frame))
        if activity is None:
            activity = self._active[id(frame)] = _Activity(frame, self._frames)
            self._frames += 1
        line = self.owner.get(frame.f_lineno, frame.f_lineno)
        at = frame.f_lasti
        in_class = not frame.f_code.co_flags & inspect.CO_OPTIMIZED
        if in_class and activity.step < 0 and self.lines and self.lines[-1] == line:
            return  # the body of a class statement begins on the statement's own line
        if self._definitions.get(frame.f_code.co_firstlineno) == frame.f_lineno:
            return  # Python 3.11 counts some folded constants of a body to its `def`
        if activity.step >= 0 and self.lines[activity.step] == line and at > activity.start:
            return
        snapshot = self._snapshot(frame)
        self._end(activity, snapshot)
        activity.step = self._begin(line, frame=activity.number, snapshot=snapshot)
        activity.start = at

    def _leave(self, frame: FrameType) -> None:
        activity = self._active.get(id(frame))
        if activity is not None:
            self._end(activity, self._snapshot(frame))
            if not frame.f_code.co_flags & _GENERATORS:
                del self._active[id(frame)]

    def _begin(self, line: int, *, frame: int, snapshot: int) -> int:
        if len(self.lines) >= self.limits["steps"]:
            self._stop("too many steps")
        self.lines.append(line)
        self.frames.append(frame)
        self.before.append(snapshot)
        self.after.append(-1)
        self.watched.append([])
        return len(self.lines) - 1

    def _end(self, activity: _Activity, snapshot: int) -> None:
        """Closes the frame's open step; what a generator does after it was resumed replaces what was seen."""
        if activity.step < 0:
            return
        self.after[activity.step] = snapshot
        watches = self._watches.get(self.lines[activity.step])
        if watches:
            self.watched[activity.step] = [self._look(watch, activity.frame) for watch in watches]

    def _look(self, watch: ast.expr, frame: FrameType) -> int:
        try:
            value = evaluate(watch, {**frame.f_globals, **frame.f_locals})
        except Exception:  # a program's own __getitem__ may raise anything
            return -1
        return self._value(value)

    def _snapshot(self, frame: FrameType) -> int:
        names: list[tuple[str, int]] = []
        for name, value in list(frame.f_locals.items()):
            if name == "self":
                attributes = list(getattr(value, "__dict__", {}).items())
                names += [(f"self.{written(key, value)}", self._value(item)) for key, item in attributes]
            elif not name.startswith("."):
                names.append((name, self._value(value)))
        return self.snapshots.number(tuple(sorted(pair for pair in names if pair[1] >= 0)))

    def _value(self, value: Any) -> int:
        """The number of a value's (type, text, reason why that is no literal); -1 for what is no variable."""
        if isinstance(value, NO_VARIABLES):
            return -1
        try:
            row = (type_name(value), Speller(self.limits["text"]).text(value), "")
        except UnspeakableError as error:
            row = (type_name(value), foreign_repr(value, self.limits["text"]), str(error))
        known = len(self.values.rows)
        number = self.values.number(row)
        if number == known:
            self.characters += len(row[1])
            if self.characters > self.limits["characters"]:
                self._stop("too large")
        return number

    def _stop(self, why: str) -> None:
        self.stopped = why
        raise StopTracingError(why)


def statement_lines(tree: ast.Module) -> dict[int, int]:
    """For every line of a statement (of a compound one's header) the line on which the statement begins."""
    owner: dict[int, int] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt):
            body = getattr(node, "body", None) or getattr(node, "cases", None)
            last = node.end_lineno or node.lineno
            if body:
                first = body[0].pattern.lineno if isinstance(body[0], ast.match_case) else body[0].lineno
                last = max(node.lineno, min(last, first - 1))
            for line in range(node.lineno, last + 1):
                owner[line] = node.lineno  # the innermost counts, and ast.walk comes from the outside in
    return owner


def definition_lines(tree: ast.Module) -> dict[int, int]:
    """For every function, by the first line of its code: the line of its `def`, where its body is below."""
    return {
        min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)]): node.lineno
        for node in ast.walk(tree)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.body[0].lineno > node.lineno
    }


def read_watches(program: str, watches: dict[int, list[str]]) -> dict[int, list[ast.expr]]:
    """The expressions to read at each line, private names as their class stores them."""
    classes = [node for node in ast.walk(ast.parse(program)) if isinstance(node, ast.ClassDef)]
    found: dict[int, list[ast.expr]] = {}
    for line, texts in watches.items():
        around = [node.name for node in classes if node.lineno <= line <= (node.end_lineno or 0)]
        found[line] = [_watch(text, around[-1] if around else "") for text in texts]
    return found


def _watch(text: str, class_name: str) -> ast.expr:
    tree = ast.parse(text, mode="eval").body
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and class_name and _is_private(node.attr):
            node.attr = f"_{class_name.lstrip('_')}{node.attr}"
    return tree


def _is_private(name: str) -> bool:
    return name.startswith("__") and not name.endswith("__")


def written(attribute: str, owner: object) -> str:
    """An attribute's name as the program writes it: `__total` for `_Order__total`."""
    for kind in type(owner).__mro__:
        prefix = f"_{kind.__name__.lstrip('_')}"
        if attribute.startswith(f"{prefix}__"):
            return attribute.removeprefix(prefix)
    return attribute


def evaluate(node: ast.expr, names: dict[str, Any]) -> Any:
    """Reads a variable: names, attributes, subscripts without calls in them, tuples and lists of these.

    Raises:
        LookupError: a call, which could change what is looked at. (And whatever the reading itself raises.)
    """
    if any(isinstance(part, (ast.Call, ast.Await, ast.Yield, ast.NamedExpr)) for part in ast.walk(node)):
        raise LookupError(ast.unparse(node))
    if isinstance(node, (ast.Tuple, ast.List)):
        plain = [part.value if isinstance(part, ast.Starred) else part for part in node.elts]
        values = [evaluate(part, names) for part in plain]
        return tuple(values) if isinstance(node, ast.Tuple) else values
    return eval(compile(ast.Expression(node), "<watch>", "eval"), names)  # noqa: S307 (in the sandbox)


class Nowhere(io.TextIOBase):
    """Takes what a program prints."""

    def write(self, text: str, /) -> int:
        return len(text)


def trace(
    program: str, run: dict[str, str], watches: dict[int, list[str]], limits: dict[str, int]
) -> dict[str, Any]:
    """Traces one run.

    Args:
        program: the source; it is loaded anew, and loading it is not traced.
        run: `{"function", "arguments"}` (source of a tuple), or `{"test", "class", "method", "body"}`.
        watches: expressions to read after each execution of a line.
        limits: `steps`; `text`, characters of one value; `characters`, of all different values.

    Returns:
        Columns over the steps (`lines`, `frames`, `before`, `after`, `watched`), the tables that they point
        into, `outcome` (returned, raised, limit), and `result` or `error`.
    """
    random.seed(0)
    recorder = Recorder(program, watches, limits)
    outcome, result, error = "returned", -1, ""
    with contextlib.redirect_stdout(Nowhere()), contextlib.redirect_stderr(Nowhere()):
        try:
            value = _traced(recorder, load(program), run)
            result = recorder._value(value)
        except BaseException as problem:  # a program may raise anything, SystemExit too
            outcome, error = "raised", f"{type(problem).__name__}: {str(problem)[:300]}"
    if recorder.stopped:
        outcome, error = "limit", recorder.stopped
    types, texts, reasons = _columns(recorder.values.rows, 3)
    return {
        "outcome": outcome,
        "error": error,
        "result": result,
        "lines": recorder.lines,
        "frames": recorder.frames,
        "before": recorder.before,
        "after": recorder.after,
        "watched": recorder.watched,
        "snapshots": [dict(row) for row in recorder.snapshots.rows],
        "types": types,
        "texts": texts,
        "reasons": reasons,
    }


def _columns(rows: list[Any], width: int) -> list[list[Any]]:
    return [[row[column] for row in rows] for column in range(width)]


def load(program: str) -> dict[str, Any]:
    """Executes a program as a fresh module named `program` and gives its names."""
    module = ModuleType("program")
    module.__file__ = FILE
    sys.modules["program"] = module
    _restore_removed_names()
    linecache.cache[FILE] = (len(program), None, program.splitlines(keepends=True), FILE)
    exec(compile(program, FILE, "exec", dont_inherit=True), module.__dict__)  # noqa: S102 (in the sandbox)
    return module.__dict__


def _restore_removed_names() -> None:
    """What NumPy 2 took from programs of DREval: the name `mat`, and float() of a matrix of one element."""
    numpy = sys.modules.get("numpy")
    if numpy is None or hasattr(numpy, "mat"):
        return

    class matrix(numpy.matrix):  # type: ignore[misc, name-defined]  # noqa: N801 (shows as its base)
        def __float__(self) -> float:
            return float(self.item())

    matrix.__module__, matrix.__qualname__ = "numpy", "matrix"
    numpy.mat = lambda data, dtype=None: numpy.asmatrix(data, dtype).view(matrix)  # type: ignore[attr-defined]


def _traced(recorder: Recorder, names: dict[str, Any], run: dict[str, str]) -> Any:
    if "test" not in run:
        arguments = eval(run["arguments"], names)  # noqa: S307 (in the sandbox)
        return _watching(recorder, names[run["function"]], arguments)
    known = names_of_test(names, run)
    body = compile_statements(run["body"])
    _watching(recorder, lambda: eval(body, known), ())  # noqa: S307 (in the sandbox)
    return None


def _watching(recorder: Recorder, function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    """Calls under the trace function. A coroutine is run, an iterator is read to its end."""
    sys.settrace(recorder.trace)
    try:
        value = function(*arguments)
        if inspect.iscoroutine(value):
            value = run_coroutine(value)
        if inspect.isgenerator(value):
            value = list(value)
    finally:
        sys.settrace(None)
    return value


def run_coroutine(coroutine: Coroutine[Any, Any, Any]) -> Any:
    """Runs it in an event loop; few programs need one, and importing asyncio is slow."""
    return importlib.import_module("asyncio").run(coroutine)


def compile_statements(text: str) -> CodeType:
    """The statements of a test as code of their own; `await` may stand in them."""
    code: CodeType = compile(text, TEST_FILE, "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
    return code


def names_of_test(program: dict[str, Any], run: dict[str, str]) -> dict[str, Any]:
    """What the statements of a test method see, behind its set-up: `self`, and assertions without `self.`."""
    known = dict(program)
    module = run["test"]
    linecache.cache[TEST_FILE] = (len(module), None, module.splitlines(keepends=True), TEST_FILE)
    exec(compile(module, TEST_FILE, "exec", dont_inherit=True), known)  # noqa: S102 (in the sandbox)
    case = known[run["class"]](run["method"])
    type(case).setUpClass()
    case.setUp()
    assertions = {name: getattr(case, name) for name in dir(case) if name.startswith("assert")}
    return {**known, **assertions, "self": case}
