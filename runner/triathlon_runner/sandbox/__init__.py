"""Executes untrusted programs."""

from triathlon_runner.languages import Language
from triathlon_runner.sandbox._api import (
    HASHED_BYTES,
    Call,
    Ended,
    Examination,
    Execution,
    Hashed,
    Job,
    Limits,
    MalformedError,
    Opaque,
    Prepared,
    Raised,
    Results,
    Returned,
    Sandbox,
    SandboxError,
    Sent,
    Source,
    StoredResults,
    Tagged,
)
from triathlon_runner.sandbox._doctor import SandboxHealth, doctor, try_language
from triathlon_runner.sandbox._inside.child import encode
from triathlon_runner.sandbox._limits import limits_of_a_child
from triathlon_runner.sandbox._local import open_sandbox
from triathlon_runner.sandbox._python_wire import PythonWire, decode, is_plain, refuse_collisions
from triathlon_runner.sandbox._ways_out import integrity

__all__ = [
    "HASHED_BYTES",
    "Call",
    "Ended",
    "Examination",
    "Execution",
    "Hashed",
    "Job",
    "Language",
    "Limits",
    "MalformedError",
    "Opaque",
    "Prepared",
    "PythonWire",
    "Raised",
    "Results",
    "Returned",
    "Sandbox",
    "SandboxError",
    "SandboxHealth",
    "Sent",
    "Source",
    "StoredResults",
    "Tagged",
    "decode",
    "doctor",
    "encode",
    "integrity",
    "is_plain",
    "limits_of_a_child",
    "open_sandbox",
    "refuse_collisions",
    "try_language",
]
