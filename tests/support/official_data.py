"""The official data files, where a machine has them."""

import os
from pathlib import Path

import pytest

from triathlon_runner.datasets import DataStore

_CHECKOUT = Path(__file__).resolve().parents[2]


def official_store() -> DataStore:
    """A store over `TRIATHLON_DATA`, else `../shared/datasets` of the checkout; skips where neither is."""
    named = os.environ.get("TRIATHLON_DATA")
    folder = Path(named) if named else _CHECKOUT.parent / "shared" / "datasets"
    if not folder.is_dir():
        pytest.skip(f"needs the official data files: no folder {str(folder)!r}; name one in TRIATHLON_DATA")
    return DataStore(cache=folder, folder=folder, fetch=False)
