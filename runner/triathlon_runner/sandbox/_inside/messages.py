"""Messages between the runner and a template server, and frames between the runner and a child.

A message is one packet of a socket. A frame on a pipe is one kind byte, the payload's length, the payload.
"""

import struct

SIZE = 1 << 12

# To the server.
BEGIN = b"J"
KILL = b"K"
JOB = struct.Struct("<cd")
"""`BEGIN`, CPU seconds that the child may compute."""

# From the server.
READY = b"C"
"""The first child is being forked; with the runner's ends of its pipes: jobs, results, output, errors."""
FAILED = b"E"
"""The server can't go on; with the reason."""
LONG = b"T"
"""The child has run for a moment: from now on the runner looks whether it sleeps. With a descriptor of its
process."""
ENDED = b"R"
REPORT = struct.Struct("<cidB?Q")
"""Kind, status as of wait(2), CPU seconds, note, whether it was confined, most bytes of memory that it had;
with the runner's ends of the next child's pipes, unless the one that ended left files behind."""

NOTHING, OUT_OF_TIME, SCRATCH = range(3)
"""Notes: why the server killed the child."""

HEADER = struct.Struct("<cI")
MEMORY = struct.Struct("<Q")
"""Before a child's first frame: the bytes of memory that the job may use."""

# Frames to the child, marshalled (in other languages: JSON).
PROGRAM = b"P"  # program, most bytes of a result, names of relayed functions
CALL = b"C"  # function, arguments or None, source text or None; perhaps named arguments
ANSWER = b"A"  # True and value, or False and type and message: the answer to a question of the child

# Frames from the child, encoded by `child.encode` (in other languages: JSON).
LOADED = b"L"  # the program was executed; empty
NOT_LOADED = b"N"  # as RAISED
VALUE = b"V"  # a value
RAISED = b"E"  # type, message, line; from Python also the built-in type that it is or is derived from
ASK = b"Q"  # function, arguments, named ones in Python: a question to the runner, while a call runs
