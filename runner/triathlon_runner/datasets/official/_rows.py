"""Rows of the official files."""

import json
from typing import Any

from triathlon_runner.datasets import DataFile, DataStore, DataUnavailableError

Row = dict[str, Any]


def read_rows(store: DataStore, file: DataFile) -> list[Row]:
    """The rows of a JSONL file, or of a file that is one JSON array.

    Raises:
        DataUnavailableError: the file is not here and cannot be fetched.
    """
    text = store.read(file).decode()
    try:
        # `splitlines` would also cut at the line separators that stand inside JSON strings.
        rows = (
            json.loads(text)
            if file.name.endswith(".json")
            else [json.loads(line) for line in text.split("\n") if line.strip()]
        )
    except json.JSONDecodeError as error:
        raise DataUnavailableError(f"{file.name!r} holds something that is not JSON: {error}") from error
    return list(rows)
