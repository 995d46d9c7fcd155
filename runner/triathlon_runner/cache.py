"""Where everything is kept that can be fetched or made again."""

import os
import stat
from pathlib import Path
from typing import Final

import platformdirs

_WRITE_BITS: Final = stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH


def cache_folder() -> Path:
    """Folder of data, replies, answer keys, weights, environments and aggregates.

    It is `TRIATHLON_CACHE`; else `.cache` of the checkout; else, for a package without one and for a checkout
    that is read-only, the user's cache.

    The checkout is the one that this code lies in, or else that the command is run in, so that `make`, a
    command of an environment and one that is installed for all folders share one cache.
    """
    named = os.environ.get("TRIATHLON_CACHE")
    if named:
        return Path(named)
    checkout = _checkout()
    if checkout is not None:
        folder = checkout / ".cache"
        if _is_writable(folder if folder.exists() else checkout):
            return folder
    return platformdirs.user_cache_path("triathlon")


def _is_writable(folder: Path) -> bool:
    """Whether a folder can and should be written: root could write into one that is read-only by its mode."""
    return os.access(folder, os.W_OK) and bool(folder.stat().st_mode & _WRITE_BITS)


def _checkout() -> Path | None:
    here = Path.cwd()
    for folder in (Path(__file__).parents[2], here, *here.parents):
        if (folder / "Makefile").is_file() and (folder / "runner" / "triathlon_runner").is_dir():
            return folder
    return None
