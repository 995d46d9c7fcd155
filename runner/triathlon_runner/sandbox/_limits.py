"""The limits of one child, as `triathlon doctor` prints them."""

from dataclasses import dataclass

from triathlon_runner.sandbox._api import Limits
from triathlon_runner.sandbox._inside import confine


@dataclass(frozen=True, slots=True)
class LimitRow:
    """One limit: of what, how much, and what enforces it."""

    what: str
    most: str
    enforced_by: str


def limits_of_a_child(limits: Limits) -> tuple[LimitRow, ...]:
    """The limits of a child whose job has these; each is reached by a test of this name."""
    files = f"{confine.SCRATCH_BYTES >> 20} MiB"
    return (
        LimitRow("CPU time", f"{limits.cpu_seconds:g} s", "the server, by the process' own clock"),
        LimitRow("sleep", f"{limits.wall_seconds:g} s", "the server; waiting for a processor does not count"),
        LimitRow(
            "memory",
            f"{limits.memory_bytes >> 20} MiB, or what is free",
            "RLIMIT_AS; in JavaScript RLIMIT_DATA, and no shared mappings",
        ),
        LimitRow("one result", f"{limits.result_bytes >> 10} KiB", "the child, and the runner that reads it"),
        LimitRow("recorded output", f"{limits.output_bytes >> 10} KiB", "the runner, which drops the rest"),
        LimitRow("one file", f"{confine.FILE_BYTES >> 20} MiB", "RLIMIT_FSIZE"),
        LimitRow("files together", files, "the size of the file system; at `lite` the server, every 0.01 s"),
        LimitRow("open files", f"{confine.OPEN_FILES}", "RLIMIT_NOFILE, with one table for all threads"),
        LimitRow("threads", f"{confine.THREADS}", "RLIMIT_NPROC"),
        LimitRow("processes", "1", "the system call filter"),
        LimitRow("pending signals", f"{confine.PENDING_SIGNALS}", "RLIMIT_SIGPENDING"),
    )
