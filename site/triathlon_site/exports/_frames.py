"""The numbers of the boards as DataFrames: one row a model and column, or a model."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

import numpy as np
import pandas as pd

from triathlon_site.costs import run_cost
from triathlon_site.exports._schema import BoardRow, OverallRow
from triathlon_site.load import FileAggregate
from triathlon_site.models import ModelInfo, Models
from triathlon_site.noise import score_noise
from triathlon_site.ranking import Rank
from triathlon_site.scores import OTHER_PROTOCOL, Board, ColumnScores, Overall, Score
from triathlon_site.uncertainty import Interval

_WITH_GAPS: Final[dict[Any, str]] = {int | None: "Int64", bool | None: "boolean", float | None: "float64"}
DTYPES: Final = {
    name: _WITH_GAPS[field.annotation]
    for row in (BoardRow, OverallRow)
    for name, field in row.model_fields.items()
    if field.annotation in _WITH_GAPS
}
"""Of columns that a row may lack a value in: a whole number stays one beside an empty cell."""


@dataclass(frozen=True, slots=True)
class ReportedScore:
    """A figure that others published, in the column of a board where it stands."""

    column: str
    """Id of the column."""
    model: str | None
    """Id of the model with results that it is about; None where there is none."""
    name: str
    value: float
    interval: Interval | None
    source: str
    """Title of the published table, and its date."""


Reported = Mapping[str, Sequence[ReportedScore]]
"""By id of a board."""


def score_frame(boards: Sequence[Board], models: Models, reported: Reported | None = None) -> pd.DataFrame:
    """Every score of every board, and the figures of others that stand there.

    The columns are those of the schema's `BoardRow`.
    """
    figures = reported or {}
    return _frame(
        row for board in boards for row in _board_rows(board, models, figures.get(board.plan.id, ()))
    )


def overall_frame(overall: Overall, models: Models) -> pd.DataFrame:
    """The ranking across disciplines; the columns are those of the schema's `OverallRow`."""
    names = [f"{board.plan.discipline}_percentile" for board in overall.boards]
    return _frame(
        {
            "model": row.model,
            "name": models[row.model].name,
            **_rank_fields(row.rank),
            "mean_percentile": row.percentile,
            "first_in_share_of_weightings": row.first,
            **dict(zip(names, np.array(row.percentiles, float), strict=True)),
        }
        for row in overall.rows
    )


def records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """The rows as Python's own values; None for what is not known."""
    rows = frame.astype(object).where(frame.notna(), None).itertuples(index=False, name=None)
    return [dict(zip(frame.columns, row, strict=True)) for row in rows]


def imported_records(boards: Sequence[Board], models: Models) -> list[dict[str, Any]]:
    """Returns the scores of imported results: without ranks, and with the number of the suites' tasks."""
    unranked = dict.fromkeys((*_rank_fields(None), "tier", "rank_shift", "rank_shift_significant"))
    rows = []
    for board in boards:
        for row in records(score_frame([board], models)):
            files = [file for file in board.files[row["model"]] if file.suite in row["suites"]]
            tasks_in_suite = sum(file.task_counts[1] for file in files)
            rows.append(row | unranked | {"grade": "imported", "tasks_in_suite": tasks_in_suite})
    return rows


def noise_records(files: Sequence[FileAggregate]) -> list[dict[str, Any]]:
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
        for noise in score_noise(files)
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


def _board_rows(board: Board, models: Models, reported: Sequence[ReportedScore]) -> Iterator[dict[str, Any]]:
    """By column, first the board's own scores, then the reported ones by value."""
    for column in board.columns:
        for model in board.models:
            if score := column.shown(model):
                place = _place_fields(board, column, model, models[model].name)
                yield place | _score_fields(board, column, models[model], score)
        figures = [figure for figure in reported if figure.column == column.column.id]
        for figure in sorted(figures, key=lambda figure: (-figure.value, figure.name)):
            yield {
                **_place_fields(board, column, figure.model, figure.name),
                "score": figure.value,
                "low": figure.interval.low if figure.interval else None,
                "high": figure.interval.high if figure.interval else None,
                "grade": "reported",
                "other_protocol": None,
                "source": figure.source,
            }


def _place_fields(board: Board, column: ColumnScores, model: str | None, name: str) -> dict[str, Any]:
    return {
        "board": board.plan.id,
        "model": model,
        "name": name,
        "suites": column.column.suites,
        "column": column.column.id,
        "title": column.column.title,
    }


def _score_fields(board: Board, column: ColumnScores, info: ModelInfo, score: Score) -> dict[str, Any]:
    model, suites = info.id, column.column.suites
    cost = run_cost([file for file in board.files[model] if file.suite in suites], info.price)
    return {
        "score": score.value,
        "low": score.interval.low,
        "high": score.interval.high,
        "tasks": score.tasks,
        "score_upper": score.upper,
        **_rank_fields(score.rank),
        "tier": score.tier,
        "rank_shift": score.shift.shift if score.shift else None,
        "rank_shift_significant": score.shift.significant if score.shift else None,
        "open_units": board.open_units(model, suites),
        "grade": score.grade,
        "other_protocol": score.apart == OTHER_PROTOCOL,
        "source": None,
        **asdict(cost),
    }


def _rank_fields(rank: Rank | None) -> dict[str, Any]:
    """Flat fields, None in each for no rank."""
    return {
        "rank": rank.rank if rank else None,
        "tied": rank.tied if rank else None,
        "rank_low": rank.low if rank else None,
        "rank_high": rank.high if rank else None,
    }
