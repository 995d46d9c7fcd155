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
from triathlon_runner.runtime._sandboxed.select import candidate_statements, choose, functions, watches
from triathlon_runner.runtime._sandboxed.variables import evaluate, forms, read_watches, written

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

_recording: list["Trace"] = []
"""That of the current run, if any."""


def _audit(event: str, _arguments: tuple[Any, ...]) -> None:
    if _recording and event in _UNTRACEABLE_EVENTS:
        _recording[-1].end("untraceable", _UNTRACEABLE_EVENTS[event])


sys.addaudithook(_audit)


class StopTracingError(BaseException):
    """A limit was hit. A program may catch this, but no step is recorded any more."""


Row = tuple[str, str, bool]
"""A value as `described` has it: type, text, whether that is a literal."""


@dataclasses.dataclass(slots=True)
class Step:
    """One execution of a statement, or of a lambda or generator expression on another line."""

    line: int
    before: dict[str, Row]
    """Local variables, and attributes of `self` as `self.name`; none where an expression is executed."""
    after: dict[str, Row] = dataclasses.field(default_factory=dict)
    """With the expressions that were asked for; none where the end of the statement was not recorded."""
    next: "Step | None" = None


@dataclasses.dataclass(slots=True)
class _Activity:
    """What one frame is doing: its open step and where in its code that began."""

    frame: FrameType
    step: Step | None = None
    start: int = -1


class Trace:
    """The trace function, and what it has seen of one run."""

    def __init__(self, program: str, watches: dict[int, list[str]]) -> None:
        tree = ast.parse(program)
        self._first_lines = _statement_lines(tree)
        self._definitions = {_first_line(f) for f in functions(tree) if f.body[0].lineno > f.lineno}
        self._watches = read_watches(tree, watches)
        self._rows: dict[Row, Row] = {}
        self._active: dict[int, _Activity] = {}
        self.steps: list[Step] = []
        self.result: Row | None = None
        """None where the run gave nothing, or nothing that is a variable."""
        self.outcome = "returned"
        """returned, raised, limit or untraceable."""
        self.error = ""
        """The exception, the limit that was hit, or how the program escaped the tracer."""

    def frame(self, frame: FrameType, event: str, _arg: Any) -> Any:
        """The global trace function: chooses the frames that count."""
        code = frame.f_code
        if event != "call" or code.co_filename != FILE or code.co_name in _IN_PLACE:
            return None
        return self._expression if code.co_name in _EXPRESSIONS else self._statement

    def _expression(self, frame: FrameType, event: str, _arg: Any) -> Any:
        """Records a step of a lambda or generator expression on another line than that of the last step."""
        line = self._line_of(frame)
        if event == "line" and self.steps and self.steps[-1].line != line:
            self._begin(line, {})
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
            self.end("untraceable", f"its values can't be looked at ({type(error).__name__})")
            raise
        return self._statement

    def end(self, outcome: str, error: str) -> None:
        """Says how the run ended; what was said first stays."""
        if not self.error:
            self.outcome, self.error = outcome, error

    def _line_of(self, frame: FrameType) -> int:
        return self._first_lines.get(frame.f_lineno, frame.f_lineno)

    def _line(self, frame: FrameType) -> None:
        activity = self._active.setdefault(id(frame), _Activity(frame))
        line, at = self._line_of(frame), frame.f_lasti
        in_class = not frame.f_code.co_flags & inspect.CO_OPTIMIZED
        if in_class and not activity.step and self.steps and self.steps[-1].line == line:
            return  # the body of a class statement begins on the statement's own line
        if line == frame.f_code.co_firstlineno and line in self._definitions:
            return  # Python 3.11 gives some folded constants of a body the line of its `def`
        if activity.step and activity.step.line == line and at > activity.start:
            return
        names = self._names(frame)
        self._end(activity, names)
        activity.step, activity.start = self._begin(line, names), at

    def _leave(self, frame: FrameType) -> None:
        activity = self._active.get(id(frame))
        if activity is not None:
            self._end(activity, self._names(frame))
            if not frame.f_code.co_flags & _GENERATORS:
                del self._active[id(frame)]

    def _begin(self, line: int, names: dict[str, Row]) -> Step:
        if len(self.steps) >= MAX_STEPS:
            self.end("limit", "too many steps")
            raise StopTracingError
        step = Step(line, names)
        if self.steps:
            self.steps[-1].next = step
        self.steps.append(step)
        return step

    def _end(self, activity: _Activity, names: dict[str, Row]) -> None:
        """Closes the frame's open step; what a generator does after it was resumed replaces what was seen."""
        step = activity.step
        if step:
            watches = self._watches.get(step.line, {})
            read = {text: self._read(watch, activity.frame) for text, watch in watches.items()}
            step.after = names | _present(read) if read else names

    def _read(self, watch: ast.expr, frame: FrameType) -> Row | None:
        try:
            value = evaluate(watch, {**frame.f_globals, **frame.f_locals})
        except Exception:  # a program's own __getitem__ may raise anything
            return None
        return self.row_of(value)

    def _names(self, frame: FrameType) -> dict[str, Row]:
        names: dict[str, Row | None] = {}
        for name, value in list(frame.f_locals.items()):
            if name == "self":
                attributes = list(getattr(value, "__dict__", {}).items())
                names |= {f"self.{written(key, value)}": self.row_of(item) for key, item in attributes}
            elif not name.startswith("."):
                names[name] = self.row_of(value)
        return _present(names)

    def row_of(self, value: Any) -> Row | None:
        """A value's type and text; None for what is no variable. Equal ones are one object."""
        row = described(value, MAX_TEXT)
        return row and self._rows.setdefault(row, row)

    # What can be read from the steps

    def at(self, line: int) -> list[Step]:
        """The executions of a line in order."""
        return [step for step in self.steps if step.line == line]

    def successors(self, line: int) -> list[int]:
        """The lines that were begun next; -1 where nothing was, or the line never ran (as REval has it)."""
        return sorted({step.next.line if step.next else -1 for step in self.at(line)} or {-1})

    def observed(self, line: int, variable: str, *, or_next: bool = False) -> list[Row]:
        """The different values of a variable after the line, in order of appearance.

        Where there are none, and `or_next`, those of the steps that followed: how REval reads the variable of
        a called function.
        """
        rows = [step.after.get(form) for form in forms(variable) for step in self.at(line)]
        if or_next and not any(rows):
            rows = [step.next.before.get(variable) for step in self.at(line) if step.next]
        return list(dict.fromkeys(row for row in rows if row is not None))

    def changed(self, line: int) -> list[str]:
        """What a line changed: new variables, then changed ones, then attributes of self, each by name."""
        changes: dict[str, int] = {}
        for step in self.at(line):
            for name, value in sorted(step.after.items()):
                if value != step.before.get(name):
                    kind = 2 if name.startswith("self.") else int(name in step.before)
                    changes[name] = min(kind, changes.get(name, kind))
        return sorted(changes, key=lambda name: changes[name])


def _present(rows: dict[str, Row | None]) -> dict[str, Row]:
    return {name: row for name, row in rows.items() if row is not None}


def trace(program: str, run: dict[str, str], watches: dict[int, list[str]], seed: int = 0) -> Trace:
    """Traces one run of a program (`programs.prepared`); loading it is not traced.

    After each execution of a line its `watches` are read.
    """
    seed_generators(seed)
    found = Trace(program, watches)
    with output_discarded():
        try:
            found.result = found.row_of(_traced(found, prepared(program, run)))
        except BaseException as problem:  # a program may raise anything, SystemExit too
            found.end("raised", f"{type(problem).__name__}: {str(problem)[:300]}")
    return found


def _traced(found: Trace, run: Callable[[], Any]) -> Any:
    """Makes a run under the trace function."""
    # A thread that starts sets this function, which is an event that marks the trace as incomplete.
    threading.settrace(found.frame)
    sys.settrace(found.frame)
    _recording.append(found)
    try:
        return run()
    finally:
        _recording.pop()
        sys.settrace(None)
        threading.settrace(None)


def questions(program: str, run: dict[str, str], named: list[tuple[int, str]], seed: int) -> dict[str, Any]:
    """The questions about one run with their truth, in the form of `_construct.Run`.

    `run` is as `programs.prepared` takes it, `named` the lines and variables that are asked about; none: they
    are chosen.
    """
    places = candidate_statements(program)
    watched = watches(places)
    for line, variable in named:
        watched[line] = list(dict.fromkeys([*watched.get(line, []), variable]))
    found = trace(program, run, watched, seed)
    statements = [
        {
            "line": line,
            "variable": name,
            "executed": bool(found.at(line)),
            "states": tuple(map(_as_value, found.observed(line, name, or_next=bool(named)))),
            "next_lines": tuple(found.successors(line)),
        }
        for line, name in named or choose(places, found.changed)
    ]
    result = found.result and _as_value(found.result)
    return {"outcome": found.outcome, "error": found.error, "result": result, "statements": tuple(statements)}


def _as_value(row: Row) -> dict[str, Any]:
    return dict(zip(("type", "text", "literal"), row, strict=True))


# What is read off the program's text: where its statements begin


def _statement_lines(tree: ast.Module) -> dict[int, int]:
    """For every line of a statement or handler (up to its body) the line on which that begins."""
    owner: dict[int, int] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt | ast.excepthandler):
            body = getattr(node, "body", None) or getattr(node, "cases", None)
            begin = _first_line(node)
            last = max(begin, _first_line(body[0]) - 1) if body else node.end_lineno or begin
            for line in range(begin, last + 1):
                owner[line] = begin  # the innermost counts, and ast.walk comes from the outside in
    return owner


def _first_line(node: Any) -> int:
    """The line on which a statement, handler or case begins: with decorators, that of the first."""
    parts = [getattr(node, "pattern", node), *getattr(node, "decorator_list", [])]
    return int(min(part.lineno for part in parts))


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


def _held(code: CodeType, frame: FrameType) -> dict[str, Any] | None:
    try:
        value = eval(code, {"__builtins__": {}}, {**frame.f_locals})  # noqa: S307 (in the sandbox)
    except Exception:  # a program's own attributes may raise anything
        return None
    row = described(value, MAX_TEXT)
    return row and _as_value(row)
