"""Messages between the runner and a template server, and frames between the runner and a child.

A message is one packet of a socket. A frame on a pipe is one kind byte, the payload's length, the payload.
"""

import struct

SIZE = 1 << 12

# To the server.
JOB = struct.Struct("<dd")
"""After the kind: CPU seconds that the child may compute, seconds that it may sleep."""
BEGIN = b"J"
KILL = b"K"
READING = b"H"
"""The first byte of the answer to `IS_READING`."""
WAITED = struct.Struct("<cd")
"""That byte, and the seconds since the question before in which the child could run and was not let run."""

# From the server.
READY = b"C"
"""The first child is being forked; with the runner's ends of its pipes: jobs, results, output, errors."""
FAILED = b"E"
"""The server can't go on; with the reason."""
IS_READING = b"T"
"""With a descriptor of the child's process, which seems to sleep: asks whether the runner is reading, and how
long the child waited for a processor, or for the runner."""
ENDED = b"R"
REPORT = struct.Struct("<cidB?Q")
"""Kind, status as of wait(2), CPU seconds, note, whether it was confined, most bytes of memory that it had;
with the runner's ends of the next child's pipes, unless the one that ended left files behind."""

NOTHING, OUT_OF_TIME, ASLEEP, SCRATCH = range(4)
"""Notes: why the server killed the child."""

HEADER = struct.Struct("<cI")
MEMORY = struct.Struct("<Q")
"""Before a child's first frame: the bytes of memory that the job may use."""

# Frames to the child.
PROGRAM = b"P"  # marshalled {program, result_bytes, relayed}
CALL = b"C"  # marshalled (function, arguments or None, source text or None)
ANSWER = b"A"  # marshalled (True, value) or (False, message): the answer to a question of the child

# Frames from the child.
LOADED = b"L"  # the program was executed; empty
NOT_LOADED = b"N"  # as RAISED
VALUE = b"V"  # an encoded value (in other languages: JSON)
RAISED = b"E"  # an encoded (type, message, line) (in other languages: JSON {type, message, line})
ASK = b"Q"  # an encoded (function, arguments): a question to the runner, while a call runs
