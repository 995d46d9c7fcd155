"""DataFrames as data files of the site: CSV, JSON, Parquet; which of them there are."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import pandas as pd

from triathlon_site.exports._frames import Reported, overall_frame, records, score_frame
from triathlon_site.exports._latex import board_table, latex_table, overall_table
from triathlon_site.exports._schema import DATA_SCHEMA, schema_files
from triathlon_site.load import Notice
from triathlon_site.models import Models
from triathlon_site.published import Published
from triathlon_site.render import Page, Section, formats
from triathlon_site.scores import Board, Overall

_FORMULA: Final = tuple("=+-@\t\r")
_INTERVAL: Final = re.compile(r"([+-]?\d+(?:\.\d+)?)(?: to |–)([+-]?\d+(?:\.\d+)?)")


def data_files(
    boards: Sequence[Board],
    overalls: Mapping[str, Overall],
    models: Models,
    notices: Sequence[Notice],
    reported: Reported,
) -> Iterator[Page]:
    """Each board and overall ranking as JSON, CSV and LaTeX; all scores as Parquet; faults; the schemas."""
    for board in boards:
        frame, path = score_frame([board], models, reported), f"data/{board.plan.id}"
        yield _json_file(f"{path}.json", {"board": board.plan.id, "rows": records(frame)})
        yield _csv_file(f"{path}.csv", frame)
        yield Page(f"{path}.tex", board_table(board, models))
    for family, overall in overalls.items():
        frame, path = overall_frame(overall, models), f"data/overall-{family}"
        yield _json_file(f"{path}.json", {"family": family, "rows": records(frame)})
        yield _csv_file(f"{path}.csv", frame)
        yield Page(f"{path}.tex", overall_table(overall, models))
    if boards:
        # The same rows give the same bytes with the same pandas and pyarrow.
        parquet = score_frame(boards, models, reported).to_parquet(index=False, compression="zstd")
        yield Page("data/scores.parquet", "", parquet)
    yield _json_file("data/notices.json", {"notices": [notice.model_dump() for notice in notices]})
    yield from schema_files()


def published_files(published: Published) -> Iterator[Page]:
    """The published tables as they were read."""
    for name, rows in published.tables.items():
        yield _csv_file(f"data/published-{name}.csv", pd.DataFrame(rows))


def _json_file(path: str, content: Mapping[str, Any]) -> Page:
    """Behind the version of the schema, what the file is of, and its rows."""
    return Page(path, json.dumps({"schema": DATA_SCHEMA, **content}, ensure_ascii=False) + "\n")


def _csv_file(path: str, frame: pd.DataFrame) -> Page:
    """A row a line; empty where there are none."""
    if frame.empty:
        return Page(path, "")
    safe = frame.copy()
    for name in frame.select_dtypes(exclude=["number", "bool"]):
        safe[name] = frame[name].astype(object).map(_cell)
    return Page(path, safe.to_csv(index=False, lineterminator="\n"))


def _cell(value: Any) -> Any:
    """A name that a spreadsheet would run as a formula gets an apostrophe in front."""
    if isinstance(value, list):
        return " ".join(value)
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value


def section_path(board: Board, section: Section) -> str:
    """Of its CSV file."""
    return f"data/{board.plan.id}-{section.anchor}.csv"


def table_files(path: str, section: Section) -> Iterator[Page]:
    """A smaller table of a page, as CSV under `path` and as LaTeX beside it; nothing where it has no rows.

    In the CSV, what is shown as text becomes numbers again, and small print has a column of its own.
    """
    if not section.rows:
        return
    shown = [
        [f"{cell.text} ({cell.small})" if cell.small else cell.text for cell in row] for row in section.rows
    ]
    yield Page(path.removesuffix(".csv") + ".tex", latex_table(section.title, section.head, shown))
    models, *others = zip(*section.rows, strict=True)
    columns: dict[str, list[Any]] = {section.head[0]: [cell.text for cell in models]}
    for name, cells in zip(section.head[1:], others, strict=True):
        columns |= _numbers(name, [cell.text for cell in cells])
        small = [cell.small for cell in cells]
        if any(small):
            columns |= _numbers(name if _ends(small) else f"{name}, detail", small)
    yield _csv_file(path, pd.DataFrame(columns, dtype=object))


def _numbers(name: str, texts: Sequence[str]) -> dict[str, list[Any]]:
    """One column of numbers or texts; two where they are intervals, with their lower and upper ends."""
    if ends := _ends(texts):
        low, high = zip(*ends, strict=True)
        return {f"{name}, low": [*low], f"{name}, high": [*high]}
    return {name: [_number(text) for text in texts]}


def _ends(texts: Sequence[str]) -> list[tuple[float | None, float | None]]:
    """`−4.2 to +1.0` as its two numbers, for each text; nothing where one says something else."""
    ends: list[tuple[float | None, float | None]] = []
    for text in texts:
        match = _INTERVAL.fullmatch(text.replace(formats.MINUS, "-"))
        if not match and text not in ("", formats.NONE):
            return []
        ends.append((float(match[1]), float(match[2])) if match else (None, None))
    return ends if any(low is not None for low, _ in ends) else []


def _number(text: str) -> str | float | None:
    """Reads a text of the page as a number (`−0.4` → -0.4); None for an empty cell; other texts stay."""
    plain = text.replace(formats.MINUS, "-")
    if plain in ("", formats.NONE):
        return None
    try:
        return float(plain) if "." in plain else int(plain)
    except ValueError:
        return plain
