"""What goes to children of the other languages and comes from them: JSON, with values in this form.

null, true, false, numbers, strings, lists   as they are
{"m": [[key, value], …]}                     a map, whatever its keys
{"f": "nan"}, {"i": "123…"}                  numbers that JSON has no form for, or takes for another kind
{"s": […]}, {"y": name}, {"u": type}         a set, a symbol, something that can't cross
"""

import json
import math
from typing import Any

from triathlon_runner.sandbox._api import (
    Call,
    Job,
    MalformedError,
    Opaque,
    Raised,
    Returned,
    SandboxError,
    Source,
    Tagged,
)
from triathlon_runner.sandbox._inside import messages
from triathlon_runner.sandbox._inside.child import MAX_DEPTH
from triathlon_runner.sandbox._python_wire import (
    REPORT_BYTES,
    UNREADABLE,
    frame,
    job_fields,
    readable_report,
)

_LARGEST_EXACT = 1 << 53
"""JavaScript's numbers are exact up to here."""


class JsonWire:
    """The frames of these children, and their payloads; methods as those of `PythonWire`."""

    def program(self, job: Job) -> bytes:
        return frame(messages.PROGRAM, json.dumps(job_fields(job)).encode())

    def call(self, call: Call) -> bytes:
        if isinstance(call.arguments, Source):
            raise SandboxError("arguments as source text are for Python programs only")
        content = {"function": call.function, "arguments": [to_json(value) for value in call.arguments]}
        return frame(messages.CALL, json.dumps(content).encode())

    def answer(self, result: Returned | Raised) -> bytes:
        if isinstance(result, Raised):
            content = {"ok": False, "message": str(result)}
        else:
            content = {"ok": True, "value": to_json(result.value)}
        return frame(messages.ANSWER, json.dumps(content).encode())

    def value(self, payload: bytes) -> Any:
        try:
            return from_json(json.loads(payload))
        except (ValueError, RecursionError, TypeError) as error:
            raise MalformedError(str(error)[:200]) from None

    def raised(self, payload: bytes) -> Raised:
        try:
            report = json.loads(payload[:REPORT_BYTES])
            return readable_report(report["type"], report["message"], report["line"])
        except (ValueError, KeyError, TypeError, RecursionError):
            return UNREADABLE


def to_json(value: Any) -> Any:
    """Encodes plain data in the JSON form above."""
    if isinstance(value, list | tuple):
        return [to_json(item) for item in value]
    if isinstance(value, set | frozenset):
        return {"s": [to_json(item) for item in value]}
    if isinstance(value, dict):
        return {"m": [[to_json(key), to_json(item)] for key, item in value.items()]}
    if isinstance(value, int | float) and not isinstance(value, bool):
        return _number(value)
    return value if isinstance(value, bool | str) or value is None else _tagged_or_opaque(value)


def _number(value: float) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else {"f": repr(value)}
    try:
        return value if abs(value) <= _LARGEST_EXACT else {"i": str(value)}
    except ValueError:
        raise SandboxError("an int of more digits than can be written") from None


def _tagged_or_opaque(value: Any) -> Any:
    tag = {"symbol": "y", "set": "s", "map": "m"}.get(value.type) if isinstance(value, Tagged) else None
    if tag is not None:
        return {tag: value.value if tag == "y" else to_json(value.value)}
    return {"u": value.type if isinstance(value, Opaque | Tagged) else type(value).__name__}


def from_json(value: Any, depth: int = 0) -> Any:
    """Decodes plain data from the JSON form above.

    Raises:
        MalformedError: the data are no value.
    """
    if depth > MAX_DEPTH:
        raise MalformedError("nested too deep")
    if isinstance(value, list):
        return [from_json(item, depth + 1) for item in value]
    if not isinstance(value, dict):
        return value
    if len(value) != 1:
        raise MalformedError("an object that is not of the closed form")
    ((tag, content),) = value.items()
    if tag in ("m", "s") and isinstance(content, list):
        return _collection(tag, content, depth)
    if not isinstance(content, str):
        raise MalformedError(f"unknown form {tag[:20]!r}")
    return _scalar(tag, content)


def _collection(tag: str, content: list[Any], depth: int) -> Any:
    if tag == "s":
        return Tagged("set", [from_json(item, depth + 1) for item in content])
    pairs = [[from_json(key, depth + 1), from_json(item, depth + 1)] for key, item in content]
    by_key = {key: item for key, item in pairs if _is_key(key)}
    return by_key if len(by_key) == len(pairs) else Tagged("map", pairs)


def _is_key(key: Any) -> bool:
    """Whether a value can be a key of a dict: text or a small number.

    Others could be made to collide in its table, or are equal in Python only. A map with such a key (a list,
    a symbol, a truth value, 1 beside 1.0) stays a list of pairs.
    """
    return isinstance(key, str) or (type(key) in (int, float) and abs(key) < _LARGEST_EXACT)


def _scalar(tag: str, content: str) -> Any:
    if tag == "f":
        return float(content)
    if tag == "i":
        return int(content)
    if tag == "y":
        return Tagged("symbol", content)
    if tag == "u":
        return Opaque(content[:200])
    raise MalformedError(f"unknown form {tag[:20]!r}")
