"""What runner and template server say to each other: short binary messages, one a packet."""

import struct

SIZE = 1 << 12

# To the server.
JOB = struct.Struct("<dd")
"""After the kind: CPU seconds that the child may compute, seconds that it may sleep."""
BEGIN = b"J"
KILL = b"K"
HERE = b"H"
"""The answer to `THERE`."""

# From the server.
READY = b"C"
"""The first child is made now; with the near ends of its pipes: jobs, results, standard output and error."""
FAILED = b"E"
"""The server can't go on; with the reason."""
THERE = b"T"
"""Asks whether the runner still reads: its child seems to sleep, but may be waiting for the runner."""
ENDED = b"R"
REPORT = struct.Struct("<cidB?")
"""Kind, status as of wait(2), CPU seconds, note, whether it was confined; with the near ends of the next
child, unless the one that ended left anything behind."""

NOTHING, OUT_OF_TIME, ASLEEP, SCRATCH = range(4)
"""Notes: why the server killed the child."""
