"""Runs a program on one input and records every step: the line and the values before and after it.

A step is one execution of a statement (the header, for a compound one), named by the line that it begins on.
It lasts until its frame executes another statement, ends, or returns to the statement's beginning; so
a statement over several lines, or a loop on a single line, is one step. Comprehensions belong to the
statement that holds them.
"""

import ast
import dataclasses
import inspect
import sys
import threading
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any

from triathlon_runner.runtime._sandboxed.literal import MAX_TEXT, described
from triathlon_runner.runtime._sandboxed.programs import (
    FILE,
    output_discarded,
    prepared,
    seed_generators,
)

_IN_PLACE = {"<listcomp>", "<setcomp>", "<dictcomp>"}
_EXPRESSIONS = {"<lambda>", "<genexpr>"}
_GENERATORS = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
_UNTRACEABLE_EVENTS = {
    "sys.settrace": "it sets a trace function of its own, or starts a thread",
    "os.fork": "it forks",
}
"""Audit events after which a trace would be incomplete."""
MAX_STEPS = 50_000
"""Of a run."""
MAX_CHARACTERS = 20_000_000
"""Of all different values of a run."""

_recording: list["Recorder"] = []
"""The recorder of the current run, if any."""


def _audit(event: str, _arguments: tuple[Any, ...]) -> None:
    if _recording and event in _UNTRACEABLE_EVENTS:
        _recording[-1].mark_incomplete(_UNTRACEABLE_EVENTS[event])


sys.addaudithook(_audit)


class StopTracingError(BaseException):
    """A limit was hit. A program may catch this, but no step is recorded any more."""


@dataclasses.dataclass(slots=True)
class _Activity:
    """What one frame is doing: its open step and where in its code that began; -1 before the first."""

    frame: FrameType
    step: int = -1
    start: int = -1


class Recorder:
    """The trace function, and what it has seen."""

    def __init__(self, program: str, watches: dict[int, list[str]]) -> None:
        tree = ast.parse(program)
        self._first_lines = _statement_lines(tree)
        self._definitions = _definition_lines(tree)
        self._watches = _read_watches(program, watches)
        self._characters = 0
        self._active: dict[int, _Activity] = {}
        self.stopped = ""
        self.incomplete_because = "it turns off the tracing of a frame" if "f_trace" in program else ""
        """Why the trace lacks steps; empty while it is complete."""
        self.steps: list[list[Any]] = []
        """Line, numbers of the snapshots before and after (-1 for none), numbers of watched values."""
        self.values: dict[tuple[str, str, bool], int] = {}
        """Type, text and whether that is a literal, with their number."""
        self.snapshots: dict[tuple[tuple[str, int], ...], int] = {}
        """Names with the numbers of their values."""

    def trace(self, frame: FrameType, event: str, _arg: Any) -> Any:
        """The global trace function: chooses the frames that count."""
        code = frame.f_code
        if event != "call" or code.co_filename != FILE or code.co_name in _IN_PLACE:
            return None
        return self._expression if code.co_name in _EXPRESSIONS else self._statement

    def _expression(self, frame: FrameType, event: str, _arg: Any) -> Any:
        """Records a step of a lambda or generator expression on another line than that of the last step."""
        line = self._line_of(frame)
        if event == "line" and self.steps and self.steps[-1][0] != line:
            self._begin(line, snapshot=-1)
        return self._expression

    def _statement(self, frame: FrameType, event: str, _arg: Any) -> Any:
        try:
            if event == "line":
                self._line(frame)
            elif event == "return":
                self._leave(frame)
        except StopTracingError:
            raise
        except BaseException as error:  # reading a value may execute the program's code; Python stops tracing
            self.mark_incomplete(f"its values can't be looked at ({type(error).__name__})")
            raise
        return self._statement

    def mark_incomplete(self, why: str) -> None:
        """Marks the trace as incomplete; of several reasons the first is kept."""
        self.incomplete_because = self.incomplete_because or why

    def _line_of(self, frame: FrameType) -> int:
        return self._first_lines.get(frame.f_lineno, frame.f_lineno)

    def _line(self, frame: FrameType) -> None:
        activity = self._active.setdefault(id(frame), _Activity(frame))
        line, at = self._line_of(frame), frame.f_lasti
        in_class = not frame.f_code.co_flags & inspect.CO_OPTIMIZED
        if in_class and activity.step < 0 and self.steps and self.steps[-1][0] == line:
            return  # the body of a class statement begins on the statement's own line
        if self._definitions.get(frame.f_code.co_firstlineno) == frame.f_lineno:
            return  # Python 3.11 gives some folded constants of a body the line of its `def`
        if activity.step >= 0 and self.steps[activity.step][0] == line and at > activity.start:
            return
        snapshot = self._snapshot(frame)
        self._end(activity, snapshot)
        activity.step, activity.start = self._begin(line, snapshot), at

    def _leave(self, frame: FrameType) -> None:
        activity = self._active.get(id(frame))
        if not frame.f_trace_lines:
            self.mark_incomplete("it turns off the tracing of a frame")
        if activity is not None:
            self._end(activity, self._snapshot(frame))
            if not frame.f_code.co_flags & _GENERATORS:
                del self._active[id(frame)]

    def _begin(self, line: int, snapshot: int) -> int:
        if len(self.steps) >= MAX_STEPS:
            self._stop("too many steps")
        self.steps.append([line, snapshot, -1, []])
        return len(self.steps) - 1

    def _end(self, activity: _Activity, snapshot: int) -> None:
        """Closes the frame's open step; what a generator does after it was resumed replaces what was seen."""
        if activity.step >= 0:
            step = self.steps[activity.step]
            watched = [self._read(watch, activity.frame) for watch in self._watches.get(step[0], ())]
            step[2:] = snapshot, watched

    def _read(self, watch: ast.expr, frame: FrameType) -> int:
        try:
            value = _evaluate(watch, {**frame.f_globals, **frame.f_locals})
        except Exception:  # a program's own __getitem__ may raise anything
            return -1
        return self.number_of(value)

    def _snapshot(self, frame: FrameType) -> int:
        names: list[tuple[str, int]] = []
        for name, value in list(frame.f_locals.items()):
            if name == "self":
                attributes = list(getattr(value, "__dict__", {}).items())
                names += [(f"self.{_written(key, value)}", self.number_of(item)) for key, item in attributes]
            elif not name.startswith("."):
                names.append((name, self.number_of(value)))
        row = tuple(sorted(pair for pair in names if pair[1] >= 0))
        return self.snapshots.setdefault(row, len(self.snapshots))

    def number_of(self, value: Any) -> int:
        """The number of a value among `values`; -1 for what is no variable."""
        row = described(value, MAX_TEXT)
        if row is None:
            return -1
        known = len(self.values)
        number = self.values.setdefault(row, known)
        if number == known:
            self._characters += len(row[1])
            if self._characters > MAX_CHARACTERS:
                self._stop("too large")
        return number

    def finish(self) -> None:
        """Checks that the program was traced to its end."""
        codes = [activity.frame.f_code for activity in self._active.values()]
        if sys.gettrace() != self.trace or not all(code.co_flags & _GENERATORS for code in codes):
            self.mark_incomplete("it turns off the tracing of a frame")

    def _stop(self, why: str) -> None:
        self.stopped = why
        raise StopTracingError(why)


def trace(program: str, run: dict[str, str], watches: dict[int, list[str]], seed: int = 0) -> dict[str, Any]:
    """Traces one run of a program (`programs.prepared`); loading it is not traced.

    After each execution of a line its `watches` are read. Returns `outcome` (returned, raised, limit,
    untraceable), `error`, the number of the `result`, and `steps`, `values` and `snapshots` as the recorder
    has them.
    """
    seed_generators(seed)
    recorder = Recorder(program, watches)
    outcome, result, error = "returned", -1, ""
    with output_discarded():
        try:
            result = recorder.number_of(_traced(recorder, prepared(program, run)))
        except BaseException as problem:  # a program may raise anything, SystemExit too
            outcome, error = "raised", f"{type(problem).__name__}: {str(problem)[:300]}"
    if recorder.stopped:
        outcome, error = "limit", recorder.stopped
    elif recorder.incomplete_because:
        outcome, error = "untraceable", recorder.incomplete_because
    return {
        "outcome": outcome,
        "error": error,
        "result": result,
        "steps": recorder.steps,
        "values": list(recorder.values),
        "snapshots": [dict(row) for row in recorder.snapshots],
    }


def _traced(recorder: Recorder, run: Callable[[], Any]) -> Any:
    """Makes a run under the trace function."""
    # A thread that starts sets this function, which is an event that marks the trace as incomplete.
    threading.settrace(recorder.trace)
    sys.settrace(recorder.trace)
    _recording.append(recorder)
    try:
        return run()
    finally:
        _recording.pop()
        recorder.finish()
        sys.settrace(None)
        threading.settrace(None)


# What is read off the program's text: where its statements begin, and variables to look at


def _statement_lines(tree: ast.Module) -> dict[int, int]:
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


def _definition_lines(tree: ast.Module) -> dict[int, int]:
    """By a function's first line (a decorator's or the `def`'s), its `def`, where its body is below that."""
    return {
        min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)]): node.lineno
        for node in ast.walk(tree)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.body[0].lineno > node.lineno
    }


def _read_watches(program: str, watches: dict[int, list[str]]) -> dict[int, list[ast.expr]]:
    """The expressions to read at each line, private names as their class stores them."""
    classes = [node for node in ast.walk(ast.parse(program)) if isinstance(node, ast.ClassDef)]
    watched = {line: [ast.parse(text, mode="eval").body for text in texts] for line, texts in watches.items()}
    for line, trees in watched.items():
        around = [node.name for node in classes if node.lineno <= line <= (node.end_lineno or 0)]
        for node in (node for tree in trees for node in ast.walk(tree)):
            if around and isinstance(node, ast.Attribute) and node.attr[:2] == "__" != node.attr[-2:]:
                node.attr = f"_{around[-1].lstrip('_')}{node.attr}"
    return watched


def _written(attribute: str, owner: object) -> str:
    """An attribute's name as the program writes it: `__total` for `_Order__total`."""
    for kind in type(owner).__mro__:
        prefix = f"_{kind.__name__.lstrip('_')}"
        if attribute.startswith(f"{prefix}__"):
            return attribute.removeprefix(prefix)
    return attribute


def _evaluate(node: ast.expr, names: dict[str, Any]) -> Any:
    """Reads a variable: names, attributes, subscripts without calls in them, tuples and lists of these.

    Raises:
        LookupError: it has a call, which could change the value.
        Exception: whatever reading the value raises.
    """
    if any(isinstance(part, (ast.Call, ast.Await, ast.Yield, ast.NamedExpr)) for part in ast.walk(node)):
        raise LookupError(ast.unparse(node))
    if isinstance(node, (ast.Tuple, ast.List)):
        plain = [part.value if isinstance(part, ast.Starred) else part for part in node.elts]
        values = [_evaluate(part, names) for part in plain]
        return tuple(values) if isinstance(node, ast.Tuple) else values
    return eval(compile(ast.Expression(node), "<watch>", "eval"), names)  # noqa: S307 (in the sandbox)


# The tracer of REval's authors


def events(program: str, run: dict[str, str], variables: list[str]) -> list[list[Any]]:
    """Every event of one run as REval's own tracer sees it: the line, and of each variable what it holds.

    Each `line` and `return` event of any function is a step. The values are from before the line; None stands
    for a variable that the event's frame does not have.
    """
    seed_generators(0)
    codes = [compile(variable, "<variable>", "eval") for variable in variables]
    steps: list[list[Any]] = []

    def trace_event(frame: FrameType, event: str, _argument: Any) -> Any:
        if frame.f_code.co_filename != FILE:
            return None
        if event in ("line", "return"):
            sys.settrace(None)
            steps.append([frame.f_lineno, [_held(code, frame) for code in codes]])
            sys.settrace(trace_event)
        return trace_event

    with output_discarded():
        prepared_run = prepared(program, run)
        sys.settrace(trace_event)
        prepared_run()
        sys.settrace(None)
    return steps


def _held(code: CodeType, frame: FrameType) -> tuple[str, str, bool] | None:
    try:
        value = eval(code, {"__builtins__": {}}, {**frame.f_locals})  # noqa: S307 (in the sandbox)
    except Exception:  # a program's own attributes may raise anything
        return None
    return described(value, MAX_TEXT)
