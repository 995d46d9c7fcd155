"""The rows of `data/*.json`, as frames: a row a model and column, or a model."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any, Final

import numpy as np
import pandas as pd

from triathlon_runner import catalogue
from triathlon_site import packaged_table
from triathlon_site.costs import run_cost
from triathlon_site.load import FileAggregate
from triathlon_site.models import Models
from triathlon_site.ranking import OTHER_PROTOCOL, Rank
from triathlon_site.scores import Board, Overall
from triathlon_site.tasks import score_noise

DATA_SCHEMA: Final = 1
"""Version of the fields: a change that readers must know of raises it."""
_WITH_GAPS: Final = {"integer or null": "Int64", "boolean or null": "boolean", "number or null": "float64"}


def _fields() -> dict[str, list[dict[str, str]]]:
    fields: dict[str, list[dict[str, str]]] = {}
    for row in packaged_table("exports/fields.csv"):
        fields.setdefault(row["file"], []).append(row)
    return fields


FIELDS: Final = _fields()
"""By kind of data file, the fields of its rows: name, type, and what each is about, from `fields.csv`."""
DTYPES: Final = {
    row["field"]: _WITH_GAPS[row["type"]]
    for rows in FIELDS.values()
    for row in rows
    if row["type"] in _WITH_GAPS
}
"""Of columns that a row may lack a value in: a whole number stays one beside an empty cell."""
Reported = Mapping[str, Sequence[Mapping[str, Any]]]
"""By id of a board, the figures of others in it: column, model, name, score, low, high, source."""


def score_frame(boards: Sequence[Board], models: Models, reported: Reported | None = None) -> pd.DataFrame:
    """Every score of every board, and the figures of others that stand there.

    The columns are the fields of a board in `fields.csv`.
    """
    figures = reported or {}
    return _frame(
        row for board in boards for row in _board_rows(board, models, figures.get(board.plan.id, ()))
    )


def overall_frame(overall: Overall, models: Models) -> pd.DataFrame:
    """The ranking across disciplines; the columns are its fields in `fields.csv`."""
    names = [f"{board.plan.discipline}_percentile" for board in overall.boards]
    return _frame(
        {
            "model": row.model,
            "name": models[row.model].label,
            **_rank_fields(row.rank),
            "mean_percentile": row.percentile,
            **dict(zip(names, np.array(row.percentiles, float), strict=True)),
        }
        for row in overall.rows
    )


def records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """The rows as Python's own values; None for what is not known."""
    rows = frame.astype(object).where(frame.notna(), None).itertuples(index=False, name=None)
    return [dict(zip(frame.columns, row, strict=True)) for row in rows]


def imported_records(boards: Sequence[Board], models: Models) -> list[dict[str, Any]]:
    """Returns the scores of imported results: by name, without ranks, with the tasks of their suites."""
    unranked = dict.fromkeys((*_rank_fields(None), "tier", "rank_shift", "rank_shift_significant"))
    rows = []
    for board in boards:
        by_name = replace(board, models=tuple(sorted(board.models)))
        for row in records(score_frame([by_name], models)):
            files = [file for file in board.files[row["model"]] if file.suite in row["suites"]]
            tasks_in_suite = sum(file.task_counts[1] for file in files)
            rows.append(row | unranked | {"grade": "imported", "tasks_in_suite": tasks_in_suite})
    return rows


def noise_records(files: Sequence[FileAggregate], known: catalogue.Catalogue) -> list[dict[str, Any]]:
    """The noise budget of each model and suite with several samples a task, on the score's own scale."""
    rows = (
        {
            "model": noise.model,
            "suite": noise.suite,
            "metric": noise.metric,
            "tasks": budget.tasks,
            "samples": budget.samples,
            "variance_between_tasks": budget.between,
            "variance_within_tasks": budget.within,
            "sampling_share": budget.sampling_share,
            "half_width_one_sample": budget.half_width(budget.tasks, 1),
            "half_width": budget.half_width(budget.tasks, budget.samples),
            "sentence": noise.sentence,
        }
        for noise in score_noise(files, known)
        for budget in [noise.budget]
    )
    return records(_frame(rows))


def _frame(rows: Iterator[dict[str, Any]]) -> pd.DataFrame:
    """Numbers have six digits, the same on every machine."""
    frame = pd.DataFrame(list(rows))
    frame = frame.astype({name: dtype for name, dtype in DTYPES.items() if name in frame})
    for name in frame.select_dtypes("float64"):
        frame[name] = [float(f"{value:.6g}") for value in frame[name]]
    return frame


def _board_rows(
    board: Board, models: Models, reported: Sequence[Mapping[str, Any]]
) -> Iterator[dict[str, Any]]:
    """By column, first the board's own scores, then the reported ones by value."""
    for of_column in board.columns:
        column = of_column.column
        place = {
            "board": board.plan.id,
            "model": None,
            "name": "",
            "suites": column.suites,
            "column": column.id,
            "title": column.title,
        }
        for model in board.models:
            if score := of_column.shown(model):
                info = models[model]
                cost = run_cost([f for f in board.files[model] if f.suite in column.suites], info.price)
                yield {
                    **(place | {"model": model, "name": info.label}),
                    "score": score.value,
                    "low": score.interval.low,
                    "high": score.interval.high,
                    "tasks": score.tasks,
                    "score_upper": score.upper,
                    **_rank_fields(score.rank),
                    "tier": score.tier,
                    "rank_shift": score.shift.shift if score.shift else None,
                    "rank_shift_significant": score.shift.significant if score.shift else None,
                    "open_units": board.open_units(model, column.suites),
                    "grade": score.grade,
                    "other_protocol": score.apart == OTHER_PROTOCOL,
                    "source": None,
                    **asdict(cost),
                }
        figures = [figure for figure in reported if figure["column"] == column.id]
        for figure in sorted(figures, key=lambda figure: (-figure["score"], figure["name"])):
            yield {**place, **figure, "grade": "reported", "other_protocol": None}


def _rank_fields(rank: Rank | None) -> dict[str, Any]:
    """Flat fields, None in each for no rank."""
    found = None if rank is None else (rank.rank, rank.tied, rank.low, rank.high)
    return dict(zip(("rank", "tied", "rank_low", "rank_high"), found or (None,) * 4, strict=True))
