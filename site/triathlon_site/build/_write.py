"""Writing the site atomically: a new folder beside the old one, then one exchange."""

import ctypes
import gc
import glob
import os
import re
import shutil
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Final

from triathlon_runner.errors import UserError
from triathlon_site.build._places import MARK, check_replaceable
from triathlon_site.figures import PLOTLY, plotly_script
from triathlon_site.pages import Rendering
from triathlon_site.render import Environment
from triathlon_site.workers import Map, workers

PIECE: Final = 1 << 17
"""Bytes that are compared at a time: most files that differ do so soon."""
_LEFT: Final = re.compile(r"\.(\d+)\.(new|old)")
"""How folders of a build at work end: its process, and whether they are a draft or a site set aside."""
_HERE: Final = -100
"""AT_FDCWD: relative paths are those of the process."""
_EXCHANGE: Final = 2
"""RENAME_EXCHANGE of renameat2(2)."""


def write_site(
    out: Path, rendering: Rendering, files: Iterable[tuple[str, str]] = (), *, processes: int = 1
) -> int:
    """Replaces `out` by a rendered site and says how many pages it has.

    They are written as they come, to a draft: one that fails to come leaves `out` as it is.

    Args:
        out: the folder of the site.
        rendering: what makes its pages.
        files: path on the site and path of the file, of what is there already.
        processes: how many render and write at a time.

    Raises:
        UserError: `out` holds something else than a site, or cannot be written.
    """
    check_replaceable(out)
    out = out.resolve()  # behind a link, its target is replaced, not the link
    sweep(out)
    draft = out.with_name(f".{out.name}.{os.getpid()}.new")
    try:
        move = _Move(out, draft)
        assets = _write_assets(move, rendering.environment)
        _prepare(move, rendering)
        with workers(processes) as together:
            pages = _write_pages(draft, rendering, files, together)
            _check_names([*assets, *pages])
            _exchange(draft, out)
            list(together(_remove, _folders(draft)))  # of the old site; what is left goes with the draft
    except OSError as error:
        raise UserError(f"cannot write the site to {str(out)!r} ({error}); pass another --out") from None
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return len(pages)


def _check_names(names: Iterable[str]) -> None:
    """No page may replace another, on a disk that does not tell upper from lower case either.

    Raises:
        UserError: two pages of one name.
    """
    seen: dict[str, str] = {}
    for name in names:
        key = name.casefold()
        if key in seen:
            raise UserError(
                f"two pages of the site have the same file name, {seen[key]!r} and {name!r}:"
                " rename the model or the suite that one of them is named after"
            )
        seen[key] = name


@dataclass(frozen=True, slots=True)
class _Move:
    """From the old site, if there is one, to the new."""

    old: Path
    new: Path

    def write(self, name: str, content: bytes) -> None:
        """A file of the new site. One that the old site has, too, gets a second name: that spares the disk
        half of a large site, and who copies it elsewhere sees by its date that it is not new.
        """
        try:
            self._put(name, content)
        except FileNotFoundError:  # the first in its folder
            (self.new / name).parent.mkdir(parents=True, exist_ok=True)
            self._put(name, content)

    def _put(self, name: str, content: bytes) -> None:
        old, new = self.old / name, self.new / name
        new.unlink(missing_ok=True)  # never written through a second name
        if _holds(old, content):
            _link(str(old), str(new))
        else:
            new.write_bytes(content)


def _holds(path: Path, content: bytes) -> bool:
    """Whether there is a plain file of this content."""
    try:
        found = path.lstat()
        if not stat.S_ISREG(found.st_mode) or found.st_size != len(content):
            return False
        with path.open("rb", buffering=0) as file:
            pieces = range(0, len(content), PIECE)
            return all(file.read(PIECE) == content[start : start + PIECE] for start in pieces)
    except OSError:
        return False


def _write_assets(move: _Move, environment: Environment) -> list[str]:
    """Writes what pages are shown with and returns the paths."""
    move.new.mkdir(parents=True)
    assets = {
        MARK: b"",
        ".nojekyll": b"",  # GitHub Pages: publish the files as they are
        **{path: environment.asset_contents[name] for name, path in environment.assets.items()},
        f"assets/{PLOTLY}": plotly_script(),
    }
    for path, content in assets.items():
        move.write(path, content)
    return list(assets)


_writing: tuple[_Move, Rendering] | None = None
"""For the forked workers: a rendering does not travel between processes."""


def _prepare(move: _Move, rendering: Rendering) -> None:
    global _writing  # noqa: PLW0603 (set before forking, so that the workers have it)
    _writing = move, rendering


def _write_pages(
    draft: Path, rendering: Rendering, files: Iterable[tuple[str, str]], together: Map
) -> list[str]:
    """Writes every page, copies `files` while workers render, and returns the paths of both.

    `files` are copied, not linked: a page that somebody edits in the site must not change the cache.
    """
    sections = together(_write_section, range(len(rendering)))
    copied = _copy_all(draft, files)
    return [*chain.from_iterable(sections), *copied]


def _folders(site: Path) -> Iterator[str]:
    """Those below its folders, and these: a large site's are many files in hundreds of folders."""
    for folder in filter(Path.is_dir, sorted(site.glob("*"))):
        yield from (entry.path for entry in os.scandir(folder) if entry.is_dir())


def _remove(folder: str) -> None:
    shutil.rmtree(folder, ignore_errors=True)


def _write_section(number: int) -> list[str]:
    """Writes the pages of one section and returns their paths."""
    assert _writing is not None
    move, rendering = _writing
    paths = []
    for page in rendering.section(number):
        move.write(page.path, page.bytes)
        paths.append(page.path)
    if not gc.isenabled():  # as in a build
        gc.collect(0)  # among what came since the last section: what that left is kept on purpose
    return paths


def _copy_all(draft: Path, files: Iterable[tuple[str, str]]) -> list[str]:
    """Copies files into the draft; `files` are pairs of the path on the site and the path of the file."""
    paths = []
    for name, source in files:
        target = draft / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)
        paths.append(name)
    return paths


def _link(source: str, target: str) -> None:
    """One more name for a file that is kept anyway; a copy where the file system has no second names."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copyfile(source, target)


def _exchange(draft: Path, out: Path) -> None:
    """Puts the new site in the old one's place; what was there is afterwards where the draft was."""
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
