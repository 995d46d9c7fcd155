"""Where data files are looked for."""

from dataclasses import dataclass
from pathlib import Path

from triathlon_runner.errors import UserError


class DataUnavailableError(UserError):
    """A data set is neither in the data folder nor in the cache and could not be fetched."""


@dataclass(frozen=True, slots=True)
class DataStore:
    """A folder that a user points at (`--data`, `TRIATHLON_DATA`) and the cache for what is fetched."""

    cache: Path
    folder: Path | None = None
    fetch: bool = True
    """False: never ask the network (`--offline`, and listing suites)."""
