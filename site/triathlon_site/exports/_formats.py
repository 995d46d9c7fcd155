"""DataFrames as files of the site: CSV, JSON and Parquet."""

import io
import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

import pandas as pd

from triathlon_site.exports._schema import DATA_SCHEMA
from triathlon_site.render import Page

_FORMULA: Final = tuple("=+-@\t\r")


def csv_file(path: str, frame: pd.DataFrame) -> Page:
    """A row a line; empty where there are none."""
    if frame.empty:
        return Page(path, "")
    safe = frame.copy()
    for name in frame.select_dtypes(exclude=["number", "bool"]):
        safe[name] = pd.Series([_cell(value) for value in frame[name]], frame.index, dtype=object)
    return Page(path, safe.to_csv(index=False, lineterminator="\n"))


def _cell(value: Any) -> Any:
    """A name that a spreadsheet would run as a formula gets an apostrophe in front."""
    if isinstance(value, list):
        return " ".join(value)
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value


def json_file(
    path: str, head: Mapping[str, str], rows: Sequence[Mapping[str, Any]], name: str = "rows"
) -> Page:
    """The version of the schema, what the file is of, and the rows under `name`."""
    content = {"schema": DATA_SCHEMA, **head, name: rows}
    return Page(path, json.dumps(content, indent=1, ensure_ascii=False) + "\n")


def parquet_file(path: str, frame: pd.DataFrame) -> Page:
    """The same rows give the same bytes with the same pandas and pyarrow."""
    target = io.BytesIO()
    frame.to_parquet(target, index=False, compression="zstd")
    return Page(path, "", target.getvalue())
