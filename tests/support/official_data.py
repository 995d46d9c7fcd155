"""The official data files, where a machine has them."""

import gzip
import json
import os
from pathlib import Path
from typing import Any

import pytest

from triathlon_runner.datasets import DataStore


def data_folder() -> Path:
    """The folder of `TRIATHLON_DATA`, else `../shared/datasets` of the checkout; it need not be there."""
    beside = Path(__file__).resolve().parents[3] / "shared" / "datasets"
    return Path(os.environ.get("TRIATHLON_DATA") or beside)


def recordings() -> Path:
    """The folder of recorded runs, beside the data; it need not be there."""
    return data_folder().parent / "recorded"


def official_store() -> DataStore:
    """A store over the folder of the data; skips where it is not there."""
    folder = data_folder()
    if not folder.is_dir():
        pytest.skip(f"needs the official data files: no folder {str(folder)!r}; name one in TRIATHLON_DATA")
    return DataStore(cache=folder, folder=folder, fetch=False)


def recording(name: str) -> list[dict[str, Any]]:
    """The tasks of one stored EVALOOOP run; skips where this machine has none.

    A recording is an object whose keys are loops sustained and whose values list tasks: `task_id`,
    `initial_prompt`, `cycles` (each with `code_output` and `summary_output`, the next prompt) and
    `successful_cycles`.
    """
    path = recordings() / f"{name}.json.gz"
    if not path.is_file():
        pytest.skip(
            f"needs a stored run: no file {str(path)!r}; they lie beside the folder of TRIATHLON_DATA"
        )
    with gzip.open(path, "rt") as file:
        return [task for tasks in json.load(file).values() for task in tasks]
