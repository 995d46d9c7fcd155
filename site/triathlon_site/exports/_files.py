"""The data files of the site: which there are, as CSV, JSON, Parquet and LaTeX; and our own problems."""

import hashlib
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from typing import Any, Final

import pandas as pd

from triathlon_runner.datasets import core
from triathlon_site.exports._embedded import board_table, latex_table, overall_table
from triathlon_site.exports._frames import Reported, overall_frame, records, score_frame
from triathlon_site.exports._schema import DATA_SCHEMA, schema_files
from triathlon_site.load import Notice
from triathlon_site.models import Models
from triathlon_site.published import Published
from triathlon_site.render import Page, Section, Value, formats
from triathlon_site.scores import Board, Overall

_FORMULA: Final = tuple("=+-@＝＋－＠")
"""Signs, the last four full-width, at the beginning of a formula."""
CORE_LINES: Final = "data/core/problems.jsonl"


def data_files(
    boards: Sequence[Board],
    overalls: Mapping[str, Overall],
    models: Models,
    notices: Sequence[Notice],
    reported: Reported,
) -> Iterator[Page]:
    """Each board and overall ranking as JSON, CSV and LaTeX; all scores as Parquet; faults; the schemas."""
    scores = score_frame(boards, models, reported)
    for board in boards:
        frame, path = scores[scores["board"] == board.plan.id], f"data/{board.plan.id}"
        yield _json_file(f"{path}.json", {"board": board.plan.id, "rows": records(frame)})
        yield csv_file(f"{path}.csv", frame)
        yield Page(f"{path}.tex", board_table(board, models))
    for family, overall in overalls.items():
        frame, path = overall_frame(overall, models), f"data/overall-{family}"
        yield _json_file(f"{path}.json", {"family": family, "rows": records(frame)})
        yield csv_file(f"{path}.csv", frame)
        yield Page(f"{path}.tex", overall_table(overall, models))
    if boards:
        # The same rows give the same bytes with the same pandas and pyarrow.
        yield Page("data/scores.parquet", "", scores.to_parquet(index=False, compression="zstd"))
    yield _json_file("data/notices.json", {"notices": [notice.model_dump() for notice in notices]})
    yield from schema_files()


def published_files(published: Published) -> Iterator[Page]:
    """The published tables as they were read."""
    for name, rows in published.tables.items():
        yield csv_file(f"data/published-{name}.csv", pd.DataFrame(rows))


def _json_file(path: str, content: Mapping[str, Any]) -> Page:
    """Behind the version of the schema, what the file is of, and its rows."""
    return Page(path, json.dumps({"schema": DATA_SCHEMA, **content}, ensure_ascii=False) + "\n")


def csv_file(path: str, frame: pd.DataFrame) -> Page:
    """A row a line; empty where there are none. Texts that a spreadsheet would run as formulas are quoted."""
    if frame.empty:
        return Page(path, "")
    safe = frame.rename(columns=_cell)
    for name in safe.select_dtypes(exclude=["number", "bool"]):
        cells = [_cell(value) for value in safe[name]]
        safe[name] = pd.Series(
            cells, index=safe.index, dtype=object
        )  # a count beside an empty cell stays whole
    return Page(path, safe.to_csv(index=False, lineterminator="\n"))


def _cell(value: Any) -> Any:
    """A text that a spreadsheet would run as a formula gets an apostrophe in front."""
    if isinstance(value, list):
        value = " ".join(value)
    return f"'{value}" if isinstance(value, str) and value.lstrip().startswith(_FORMULA) else value


def section_path(board: Board, section: Section) -> str:
    """Of its CSV file."""
    return f"data/{board.plan.id}-{section.anchor}.csv"


def table_files(path: str, section: Section) -> Iterator[Page]:
    """A smaller table of a page, as CSV under `path` and as LaTeX beside it; nothing where it has no rows.

    In the CSV, each number of the small print has a column of its own.

    Raises:
        ValueError: two columns have the same heading, so that one would be lost.
    """
    if not section.rows:
        return
    shown = [
        [f"{cell.text} ({cell.small})" if cell.small else cell.text for cell in row] for row in section.rows
    ]
    yield Page(path.removesuffix(".csv") + ".tex", latex_table(section.title, section.head, shown))
    columns: dict[str, list[Any]] = {}
    for heading, cells in zip(section.head, zip(*section.rows, strict=True), strict=True):
        for name, values in _columns(heading, cells):
            if name in columns:
                raise ValueError(f"{path}: expected columns of different names, got {name!r} twice")
            columns[name] = values
    yield csv_file(path, pd.DataFrame(columns, dtype=object))


def _columns(heading: str, cells: Sequence[Value]) -> Iterator[tuple[str, list[Any]]]:
    """The values of one column, and those of each number in its small print.

    A column whose cells are nothing but small print has no values of its own; one of unknown numbers has.
    """
    details = list(dict.fromkeys(name for cell in cells for name in cell.details))
    values = [_value(cell) for cell in cells]
    numbers = any(cell.number is not None for cell in cells)
    if not details or numbers or any(value is not None for value in values):
        yield heading, values
    for name in details:
        yield f"{heading}, {name}", [_digits(cell.details.get(name)) for cell in cells]


def _value(cell: Value) -> str | float | None:
    """The number, or the text where that is all there is."""
    if cell.number is not None or cell.details or cell.text in ("", formats.NONE):
        return _digits(cell.number)
    return cell.text


def _digits(value: float | None) -> float | None:
    """Six digits, the same on every machine; nothing for nan."""
    if value is None or isinstance(value, int):
        return value
    return None if math.isnan(value) else float(f"{value:.6g}") + 0.0  # no -0.0


def core_files(url: str = "") -> Iterator[Page]:
    """Yields the prompts of our own problems as JSON lines, and their Croissant metadata.

    References and inputs stay in the package: whoever collects texts for training would take them along.
    `url`: where the site will be published, with a slash at its end; empty where that is not known.
    """
    lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in _problems())
    yield Page(CORE_LINES, lines)
    croissant = _croissant(lines, url)
    yield Page("data/core/croissant.json", json.dumps(croissant, indent=1, ensure_ascii=False) + "\n")


def _problems() -> Iterator[dict[str, str | int]]:
    for name in core.SETS:
        for problem in core.problems(name):
            yield {
                "task_id": problem.task_id,
                "set": name,
                "entry_point": problem.entry_point,
                "level": problem.level or 0,
                "topics": ", ".join(problem.topics),
                "parents": ", ".join(problem.parents),
                "prompt": problem.prompt,
                "inputs": len(problem.inputs),
                "canary": core.CANARY,
            }


def _croissant(lines: str, url: str) -> dict[str, Any]:
    """`croissant.json` beside this file, with what depends on the problems and the address filled in.

    There, `datePublished` is the day of the version's card; a new version needs a new day.
    """
    text = files("triathlon_site.exports").joinpath("croissant.json").read_text("utf-8")
    croissant: dict[str, Any] = json.loads(text)
    (file,) = croissant["distribution"]
    croissant["version"] = f"{core.VERSION}.0"
    file["sha256"] = hashlib.sha256(lines.encode()).hexdigest()
    if url:
        croissant["url"] = f"{url}core.html"
        file["contentUrl"] = f"{url}{CORE_LINES}"
    return croissant
