"""The harness of one child: loads the program, makes the calls, writes plain values. It compares nothing."""

import builtins
import marshal
import os
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

from . import frames
from .encode import ValueTooDeepError, ValueTooLargeError, encode

MODULE = "solution"
"""The program's `__name__`: a real module, so that dataclasses and pickling work, and not `__main__`."""
FILE = "<program>"
_QUESTION_BYTES = 64 << 20
_REPORT_BYTES = 1 << 16


def serve(source: int, sink: int) -> None:
    """Executes what comes over `source` until it ends."""
    stream = frames.FrameStream(source, sink)
    first = stream.receive()
    if first is None:
        return
    job = marshal.loads(first[1])  # noqa: S302 (written by the runner)
    module = ModuleType(MODULE)
    module.__file__ = FILE
    for name in job["relayed"]:
        setattr(module, name, _question(stream, name))
    sys.modules[MODULE] = module
    try:
        exec(compile(job["program"], FILE, "exec", dont_inherit=True), module.__dict__)  # noqa: S102 (the point)
    except BaseException as error:
        stream.send(frames.NOT_LOADED, _describe(error))
        return
    stream.send(frames.LOADED)
    while (message := stream.receive()) is not None:
        function, arguments, text = marshal.loads(message[1])  # noqa: S302
        stream.send(*_answer(module.__dict__, function, arguments, text, job["result_bytes"]))


def warm_up(program: str, function: str, text: str) -> None:
    """Does what `serve` does, without pipes, to warm up the interpreter."""
    module = ModuleType(MODULE)
    exec(compile(program, FILE, "exec", dont_inherit=True), module.__dict__)  # noqa: S102
    message = marshal.loads(marshal.dumps((function, None, text)))  # noqa: S302
    _answer(module.__dict__, message[0], message[1], message[2], 1 << 20)


def _answer(
    names: dict[str, Any], function: str, arguments: tuple[Any, ...] | None, text: str | None, limit: int
) -> tuple[bytes, bytes]:
    """Makes one call and encodes what it gave."""
    try:
        if text is not None:
            arguments = eval(text, {})  # noqa: S307 (in the sandbox)
        value = names[function](*arguments)  # type: ignore[misc]
        return frames.VALUE, encode(value, limit)
    except ValueTooLargeError:
        return frames.RAISED, _report("ResultTooLarge", f"encoded, the result exceeds {limit} bytes", None)
    except ValueTooDeepError:
        return frames.RAISED, _report(
            "ResultTooDeep", "the result is nested too deep or contains itself", None
        )
    except BaseException as error:
        return frames.RAISED, _describe(error)


def _question(stream: frames.FrameStream, function: str) -> Callable[..., Any]:
    """Returns a function whose calls are made in another process: plain data come back, or an exception."""

    def ask(*arguments: Any) -> Any:
        stream.send(frames.ASK, encode([function, list(arguments)], _QUESTION_BYTES))
        answer = stream.receive()
        if answer is None:  # the runner has closed the pipe
            os._exit(1)
        good, value = marshal.loads(answer[1])  # noqa: S302 (written by the runner)
        if good:
            return value
        kind = getattr(builtins, value[0], None)
        if isinstance(kind, type) and issubclass(kind, BaseException):
            raise kind(value[1])
        raise RuntimeError(f"{value[0]}: {value[1]}")

    return ask


def _describe(error: BaseException) -> bytes:
    """Type, message and the program's line of an exception; its own methods may raise, too."""
    try:
        message = str(error)[:2000]
    except BaseException:
        message = "(its message can't be read)"
    line = None
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == FILE:
            line = trace.tb_lineno
        trace = trace.tb_next
    if line is None and isinstance(error, SyntaxError):
        line = error.lineno
    return _report(type(error).__name__[:200], message, line)


def _report(kind: str, message: str, line: int | None) -> bytes:
    return encode((kind, message, line), _REPORT_BYTES)
