"""What can go wrong with a server that we start."""

from pathlib import Path

from triathlon_runner.errors import InfrastructureError, UserError


class ServingError(UserError):
    """The model of a row cannot be served here as the row says; the message says why and what to do."""


class ServerLostError(InfrastructureError):
    """A server that had answered died or stalled, and starting it again did not help."""


_SHOWN_LINES = 15
_SHOWN_CAUSES = 5
_TAIL_BYTES = 64 * 1024


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
    lines = [line for line in lines if line.strip() and "is ignored: it is neither a file" not in line]
    earlier, tail = lines[:-_SHOWN_LINES], lines[-_SHOWN_LINES:]
    causes = [line for line in earlier if "Error: " in line or "Exception: " in line or "error: " in line]
    shown = [*dict.fromkeys(causes[-_SHOWN_CAUSES:]), *tail]
    return "\n".join(f"    {line}" for line in shown) or "(the log is empty)"
