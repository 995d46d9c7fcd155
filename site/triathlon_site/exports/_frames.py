"""The documented schema of `data/*.json`, and the frames in it: a row a model and column, or a model."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final, Literal

import numpy as np
import pandas as pd
from pydantic import Field, create_model

from triathlon_runner import catalogue
from triathlon_runner.records import Strict
from triathlon_site.costs import run_cost
from triathlon_site.load import FileAggregate
from triathlon_site.models import Models
from triathlon_site.ranking import Rank
from triathlon_site.render import Page
from triathlon_site.scores import OTHER_PROTOCOL, Board, Overall
from triathlon_site.tasks import score_noise
from triathlon_site.uncertainty import Interval

DATA_SCHEMA: Final = 1
_DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"


class _File(Strict):
    schema_: Literal[1] = Field(alias="schema")
    """Version of this schema: a change that readers must know of raises it."""


class _Placed(Strict):
    rank: int | None
    """1 is best; ties share the smallest rank. null where the column is not ranked."""
    tied: bool | None
    """Whether another model has the same rank."""
    rank_low: int | None
    """Best rank that the comparisons with the other models leave: 1 + the number that is better for sure."""
    rank_high: int | None
    """Worst rank that they leave: the number of ranked models less those that are worse for sure."""


class BoardRow(_Placed):
    """One model in one column of a board."""

    board: str
    """Id of the board; the file is named after it."""
    model: str | None
    """Id of the model, as in the results; null for one that has reported scores only."""
    name: str
    """Name of the model, as shown: quantised weights have their bits behind it, such as `, 4-bit`."""
    suites: list[str]
    """Suites that the score is made of; in CSV separated by spaces."""
    column: str
    """Id of the column: suite and metric."""
    title: str
    """Heading of the column."""
    score: float | None
    """On the column's own scale: shares of 1, per cent, or loops; of a range the lower end."""
    low: float | None
    """Lower end of the 95 % interval; null where no number of tasks is known."""
    high: float | None
    """Upper end of the 95 % interval."""
    tasks: int | None
    """Clusters that count: tasks; in the runtime discipline programs. null for a reported score."""
    score_upper: float | None
    """Upper end of the score where judgements are missing, so that only a range is known."""
    tier: int | None
    """Headline and baseline columns only: models not significantly worse than the best of their tier."""
    rank_shift: int | None
    """Rank by plain pass@1 minus rank by this column; positive: the model rises."""
    rank_shift_significant: bool | None
    """Whether 97.5 % of the draws agree on the sign of the shift."""
    open_units: int | None
    """Planned units without a result, which the next run asks: with any, a score has no rank. null for a
    reported score."""
    grade: Literal["measured", "recorded", "reported"]
    """measured: asked and graded by this program; recorded: others' replies, graded by the same engine;
    reported: published by others and not checked, so without rank, tier and cost."""
    other_protocol: bool | None
    """Whether the model was asked or graded otherwise than those that are ranked, so that it has no rank;
    null for a reported score."""
    source: str | None
    """The published table that a reported score was copied from, and its date; null for the others."""
    cost_usd: float | None
    """What asking on these suites cost at the model's price today; null where a part of it is not known."""
    cost_usd_per_solved: float | None
    """The same for each unit that ended as passed."""
    output_tokens_per_unit: float | None
    """Tokens that the model wrote, reasoning included; null where the server did not count all of them."""
    reasoning_tokens_per_unit: float | None
    """Part of them that the server names as reasoning."""
    cut_replies_share: float | None
    """Of the replies, those that ended at the token limit; null where only outcomes are known."""


class BoardFile(_File):
    """The scores of every model on one board."""

    board: str
    """Id of the board."""
    rows: list[BoardRow]
    """One a column and model, in the board's order."""


class OverallRow(_Placed):
    """One model in an overall ranking."""

    model: str
    """Id of the model, as in the results."""
    name: str
    """Name of the model, as shown: quantised weights have their bits behind it, such as `, 4-bit`."""
    mean_percentile: float | None
    """Mean of the percentiles in the disciplines; null for a model without a rank."""
    first_in_share_of_weightings: float | None
    """Share of all weightings of the disciplines in which the model is first; a tie counts in part."""


class OverallFile(_File):
    """The ranking across disciplines on one family of data."""

    family: Literal["core", "official", "added"]
    """Our own problems, official data, or data sets of suites.yaml."""


class NoticeRow(Strict):
    """One fault in the results."""

    file: str
    """Relative to the results folder."""
    line: int | None
    """Line of the file; null where it is not about one."""
    message: str
    """What is wrong, and what became of it."""


class NoticesFile(_File):
    """What the build had to leave out, or to warn of."""

    notices: list[NoticeRow]
    """Empty where every line was read and counted."""


@dataclass(frozen=True, slots=True)
class DataFormat:
    """One kind of data file."""

    name: str
    title: str
    files: str
    """Which data files have it, for readers."""
    model: type[Strict]
    row: type[Strict]

    @property
    def path(self) -> str:
        return f"data/schema/{self.name}.schema.json"

    def schema(self) -> dict[str, Any]:
        """JSON Schema, draft 2020-12."""
        schema = self.model.model_json_schema(mode="validation")
        return {"$schema": _DIALECT, "$id": f"{self.name}.schema.json", **_without_titles(schema)}

    def fields(self) -> list[tuple[str, str, str]]:
        """Name, type and description of each field of a row."""
        properties: Mapping[str, Any] = self.row.model_json_schema()["properties"]
        return [(name, _type_name(field), field["description"]) for name, field in properties.items()]


def data_formats() -> tuple[DataFormat, ...]:
    """Every kind of data file; a row of an overall ranking has a percentile a discipline that counts."""
    about = "Percentile in the {} discipline; there where the ranking has that discipline."
    percentiles: dict[str, Any] = {
        f"{entry.name}_percentile": (float | None, Field(None, description=about.format(entry.name)))
        for entry in catalogue.DISCIPLINES
        if not entry.kind_of
    }
    row = create_model("OverallRow", __base__=OverallRow, __doc__=OverallRow.__doc__, **percentiles)
    rows: Any = (list[row], Field(description="One a model, best first."))  # type: ignore[valid-type]
    overall = create_model("OverallFile", __base__=OverallFile, __doc__=OverallFile.__doc__, rows=rows)
    return (
        DataFormat("board", "A board", "data/<board>.json, and the CSV beside it", BoardFile, BoardRow),
        DataFormat("overall", "An overall ranking", "data/overall-<family>.json, and the CSV", overall, row),
        DataFormat("notices", "Faults in the results", "data/notices.json", NoticesFile, NoticeRow),
    )


def schema_files() -> Iterator[Page]:
    """The JSON Schema of each kind of data file."""
    for data_format in data_formats():
        yield Page(data_format.path, json.dumps(data_format.schema(), indent=1, ensure_ascii=False) + "\n")


def _without_titles(node: Any) -> Any:
    """Pydantic's titles repeat the names; a field called `title` is kept."""
    if isinstance(node, list):
        return [_without_titles(element) for element in node]
    if not isinstance(node, dict):
        return node
    return {
        key: _without_titles(value)
        for key, value in node.items()
        if not (key == "title" and isinstance(value, str))
    }


def _type_name(schema: Mapping[str, Any]) -> str:
    """`number or null`; `list of string`."""
    if "anyOf" in schema:
        return " or ".join(_type_name(option) for option in schema["anyOf"])
    if schema.get("type") == "array":
        return f"list of {_type_name(schema['items'])}"
    return str(schema["type"])


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
            "name": models[row.model].label,
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


def _board_rows(board: Board, models: Models, reported: Sequence[ReportedScore]) -> Iterator[dict[str, Any]]:
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
        figures = [figure for figure in reported if figure.column == column.id]
        for figure in sorted(figures, key=lambda figure: (-figure.value, figure.name)):
            yield {
                **(place | {"model": figure.model, "name": figure.name}),
                "score": figure.value,
                "low": figure.interval.low if figure.interval else None,
                "high": figure.interval.high if figure.interval else None,
                "grade": "reported",
                "other_protocol": None,
                "source": figure.source,
            }


def _rank_fields(rank: Rank | None) -> dict[str, Any]:
    """Flat fields, None in each for no rank."""
    found = None if rank is None else (rank.rank, rank.tied, rank.low, rank.high)
    return dict(zip(("rank", "tied", "rank_low", "rank_high"), found or (None,) * 4, strict=True))
