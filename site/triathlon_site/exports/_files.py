"""The data files of the site, as CSV, JSON, Parquet and LaTeX; our own problems; badges for a README."""

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import pandas as pd
from markupsafe import Markup

from triathlon_runner import catalogue
from triathlon_runner.datasets import core
from triathlon_site.exports._frames import (
    DATA_SCHEMA,
    Reported,
    overall_frame,
    records,
    score_frame,
)
from triathlon_site.figures import badge
from triathlon_site.load import Notice
from triathlon_site.models import ModelInfo, Models
from triathlon_site.published import Published
from triathlon_site.ranking import Rank, Score
from triathlon_site.render import Page, Section, Value, formats
from triathlon_site.scores import Board, ColumnScores, Overall

_FORMULA: Final = tuple("=+-@＝＋－＠")
"""Signs, the last four full-width, at the beginning of a formula."""
_NUMBER: Final = re.compile(r"-[0-9]+(\.[0-9]+)?")
"""A number as published tables have it, below 0."""


def data_files(
    boards: Sequence[Board],
    overalls: Mapping[str, Overall],
    models: Models,
    notices: Sequence[Notice],
    reported: Reported,
) -> Iterator[Page]:
    """Each board and overall ranking as JSON, CSV and LaTeX; all scores as Parquet; faults."""
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
    """A text that a spreadsheet would run as a formula gets an apostrophe in front; a number stays."""
    if isinstance(value, list):
        value = " ".join(value)
    is_formula = isinstance(value, str) and value.lstrip().startswith(_FORMULA)
    return f"'{value}" if is_formula and not _NUMBER.fullmatch(value) else value


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
        [f"{cell.text} ({'; '.join(cell.small.splitlines())})" if cell.small else cell.text for cell in row]
        for row in section.rows
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
    """The values of one column (a cell's number, or its text where that is all there is), and those of each
    number in its small print.

    A column whose cells are nothing but small print has no values of its own; one of unknown numbers has.
    """
    details = list(dict.fromkeys(name for cell in cells for name in cell.details))
    is_text = [c.number is None and not c.details and c.text not in ("", formats.NONE) for c in cells]
    values = [c.text if text else _digits(c.number) for c, text in zip(cells, is_text, strict=True)]
    if not details or any(is_text) or any(cell.number is not None for cell in cells):
        yield heading, values
    for name in details:
        yield f"{heading}, {name}", [_digits(cell.details.get(name)) for cell in cells]


def _digits(value: float | None) -> float | None:
    """Six digits, the same on every machine; nothing for nan."""
    if value is None or isinstance(value, int):
        return value
    return None if math.isnan(value) else float(f"{value:.6g}") + 0.0  # no -0.0


def core_file() -> Page:
    """The prompts of our own problems, as JSON lines.

    References and inputs stay in the package: whoever collects texts for training would take them along.
    """
    rows = (
        {
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
        for name in core.SETS
        for problem in core.problems(name)
    )
    lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    return Page("data/core/problems.jsonl", lines)


_SIGNS: Final = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "−": r"$-$",
        "–": "--",
        "±": r"$\pm$",
        "β": r"$\beta$",
        **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    }
)


def board_table(board: Board, models: Models) -> str:
    """A board's columns, as its page shows them; `*` marks a score that is in no ranking."""
    title = f"{board.plan.discipline.capitalize()}, {board.plan.title}; *: in no ranking"
    head = ("Rank", "Model", *(column.column.title for column in board.shown))
    rows = []
    for model in board.models:
        headline = board.headline.shown(model)
        rank = formats.rank(headline.rank if headline else None)
        rows.append((rank, models[model].label, *(_score(c, c.shown(model)) for c in board.shown)))
    return latex_table(title, head, rows)


def overall_table(overall: Overall, models: Models) -> str:
    """The ranking over all disciplines, with the headline of each."""
    head = ("Rank", "Model", *(b.plan.discipline.capitalize() for b in overall.boards), "Mean percentile")
    rows = []
    for row in overall.rows:
        scores = (_score(b.headline, score) for b, score in zip(overall.boards, row.scores, strict=True))
        mean = formats.score(row.percentile, 100)
        rows.append((formats.rank(row.rank), models[row.model].label, *scores, mean))
    return latex_table("All disciplines", head, rows)


def _score(column: ColumnScores, score: Score | None) -> str:
    if score is None:
        return formats.NONE
    maximum = column.column.maximum
    value = formats.known_range(score.value, score.upper, maximum)
    return f"{value} ({formats.span(score.interval, maximum)}){'*' if score.apart else ''}"


def latex_table(title: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A tabular: text on the left, numbers on the right; each cell in one line, so that no name is a command.

    A line that begins with `[` or `*` would be read as an option of the line before.
    """
    columns = "".join("l" if name in {"Model", "Set"} else "r" for name in head)
    escaped = (
        " & ".join(" ".join(cell.split()).translate(_SIGNS) for cell in cells) + r" \\"
        for cells in (head, *rows)
    )
    top, *body = (f"{{}}{line}" if line.startswith(("[", "*")) else line for line in escaped)
    lines = (
        f"% {' '.join(title.split())}; \\usepackage{{booktabs}}",
        f"\\begin{{tabular}}{{{columns}}}",
        *(r"\toprule", top, r"\midrule", *body, r"\bottomrule", r"\end{tabular}"),
    )
    return "".join(f"{line}\n" for line in lines)


_COLOURS: Final = ("#0b5fa5", "#7a3f9d", "#b3450b", "#00704f")
"""Of the disciplines, in the order of the catalogue."""
_NEUTRAL: Final = "#3a3d42"
"""Of all of them together, and of a discipline that has no colour."""
_OVERALL: Final = {
    "core": "Triathlon",
    "official": "Triathlon, official data",
    "added": "Triathlon, added data",
}


@dataclass(frozen=True, slots=True)
class Badge:
    title: str
    """The text for screen readers, in place of the picture."""
    path: str
    picture: Markup


def badge_of(info: ModelInfo, boards: Sequence[Board], overalls: Mapping[str, Overall]) -> Badge | None:
    """The badge of the first order that ranks the model among enough others: over all disciplines, else one
    board's.
    """
    colours = dict(zip((entry.name for entry in catalogue.DISCIPLINES), _COLOURS, strict=False))
    places: list[tuple[str, Mapping[str, Rank | None], str]] = []
    for family, overall in overalls.items():
        of_overall = {row.model: row.rank for row in overall.rows if row.rank}
        places.append((_OVERALL[family], of_overall, _NEUTRAL))
    for board in boards:
        data = "" if board.plan.family == "core" else f", {board.plan.title}"
        scores = board.headline.scores if board.headline.has_ranks else {}
        ranks = {model: score.rank for model, score in scores.items()}
        colour = colours.get(board.plan.discipline, _NEUTRAL)
        places.append((f"Triathlon {board.plan.discipline}{data}", ranks, colour))
    for name, ranked, colour in places:
        if rank := ranked.get(info.id):
            spread = f" ({formats.rank_span(rank)})" if rank.low != rank.high else ""
            place = f"rank {formats.rank(rank)} of {len(ranked)}{spread}"
            return Badge(f"{name}: {place}", f"badges/{info.slug}.svg", badge(name, place, colour))
    return None
