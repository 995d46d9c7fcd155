"""The numbers themselves: JSON and CSV of every board."""

import csv
import io
import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from triathlon_site.load import Notice
from triathlon_site.models import ModelInfo
from triathlon_site.pages._latex import board_files, overall_files, section_file
from triathlon_site.pages._schema import DATA_SCHEMA, schema_files
from triathlon_site.published import Published
from triathlon_site.ranking import Rank
from triathlon_site.render import Page, Section
from triathlon_site.render import formats as _format
from triathlon_site.scores import Board, Overall, Score

Row = dict[str, Any]
_FORMULA: Final = tuple("=+-@\t\r")
_NUMBERS: Final = {int, float, bool, type(None)}
_INTERVAL: Final = re.compile(r"([+-]?\d+(?:\.\d+)?)(?: to |–)([+-]?\d+(?:\.\d+)?)")


def files(
    boards: Sequence[Board],
    overalls: Mapping[str, Overall],
    models: Mapping[str, ModelInfo],
    notices: Sequence[Notice],
) -> Iterator[Page]:
    scores: list[Row] = []
    for board in boards:
        rows = list(_board_rows(board, models))
        yield _json(f"data/{board.plan.id}.json", {"board": board.plan.id}, rows)
        yield _csv(f"data/{board.plan.id}.csv", rows)
        scores += rows
    for family, overall in overalls.items():
        rows = list(_overall_rows(overall, models))
        yield _json(f"data/overall-{family}.json", {"family": family}, rows)
        yield _csv(f"data/overall-{family}.csv", rows)
    yield from board_files(boards, models)
    yield from overall_files(overalls, models)
    if scores:
        yield parquet_file("data/scores.parquet", scores)
    yield _json("data/notices.json", {}, [notice.model_dump() for notice in notices], "notices")
    yield from schema_files()


def score_rows(boards: Sequence[Board], models: Mapping[str, ModelInfo]) -> Iterator[Row]:
    """Every score of every board as flat fields."""
    for board in boards:
        yield from _board_rows(board, models)


def published_files(published: Published) -> Iterator[Page]:
    """The published tables as they were read."""
    for name, rows in published.tables.items():
        yield _csv(f"data/published-{name}.csv", rows)


def parquet_file(path: str, rows: Sequence[Row]) -> Page:
    """One row a score; the same rows give the same bytes with the same pyarrow.

    By way of JSON: for Python values pyarrow imports pandas first, which takes longer than all of this.
    """
    from pyarrow import json as arrow_json  # noqa: PLC0415  a fifth of a second, which a worker can take
    from pyarrow import parquet  # noqa: PLC0415

    lines = "\n".join(map(json.dumps, rows)).encode()
    # One block: a column's type is that of all its rows.
    whole = arrow_json.ReadOptions(use_threads=False, block_size=len(lines) + 1)
    target = io.BytesIO()
    parquet.write_table(arrow_json.read_json(io.BytesIO(lines), whole), target, compression="zstd")
    return Page(path, "", target.getvalue())


def section_path(board: Board, section: Section) -> str:
    return f"data/{board.plan.id}-{section.anchor}.csv"


def section_files(board: Board, sections: Sequence[Section]) -> Iterator[Page]:
    """The smaller tables as they are shown; what stands in small print has a column of its own."""
    for section in sections:
        yield from table_files(section_path(board, section), section)


def table_files(path: str, section: Section) -> Iterator[Page]:
    """One table as it is shown, as CSV under `path` and as LaTeX beside it; nothing where it has no rows."""
    if section.rows:
        yield section_file(path.removesuffix(".csv") + ".tex", section)
        columns = _section_columns(section)
        rows = zip(*columns.values(), strict=True)
        yield _csv(path, [dict(zip(columns, row, strict=True)) for row in rows])


def _section_columns(section: Section) -> dict[str, list[Any]]:
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
    known = [text for text in texts if text not in ("", _format.NONE)]
    return bool(known) and all(_ends(text) != (None, None) for text in known)


def _ends(text: str) -> tuple[float, float] | tuple[None, None]:
    """`−4.2 to +1.0` as its two numbers."""
    found = _INTERVAL.fullmatch(text.replace(_format.MINUS, "-"))
    return (float(found[1]), float(found[2])) if found else (None, None)


def _computable(text: str) -> str | float | None:
    """A number as one, whatever its sign looks like on the page; nothing for the dash that says none."""
    plain = text.replace(_format.MINUS, "-")
    if plain in ("", _format.NONE):
        return None
    try:
        return float(plain) if "." in plain else int(plain)
    except ValueError:
        return plain


def _board_rows(board: Board, models: Mapping[str, ModelInfo]) -> Iterator[Row]:
    for column in board.columns:
        suites = [suite for suite, _ in column.column.parts]
        for model in board.models:
            if model in column.scores:
                yield {
                    "board": board.plan.id,
                    "model": model,
                    "name": models[model].name,
                    "suites": suites,
                    "column": column.column.id,
                    "title": column.column.title,
                    **score_fields(column.scores[model]),
                    "open_units": board.open_units(model, suites),
                }


def score_fields(score: Score) -> dict[str, Any]:
    """One score as flat fields."""
    return {
        "score": _plain(score.value),
        "low": _plain(score.interval.low),
        "high": _plain(score.interval.high),
        "tasks": score.tasks,
        "score_upper": _plain(score.upper),
        **rank_fields(score.rank),
        "tier": score.tier,
        "rank_shift": score.shift.shift if score.shift else None,
        "rank_shift_significant": score.shift.significant if score.shift else None,
    }


def rank_fields(rank: Rank | None) -> dict[str, Any]:
    """A rank as flat fields, None in each for none."""
    return {
        "rank": rank.rank if rank else None,
        "tied": rank.tied if rank else None,
        "rank_low": rank.low if rank else None,
        "rank_high": rank.high if rank else None,
    }


def _overall_rows(overall: Overall, models: Mapping[str, ModelInfo]) -> Iterator[dict[str, Any]]:
    for row in overall.rows:
        yield {
            "model": row.model,
            "name": models[row.model].name,
            **rank_fields(row.rank),
            "mean_percentile": _plain(row.percentile),
            "first_in_share_of_weightings": _plain(row.first),
            **{
                f"{board.plan.discipline}_percentile": _plain(share)
                for board, share in zip(overall.boards, row.percentiles, strict=True)
            },
        }


def _plain(value: float | None) -> float | None:
    """Six digits: more than the draws are good for, the same on every machine; no NaN in JSON."""
    return None if value is None or math.isnan(value) else float(f"{value:.6g}")


def _json(path: str, head: Row, rows: Sequence[Row], name: str = "rows") -> Page:
    text = json.dumps({"schema": DATA_SCHEMA, **head, name: []}, indent=1, ensure_ascii=False)
    return Page(path, text.removesuffix("[]\n}") + f"{_indented(rows)}\n}}\n")


def _indented(rows: Sequence[Row]) -> str:
    """As `json.dumps` writes them with an indent, whose encoder in C, the fast one, knows none.

    In a text a line end is spelt out and a quotation mark escaped: what is replaced is structure. Values are
    plain, or in all rows lists of texts.
    """
    if not rows:
        return "[]"
    encoder = json.JSONEncoder(ensure_ascii=False, separators=(",\n   ", ": "))
    text = encoder.encode(rows)[2:-2].replace("},\n   {", "\n  },\n  {\n   ")
    fields = [name for name, value in rows[0].items() if isinstance(value, list)]
    for one in {tuple(row[name]) for row in rows for name in fields} - {()}:
        lines = json.dumps(one, ensure_ascii=False, indent=1).replace("\n", "\n   ")
        text = text.replace(encoder.encode(one), lines)
    return f"[\n  {{\n   {text}\n  }}\n ]"


def _csv(path: str, rows: Sequence[Mapping[str, Any]]) -> Page:
    text = io.StringIO()
    if rows:
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(rows[0])
        writer.writerows([v if type(v) in _NUMBERS else _cell(v) for v in row.values()] for row in rows)
    return Page(path, text.getvalue())


def _cell(value: Any) -> Any:
    """A name that a spreadsheet would run as a formula gets an apostrophe in front."""
    if isinstance(value, list):
        return " ".join(value)
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value
