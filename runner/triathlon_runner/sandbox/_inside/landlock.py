"""Landlock: which files a child may open, whatever their permissions. What is not allowed here is denied."""

import os
import struct
from collections.abc import Iterable

from . import system

_EXECUTE, _WRITE, _READ, _READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_REMOVE_DIR, _REMOVE_FILE, _MAKE_DIR, _MAKE_REG, _MAKE_SYM = 1 << 4, 1 << 5, 1 << 7, 1 << 8, 1 << 12
_REFER, _TRUNCATE = 1 << 13, 1 << 14
_ON_FILES = _EXECUTE | _WRITE | _READ | _TRUNCATE

READ = _READ | _READ_DIR
LIST = _READ_DIR
READ_AND_RUN = READ | _EXECUTE
DEVICE = _READ | _WRITE
SCRATCH = READ | _WRITE | _REMOVE_DIR | _REMOVE_FILE | _MAKE_DIR | _MAKE_REG | _MAKE_SYM | _REFER | _TRUNCATE


def ruleset(rules: Iterable[tuple[str, int]]) -> int | None:
    """A descriptor of the rules (path, rights), or None where the kernel has no Landlock."""
    version = system.landlock_version()
    if version == 0:
        return None
    handled = _rights_of_version(version)
    network, scoped = (3 if version >= 4 else 0), (3 if version >= 6 else 0)
    request = struct.pack("<3Q", handled, network, scoped)
    descriptor = system.landlock_ruleset(request[: 24 if version >= 6 else 16 if version >= 4 else 8])
    for path, rights in rules:
        _allow(descriptor, path, rights & handled)
    return descriptor


def _rights_of_version(version: int) -> int:
    """All rights over files that this Landlock version has; it refuses rules with any other."""
    bits = 13 + (version >= 2) + (version >= 3) + (version >= 5)
    return (1 << bits) - 1


def _allow(ruleset: int, path: str, rights: int) -> None:
    try:
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        return  # a missing file cannot be opened anyway
    try:
        if not os.path.isdir(path):
            rights &= _ON_FILES
        system.landlock_allow(ruleset, struct.pack("<Qi", rights, descriptor))
    finally:
        os.close(descriptor)
