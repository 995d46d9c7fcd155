"""Putting a new folder in the place of an old one."""

import ctypes
import glob
import os
import re
import shutil
from pathlib import Path
from typing import Final

from triathlon_site.build._places import MARK

_LEFT: Final = re.compile(r"\.(\d+)\.(new|old)")
"""How folders of a build at work end: its process, and whether they are a draft or a site set aside."""
_HERE: Final = -100
"""AT_FDCWD: relative paths are those of the process."""
_EXCHANGE: Final = 2
"""RENAME_EXCHANGE of renameat2(2)."""


def exchange(draft: Path, out: Path) -> None:
    """Puts the new site in the old one's place; what was there is afterwards where the draft was, or gone."""
    try:
        draft.rename(out)  # nothing there, or an empty folder
    except OSError:
        if not out.is_dir():
            raise
        if not _swap(draft, out):
            _replace(draft, out)


def _swap(one: Path, other: Path) -> bool:
    """Both at once, so that no moment is without a site; False where the system cannot."""
    try:
        rename = ctypes.CDLL(None, use_errno=True).renameat2
    except (AttributeError, OSError):
        return False
    return bool(rename(_HERE, os.fsencode(one), _HERE, os.fsencode(other), _EXCHANGE) == 0)


def _replace(draft: Path, out: Path) -> None:
    """In two steps; puts the old site back if the second fails. `sweep` does where it was not reached."""
    old = out.with_name(f".{out.name}.{os.getpid()}.old")
    out.rename(old)
    try:
        draft.rename(out)
    except OSError:
        old.rename(out)
        raise
    shutil.rmtree(old, ignore_errors=True)


def sweep(out: Path) -> None:
    """Removes what killed builds left beside `out`; a site that was set aside comes back if there is none."""
    for left in sorted(out.parent.glob(f".{glob.escape(out.name)}.*"), reverse=True):
        found = _LEFT.fullmatch(left.name.removeprefix(f".{out.name}"))
        if not found or _runs(int(found[1])):
            continue
        if found[2] == "old" and not out.exists() and (left / MARK).exists():
            left.rename(out)
        else:
            shutil.rmtree(left, ignore_errors=True)


def _runs(process: int) -> bool:
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        pass  # somebody else's
    return True
