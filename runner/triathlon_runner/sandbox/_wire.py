"""Encodes values as payloads of frames between runner and child, by language, and decodes them.

Python children speak the binary form of `_inside.encode`; what goes to them is marshalled, which they may
trust. Every other language speaks JSON in this form:

    null, true, false, numbers, strings, lists   as they are
    {"m": [[key, value], …]}                     a map, whatever its keys
    {"f": "nan"}, {"i": "123…"}                  numbers that JSON has no form for, or takes for another kind
    {"s": […]}, {"y": name}, {"u": type}         a set, a symbol, something that can't cross
"""

import json
import marshal
import math
from typing import Any, Protocol

from triathlon_runner.languages import Language
from triathlon_runner.sandbox._api import Call, Job, Raised, Returned, SandboxError, Source
from triathlon_runner.sandbox._decode import MalformedError, Opaque, Tagged, decode, is_plain
from triathlon_runner.sandbox._inside import frames
from triathlon_runner.sandbox._inside.encode import MAX_DEPTH

_LARGEST_EXACT = 1 << 53
"""JavaScript's numbers are exact up to here."""


class Wire(Protocol):
    """The payloads of one language."""

    def program(self, job: Job) -> bytes: ...

    def call(self, call: Call) -> bytes: ...

    def answer(self, result: Returned | Raised) -> bytes:
        """The answer to a child's question."""
        ...

    def value(self, payload: bytes) -> Any:
        """Reads a value that came from a child.

        Raises:
            MalformedError: it is not one.
        """
        ...

    def raised(self, payload: bytes) -> Raised:
        """Reads a child's report of an exception; any bytes give one."""
        ...


def prepare(call: Call) -> bytes:
    """One call into a Python program as it is sent, for `Prepared`.

    Raises:
        SandboxError: its arguments are no plain data.
    """
    return PythonWire().call(call)


def wire_of(language: Language) -> Wire:
    return PythonWire() if language is Language.PYTHON else JsonWire()


def _job_fields(job: Job) -> dict[str, Any]:
    return {"program": job.program, "result_bytes": job.limits.result_bytes, "relayed": list(job.relayed)}


class PythonWire:
    def program(self, job: Job) -> bytes:
        return frames.frame(frames.PROGRAM, marshal.dumps(_job_fields(job)))

    def call(self, call: Call) -> bytes:
        content: Any = (call.function, call.arguments, None)
        if isinstance(call.arguments, Source):
            content = (call.function, None, call.arguments.text)
        return frames.frame(frames.CALL, _marshal(content))

    def answer(self, result: Returned | Raised) -> bytes:
        if isinstance(result, Raised):
            return frames.frame(frames.ANSWER, marshal.dumps((False, (result.type, result.message))))
        try:
            return frames.frame(frames.ANSWER, _marshal((True, _items(result.value))))
        except SandboxError as error:
            return frames.frame(frames.ANSWER, marshal.dumps((False, ("TypeError", str(error)))))

    def value(self, payload: bytes) -> Any:
        return decode(payload)

    def raised(self, payload: bytes) -> Raised:
        try:
            kind, message, line = decode(payload[:_REPORT_BYTES])
        except (MalformedError, ValueError, TypeError):
            return _UNREADABLE
        return _raised(kind, message, line)


def _marshal(content: Any) -> bytes:
    if not is_plain(content):
        raise SandboxError("only plain data goes into a sandbox")
    return marshal.dumps(content)


def _items(value: Any) -> Any:
    """Views and queues as the lists that a test takes them for."""
    return value.value if isinstance(value, Tagged) and isinstance(value.value, list) else value


class JsonWire:
    def program(self, job: Job) -> bytes:
        return frames.frame(frames.PROGRAM, json.dumps(_job_fields(job)).encode())

    def call(self, call: Call) -> bytes:
        if isinstance(call.arguments, Source):
            raise SandboxError("arguments as source text are for Python programs only")
        content = {"function": call.function, "arguments": [to_json(value) for value in call.arguments]}
        return frames.frame(frames.CALL, json.dumps(content).encode())

    def answer(self, result: Returned | Raised) -> bytes:
        if isinstance(result, Raised):
            content = {"ok": False, "message": str(result)}
        else:
            content = {"ok": True, "value": to_json(result.value)}
        return frames.frame(frames.ANSWER, json.dumps(content).encode())

    def value(self, payload: bytes) -> Any:
        try:
            return from_json(json.loads(payload))
        except (ValueError, RecursionError, TypeError) as error:
            raise MalformedError(str(error)[:200]) from None

    def raised(self, payload: bytes) -> Raised:
        try:
            report = json.loads(payload[:_REPORT_BYTES])
            return _raised(report["type"], report["message"], report["line"])
        except (ValueError, KeyError, TypeError, RecursionError):
            return _UNREADABLE


_REPORT_BYTES = 1 << 16
_UNREADABLE = Raised("Unreadable", "the report of the exception can't be read")


def _raised(kind: Any, message: Any, line: Any) -> Raised:
    if not (isinstance(kind, str) and isinstance(message, str)):
        return _UNREADABLE
    return Raised(_writable(kind[:200]), _writable(message[:2000]), line if type(line) is int else None)


def _writable(text: str) -> str:
    """The text without lone surrogates, which no record could hold."""
    return text.encode("utf-8", "backslashreplace").decode()


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
    return value if abs(value) <= _LARGEST_EXACT else {"i": _decimal(value)}


def _tagged_or_opaque(value: Any) -> Any:
    if isinstance(value, Tagged) and value.type == "symbol":
        return {"y": value.value}
    if isinstance(value, Tagged) and value.type == "set":
        return {"s": to_json(value.value)}
    if isinstance(value, Tagged) and value.type == "map":
        return {"m": to_json(value.value)}
    return {"u": value.type if isinstance(value, Opaque | Tagged) else type(value).__name__}


def _decimal(value: int) -> str:
    try:
        return str(value)
    except ValueError:
        raise SandboxError("an int of more digits than can be written") from None


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

    Others could be made to collide in its table, or are equal in Python only.

    A map with such a key (a list, a symbol, a truth value, 1 beside 1.0) stays a list of pairs.
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
