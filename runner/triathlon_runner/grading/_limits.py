"""What programs, references and tests may use: `sandbox.Limits` says what is limited."""

import re

from triathlon_runner.sandbox import Limits

MIN_CPU_SECONDS = 10.0
"""For all inputs together. The official harnesses give each input a second: of 992 recorded solutions three
that they passed take 4 to 5 s in all (HumanEval/103 and 138)."""
CPU_FACTOR = 4.0
"""A program may take this many times the reference's CPU time on the same inputs, and `MIN_CPU_SECONDS`."""
WALL_SECONDS = 20.0
"""How long a program may sleep."""
RESULT_BYTES, RESULT_FACTOR = 1 << 20, 2
"""A result may have the bytes, and this many times those of the longest expected one: equal values differ
little in their form."""
REFERENCE_LIMITS = Limits(cpu_seconds=600, wall_seconds=3600, result_bytes=2 << 30)
"""The slowest reference of the official sets takes about 70 s of CPU time (Mbpp/599)."""
TEST_LIMITS = Limits(cpu_seconds=10, wall_seconds=20, result_bytes=1 << 20)
"""For programs without a reference whose time could be taken, and for all test methods of a class together.

An interpreter's start costs up to 0.1 s. What a test's text compares with is small, and as objects a result
can take ten times its bytes here.
"""
_NUMPY = re.compile(r"^\s*(import|from)\s+numpy\b", re.MULTILINE)


def chosen_libraries(program: str) -> frozenset[str]:
    """The libraries that a program in Python may choose to import, beside those that its problem names."""
    return frozenset({"numpy"}) if "numpy" in program and _NUMPY.search(program) else frozenset()
