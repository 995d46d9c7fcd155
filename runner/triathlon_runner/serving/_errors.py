"""What can go wrong with a server that we start."""

import re
from pathlib import Path

from triathlon_runner.errors import InfrastructureError, UserError


class ServingError(UserError):
    """The model of a row cannot be served here as the row says; the message says why and what to do."""


class ServerLostError(InfrastructureError):
    """A server that had answered died or stalled, and starting it again did not help."""


_SHOWN_LINES = 15
_SHOWN_CAUSES = 5
_TAIL_BYTES = 64 * 1024
_CAUSE = re.compile(r"^(?!.*\bWARNING\b).*(Error|Exception|error): ")


def _is_noise(line: str) -> bool:
    """Blank lines, the underlines of tracebacks, and pip's word that a local folder lacks a package."""
    return not line.strip(" ^~") or "is ignored: it is neither a file" in line


def last_lines(log: Path, since: int = 0) -> str:
    """The last lines of a log from byte `since` on, preceded by earlier lines that name an error.

    vLLM ends with "see root cause above", so the tail alone would hide what happened.
    """
    try:
        size = log.stat().st_size
        with log.open("rb") as stream:
            stream.seek(max(since, size - _TAIL_BYTES))
            lines = stream.read().decode(errors="replace").splitlines()
    except FileNotFoundError:
        return "(no log was written)"
    lines = [line for line in lines if not _is_noise(line)]
    earlier, tail = lines[:-_SHOWN_LINES], lines[-_SHOWN_LINES:]
    causes = [line for line in earlier if _CAUSE.search(line)]
    shown = [*dict.fromkeys(causes[-_SHOWN_CAUSES:]), *tail]
    return "\n".join(f"    {line}" for line in shown) or "(the log is empty)"
