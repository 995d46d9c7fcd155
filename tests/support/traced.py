"""Traces made in this process, for tests of what the tracer records: the programs are ours."""

import textwrap
from typing import Any

from triathlon_runner.runtime._sandboxed.tracer import trace
from triathlon_runner.runtime._trace import Trace, read_trace


def traced(
    program: str,
    arguments: str = "()",
    watches: dict[int, list[str]] | None = None,
) -> Trace:
    """The trace of `f(*arguments)`."""
    run = {"function": "f", "arguments": arguments}
    return _read(trace(textwrap.dedent(program).strip(), run, watches or {}), watches)


def traced_test(program: str, module: str, body: str, watches: dict[int, list[str]] | None = None) -> Trace:
    """The trace of the statements of `T.test` behind its set-up."""
    run = {"test": textwrap.dedent(module), "class": "T", "method": "test", "body": textwrap.dedent(body)}
    return _read(trace(textwrap.dedent(program).strip(), run, watches or {}), watches)


def _read(plain: dict[str, Any], watches: dict[int, list[str]] | None) -> Trace:
    found = read_trace(plain, watches or {})
    assert found.outcome != "lost", found.error
    return found


def lines(found: Trace) -> list[int]:
    return [step.line for step in found.steps]


def texts(found: Trace, line: int, variable: str) -> list[str]:
    return [f"{value.text}; {value.type}" for value in found.observed(line, variable)]
