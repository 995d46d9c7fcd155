"""The smaller tables of a page as files: what is shown as text becomes numbers again."""

import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

import pandas as pd

from triathlon_site.exports._formats import csv_file
from triathlon_site.exports._latex import section_file
from triathlon_site.render import Page, Section, formats
from triathlon_site.scores import Board

_INTERVAL: Final = re.compile(r"([+-]?\d+(?:\.\d+)?)(?: to |–)([+-]?\d+(?:\.\d+)?)")


def section_path(board: Board, section: Section) -> str:
    """Of its CSV file."""
    return f"data/{board.plan.id}-{section.anchor}.csv"


def table_files(path: str, section: Section) -> Iterator[Page]:
    """One table as it is shown, as CSV under `path` and as LaTeX beside it; nothing where it has no rows.

    What stands in small print has a column of its own.
    """
    if section.rows:
        yield section_file(path.removesuffix(".csv") + ".tex", section)
        columns = {name: pd.Series(values, dtype=object) for name, values in _columns(section).items()}
        yield csv_file(path, pd.DataFrame(columns))


def _columns(section: Section) -> dict[str, list[Any]]:
    """The table's columns by name: numbers as numbers, an interval as its two ends."""
    columns: dict[str, list[Any]] = {}
    for place, (name, values) in enumerate(zip(section.head, zip(*section.rows, strict=True), strict=True)):
        texts = [value.text for value in values]
        if place == 0:
            columns[name] = texts  # the model
            continue
        columns |= _computable_columns(name, texts)
        small = [value.small for value in values]
        if any(small):
            columns |= _computable_columns(name if _are_intervals(small) else f"{name}, detail", small)
    return columns


def _computable_columns(name: str, texts: Sequence[str]) -> dict[str, list[Any]]:
    """One column of numbers or texts; two where they are intervals, with their lower and upper ends."""
    if not _are_intervals(texts):
        return {name: [_computable(text) for text in texts]}
    ends = [_ends(text) for text in texts]
    return {f"{name}, low": [low for low, _ in ends], f"{name}, high": [high for _, high in ends]}


def _are_intervals(texts: Sequence[str]) -> bool:
    known = [text for text in texts if text not in ("", formats.NONE)]
    return bool(known) and all(_ends(text) != (None, None) for text in known)


def _ends(text: str) -> tuple[float, float] | tuple[None, None]:
    """`−4.2 to +1.0` as its two numbers."""
    match = _INTERVAL.fullmatch(text.replace(formats.MINUS, "-"))
    return (float(match[1]), float(match[2])) if match else (None, None)


def _computable(text: str) -> str | float | None:
    """Reads a text of the page as a number (`−0.4` → -0.4); None for an empty cell; other texts stay."""
    plain = text.replace(formats.MINUS, "-")
    if plain in ("", formats.NONE):
        return None
    try:
        return float(plain) if "." in plain else int(plain)
    except ValueError:
        return plain
