"""Executes untrusted programs."""

from triathlon_runner.languages import Language
from triathlon_runner.sandbox._api import (
    HASHED_BYTES,
    Call,
    Ended,
    Examination,
    Execution,
    Job,
    Limits,
    MalformedError,
    Opaque,
    Prepared,
    Raised,
    Returned,
    Sandbox,
    SandboxError,
    Sent,
    Source,
    Tagged,
    TakeResult,
    take_stored,
)
from triathlon_runner.sandbox._inside.child import encode
from triathlon_runner.sandbox._open import (
    SandboxHealth,
    doctor,
    integrity,
    limits_of_a_child,
    open_sandbox,
    try_language,
)
from triathlon_runner.sandbox._wire import PYTHON_WIRE, decode, is_plain, refuse_collisions
