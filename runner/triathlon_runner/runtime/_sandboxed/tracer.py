"""Runs a program on one input and records every step: the line and the values before and after it.

A step is one execution of a statement (the header, for a compound one), named by the line that it begins on.
It lasts until its frame executes another statement, ends, or returns to the statement's beginning; so
a statement over several lines, or a loop on a single line, is one step. Comprehensions belong to the
statement that holds them.
"""

import _thread
import ast
import contextlib
import inspect
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

from triathlon_runner.runtime._sandboxed.literal import (
    NO_VARIABLES,
    LiteralWriter,
    NoLiteralFormError,
    foreign_repr,
    type_name,
)
from triathlon_runner.runtime._sandboxed.programs import (
    FILE,
    DiscardedOutput,
    compile_statements,
    load,
    names_of_test,
    run_coroutine,
    seed_generators,
)
from triathlon_runner.runtime._sandboxed.statements import (
    definition_lines,
    evaluate,
    read_watches,
    statement_lines,
    written,
)

_IN_PLACE = {"<listcomp>", "<setcomp>", "<dictcomp>"}
_EXPRESSIONS = {"<lambda>", "<genexpr>"}
_GENERATORS = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
_UNTRACEABLE_EVENTS = {"sys.settrace": "it sets a trace function of its own", "os.fork": "it forks"}
"""Audit events after which a trace would be incomplete."""
_STARTS = ("start_new_thread", "start_joinable_thread")
"""What starts a thread; Python 3.11 has no audit event for it, and not every version has both."""


_watched: list["Recorder"] = []
"""The recorder of the current run, if any."""


def _audit(event: str, _arguments: tuple[Any, ...]) -> None:
    if _watched and event in _UNTRACEABLE_EVENTS:
        _watched[-1].mark_incomplete(_UNTRACEABLE_EVENTS[event])


sys.addaudithook(_audit)


class StopTracingError(BaseException):
    """A limit was hit. A program may catch this, but no step is recorded any more."""


class Table:
    """Numbers different objects in the order of their first appearance."""

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
        self.incomplete_because = "it turns off the tracing of a frame" if "f_trace" in program else ""
        """Why the trace lacks steps; empty while it is complete."""
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
        """Records a step of a lambda or generator expression on another line than that of the last step."""
        line = self.owner.get(frame.f_lineno, frame.f_lineno)
        if event == "line" and self.lines and self.lines[-1] != line:
            self._begin(line, frame=-1, snapshot=-1)
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
            return  # Python 3.11 gives some folded constants of a body the line of its `def`
        if activity.step >= 0 and self.lines[activity.step] == line and at > activity.start:
            return
        snapshot = self._snapshot(frame)
        self._end(activity, snapshot)
        activity.step = self._begin(line, frame=activity.number, snapshot=snapshot)
        activity.start = at

    def _leave(self, frame: FrameType) -> None:
        activity = self._active.get(id(frame))
        if not frame.f_trace_lines:
            self.mark_incomplete("it turns off the tracing of a frame")
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
            self.watched[activity.step] = [self._evaluate(watch, activity.frame) for watch in watches]

    def _evaluate(self, watch: ast.expr, frame: FrameType) -> int:
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
            row = (type_name(value), LiteralWriter(self.limits["text"]).text(value), "")
        except NoLiteralFormError as error:
            shown = "" if error.too_large else foreign_repr(value, self.limits["text"])
            row = (type_name(value), shown, str(error))
        known = len(self.values.rows)
        number = self.values.number(row)
        if number == known:
            self.characters += len(row[1])
            if self.characters > self.limits["characters"]:
                self._stop("too large")
        return number

    def finish(self) -> None:
        """Checks that the program was traced to its end."""
        still_tracing = sys.gettrace() == self.trace
        unfinished = [
            activity for activity in self._active.values() if not activity.frame.f_code.co_flags & _GENERATORS
        ]
        if not still_tracing or unfinished:
            self.mark_incomplete("it turns off the tracing of a frame")

    def _stop(self, why: str) -> None:
        self.stopped = why
        raise StopTracingError(why)


def trace(
    program: str, run: dict[str, str], watches: dict[int, list[str]], limits: dict[str, int], seed: int = 0
) -> dict[str, Any]:
    """Traces one run.

    Args:
        program: the source; it is loaded anew, and loading it is not traced.
        run: `{"function", "arguments"}` (source of a tuple), or `{"test", "class", "method", "body"}`.
        watches: expressions to read after each execution of a line.
        limits: `steps`; `text`, characters of one value; `characters`, of all different values.
        seed: of the random numbers that the program may draw.

    Returns:
        Columns over the steps (`lines`, `frames`, `before`, `after`, `watched`), the tables that they point
        into, `outcome` (returned, raised, limit, untraceable), and `result` or `error`.
    """
    seed_generators(seed)
    recorder = Recorder(program, watches, limits)
    outcome, result, error = "returned", -1, ""
    with contextlib.redirect_stdout(DiscardedOutput()), contextlib.redirect_stderr(DiscardedOutput()):
        try:
            value = _traced(recorder, load(program), run)
            result = recorder._value(value)
        except BaseException as problem:  # a program may raise anything, SystemExit too
            outcome, error = "raised", f"{type(problem).__name__}: {str(problem)[:300]}"
    if recorder.stopped:
        outcome, error = "limit", recorder.stopped
    elif recorder.incomplete_because:
        outcome, error = "untraceable", recorder.incomplete_because
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


def _traced(recorder: Recorder, names: dict[str, Any], run: dict[str, str]) -> Any:
    if "test" not in run:
        arguments = eval(run["arguments"], names)  # noqa: S307 (in the sandbox)
        return _call_traced(recorder, names[run["function"]], arguments)
    known = names_of_test(names, run)
    body = compile_statements(run["body"])
    _call_traced(recorder, lambda: eval(body, known), ())  # noqa: S307 (in the sandbox)
    return None


def _call_traced(recorder: Recorder, function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    """Calls under the trace function. A coroutine is run, an iterator is read to its end."""
    restore = _report_threads(recorder)
    sys.settrace(recorder.trace)
    _watched.append(recorder)
    try:
        value = function(*arguments)
        if inspect.iscoroutine(value):
            value = run_coroutine(value)
        if inspect.isgenerator(value):
            value = list(value)
    finally:
        _watched.pop()
        recorder.finish()
        sys.settrace(None)
        restore()
    return value


def _report_threads(recorder: Recorder) -> Callable[[], None]:
    """Reports every thread that is started to the recorder; returns a function that undoes this."""
    starts = {name: getattr(_thread, name) for name in _STARTS if hasattr(_thread, name)}
    threading = sys.modules.get("threading")

    def noticed(start: Callable[..., Any]) -> Callable[..., Any]:
        def begin(*arguments: Any, **named: Any) -> Any:
            recorder.mark_incomplete("it starts a thread, which is not traced")
            return start(*arguments, **named)

        return begin

    def put(functions: dict[str, Callable[..., Any]]) -> None:
        for name, function in functions.items():
            setattr(_thread, name, function)
            if threading is not None and hasattr(threading, f"_{name}"):
                setattr(threading, f"_{name}", function)

    put({name: noticed(start) for name, start in starts.items()})
    return lambda: put(starts)
