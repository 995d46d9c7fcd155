"""Traces made in this process, for tests of what the tracer records: the programs are ours."""

import textwrap

from triathlon_runner.runtime._sandboxed.tracer import Trace, trace


def traced(program: str, arguments: str = "()", watches: dict[int, list[str]] | None = None) -> Trace:
    """The trace of `f(*arguments)`."""
    run = {"function": "f", "arguments": arguments}
    return trace(textwrap.dedent(program).strip(), run, watches or {})


def traced_test(program: str, module: str, body: str, watches: dict[int, list[str]] | None = None) -> Trace:
    """The trace of the statements of `T.test` behind its set-up."""
    run = {"test": textwrap.dedent(module), "class": "T", "method": "test", "body": textwrap.dedent(body)}
    return trace(textwrap.dedent(program).strip(), run, watches or {})


def lines(found: Trace) -> list[int]:
    return [step.line for step in found.steps]


def texts(found: Trace, line: int, variable: str) -> list[str]:
    return [f"{text}; {kind}" for kind, text, _ in found.observed(line, variable)]
