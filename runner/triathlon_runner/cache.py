"""Where everything is kept that can be fetched or made again."""

import os
from pathlib import Path

import platformdirs


def cache_folder() -> Path:
    """Folder of data, replies, answer keys, weights, environments and aggregates.

    It is `TRIATHLON_CACHE`; else `.cache` of the checkout; else, for a package without one, the user's cache.

    The checkout is the one that this code lies in, or else that the command is run in, so that `make`, a
    command of an environment and one that is installed for all folders share one cache.
    """
    named = os.environ.get("TRIATHLON_CACHE")
    if named:
        return Path(named)
    checkout = _checkout()
    return checkout / ".cache" if checkout else platformdirs.user_cache_path("triathlon")


def _checkout() -> Path | None:
    here = Path.cwd()
    for folder in (Path(__file__).parents[2], here, *here.parents):
        if (folder / "Makefile").is_file() and (folder / "runner" / "triathlon_runner").is_dir():
            return folder
    return None
