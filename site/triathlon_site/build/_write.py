"""Writing the site atomically: a new folder beside the old one, then one exchange."""

import os
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from triathlon_runner.errors import UserError
from triathlon_site.pages import PLOTLY, Environment, Page, plotly_script

MARK: Final = ".triathlon-site"
"""Stands in every folder that we wrote: only such a folder, or an empty one, is ever replaced."""


def write_site(
    out: Path, pages: Iterable[Page], environment: Environment, files: Iterable[tuple[str, Path]] = ()
) -> int:
    """Replaces `out` by these pages and says how many they are.

    They are written as they come, to a draft: one that fails to come leaves `out` as it is.

    Raises:
        UserError: `out` holds something else than a site, or cannot be written.
    """
    check_replaceable(out)
    draft = out.with_name(f".{out.name}.{os.getpid()}.new")
    try:
        count = _write_all(draft, pages, environment)
        for name, source in files:
            _link(source, draft / name)
        _exchange(draft, out)
    except OSError as error:
        raise UserError(f"cannot write the site to {str(out)!r} ({error}); pass another --out") from None
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return count


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


def _write_all(draft: Path, pages: Iterable[Page], environment: Environment) -> int:
    draft.mkdir(parents=True)
    (draft / MARK).write_bytes(b"")
    (draft / ".nojekyll").write_bytes(b"")  # GitHub Pages: publish the files as they are
    for name, published in environment.assets.items():
        _write(draft / published, environment.asset_contents[name])
    _write(draft / "assets" / PLOTLY, plotly_script())
    count = 0
    for count, page in enumerate(pages, start=1):  # noqa: B007 (the last count is what is wanted)
        _write(draft / page.path, page.bytes)
    return count


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def _link(source: Path, target: Path) -> None:
    """One more name for a file that is kept anyway; a copy where the file system has no second names."""
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        os.link(source, target)
    except OSError:
        shutil.copyfile(source, target)


def _exchange(draft: Path, out: Path) -> None:
    """Moves the old site aside, the new one in; puts the old one back if that fails."""
    old = out.with_name(f".{out.name}.{os.getpid()}.old")
    if not out.exists():
        draft.rename(out)
        return
    out.rename(old)
    try:
        draft.rename(out)
    except OSError:
        old.rename(out)
        raise
    shutil.rmtree(old)
