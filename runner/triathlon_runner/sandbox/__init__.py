"""Executing programs that nobody trusts."""

from triathlon_runner.sandbox._api import (
    Call,
    Ended,
    Execution,
    Job,
    Language,
    Limits,
    Raised,
    Returned,
    Sandbox,
    SandboxError,
    Source,
)

__all__ = [
    "Call",
    "Ended",
    "Execution",
    "Job",
    "Language",
    "Limits",
    "Raised",
    "Returned",
    "Sandbox",
    "SandboxError",
    "Source",
]
