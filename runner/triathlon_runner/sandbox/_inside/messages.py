"""Messages between the runner and a template server: binary, one a packet."""

import struct

SIZE = 1 << 12

# To the server.
JOB = struct.Struct("<dd")
"""After the kind: CPU seconds that the child may compute, seconds that it may sleep."""
BEGIN = b"J"
KILL = b"K"
READING = b"H"
"""The answer to `IS_READING`."""

# From the server.
READY = b"C"
"""The first child is being forked; with the runner's ends of its pipes: jobs, results, output, errors."""
FAILED = b"E"
"""The server can't go on; with the reason."""
IS_READING = b"T"
"""Asks whether the runner is reading: the child seems to sleep, but may be waiting for the runner."""
ENDED = b"R"
REPORT = struct.Struct("<cidB?")
"""Kind, status as of wait(2), CPU seconds, note, whether it was confined; with the runner's ends of the
next child's pipes, unless the one that ended left files behind."""

NOTHING, OUT_OF_TIME, ASLEEP, SCRATCH = range(4)
"""Notes: why the server killed the child."""
