"""The folder of the site: where it may be written, and how a new site replaces an old one."""

import glob
import os
import re
import shutil
from pathlib import Path
from typing import Final

from triathlon_runner.errors import UserError
from triathlon_runner.records import RECORDED
from triathlon_runner.store import IMPORTED

MARK: Final = ".triathlon-site"
"""Stands in every folder that we wrote: only such a folder, or an empty one, is ever replaced."""
MODELS: Final = "models"
"""Folder of a site with a page for each model; one without results has none."""
READ: Final = ("runs", "published", "archive", IMPORTED, RECORDED)
"""Folders among the results that builds read."""
_LEFT: Final = re.compile(r"\.(\d+)\.(new|old)")
"""How folders of a build at work end: its process, and whether they are a draft or a site set aside."""


def check_replaceable(out: Path) -> None:
    """Refuses to replace a folder that is no site of ours.

    Raises:
        UserError: naming the folder.
    """
    if out.is_dir() and any(out.iterdir()) and not (out / MARK).exists():
        raise UserError(
            f"--out {str(out)!r} is a folder that no earlier build wrote; name a new or an empty one"
        )
    if out.exists() and not out.is_dir():
        raise UserError(f"--out {str(out)!r} is a file; name a folder")


def check_apart(results: Path, out: Path) -> None:
    """Refuses a site that would be read as results, and one whose next build would take results with it.

    Raises:
        UserError: naming both.
    """
    inner, outer = out.resolve(), results.resolve()
    if outer.is_relative_to(inner) or any(inner.is_relative_to(outer / name) for name in READ):
        raise UserError(
            f"--out {str(out)!r} and the results in {str(results)!r} must lie apart; name another"
        )


def check_empty(results: Path, out: Path, *, strict: bool = False) -> None:
    """Refuses to replace a site with models by one without: a failed run must not empty a published site.

    `strict`: refuses a site without results in any case.

    Raises:
        UserError: naming both, and what to do.
    """
    if (out / MODELS).is_dir():
        raise UserError(
            f"no results in {str(results)!r}: the site in {str(out)!r}, which has some, stays as it is;"
            " run `triathlon run` until there are results, name their folder with --results, or name"
            " another --out"
        )
    if strict:
        raise UserError(
            f"--strict: expected results in {str(results)!r}, there are none; `triathlon run` makes some,"
            " --results names others"
        )


def replace_site(draft: Path, out: Path) -> None:
    """Puts the new site in the old one's place; the old one back if that fails.

    `sweep` puts it back where the process was killed between the two steps.
    """
    old = out.with_name(f".{out.name}.{os.getpid()}.old")
    if out.exists():
        out.rename(old)
    try:
        draft.rename(out)
    except OSError:
        if old.exists():
            old.rename(out)
        raise
    shutil.rmtree(old, ignore_errors=True)


def sweep(out: Path) -> None:
    """Removes what killed builds left beside `out`; a site that was set aside comes back if there is none."""
    for left in sorted(out.parent.glob(f".{glob.escape(out.name)}.*"), reverse=True):
        match = _LEFT.fullmatch(left.name.removeprefix(f".{out.name}"))
        if not match or _runs(int(match[1])):
            continue
        if match[2] == "old" and not out.exists() and (left / MARK).exists():
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
