"""The small files that the page of comparisons loads: an index, and one a model.

They are scripts, because a page opened from a file may load nothing else. A model's file has its scores,
which tasks it solves, and its differences to the models behind it in the index: the page computes nothing.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from triathlon_site.figures import (
    curve_path,
    interactive_curve,
    interactive_curves_layout,
    interactive_radar,
    interactive_radar_layout,
    radar_path,
)
from triathlon_site.models import ModelInfo
from triathlon_site.pages._dimensions import axis_title, dimension_title, dimensions, share_of_maximum
from triathlon_site.pages.board import degradation_curve
from triathlon_site.pages.tasks import suite_page
from triathlon_site.render import Page, as_script, formats
from triathlon_site.scores import Board, ColumnScores

DIGITS: Final = 6
FEWEST_AXES: Final = 3
"""Dimensions below which a radar spans no area."""
INDEX: Final = "data/compare.js"
"""Not in the folder of the models' files, where a model may have any name."""


def files(boards: Sequence[Board], models: Mapping[str, ModelInfo]) -> Iterator[Page]:
    """The index, then a file for each model."""
    columns = [(board, column) for board in boards for column in board.shown]
    ids = list(dict.fromkeys(model for board in boards for model in board.models))
    index = {
        "models": [
            {"id": m, "name": models[m].name, "page": models[m].page, "data": data_path(models[m])}
            for m in ids
        ],
        "columns": [_heading(board, column) for board, column in columns],
        **_clusters([column for _, column in columns]),
        "layouts": {"curve": interactive_curves_layout(), "radar": interactive_radar_layout()},
        "tasks": {entry.id: suite_page(entry.id) for board in boards for entry in board.plan.suites},
    }
    yield Page(INDEX, f"window.triathlonIndex = {as_script(index)};\n")
    lines, solved = _lines(boards, models), _solved([column for _, column in columns])
    minus = [differences_of(column, ids) for _, column in columns]
    for model in ids:
        content = {
            "id": model,
            "name": models[model].name,
            **lines[model],
            "solved": {suite: signs[model] for suite, signs in solved.items() if model in signs},
            "columns": [
                {**_column(board, column, model), "minus": differences[model]}
                for (board, column), differences in zip(columns, minus, strict=True)
                if model in column.scores
            ],
        }
        yield Page(data_path(models[model]), f"window.triathlonModel({as_script(content)});\n")


def data_path(info: ModelInfo) -> str:
    """The file of one model."""
    return f"data/compare/{info.slug}.js"


def longest_curve(boards: Sequence[Board]) -> int:
    """Points of the longest degradation curve."""
    return max(map(len, _curves(boards).values()), default=0)


def _curves(boards: Sequence[Board]) -> dict[str, list[float]]:
    """The degradation curve of each model, on the first board that has one of it."""
    curves: dict[str, list[float]] = {}
    for board in boards:
        for model in board.models:
            if model not in curves and (values := degradation_curve(board, model)):
                curves[model] = [_short(value) for value in values]
    return curves


def _lines(boards: Sequence[Board], models: Mapping[str, ModelInfo]) -> dict[str, dict[str, Any]]:
    """The lines of each model on the page: paths in the static figures, traces in the interactive ones."""
    axes, curves = dimensions(boards), _curves(boards)
    titles = [axis_title(board, column) for board, column in axes]
    steps = max(map(len, curves.values()), default=0)
    lines = {}
    for model in dict.fromkeys(model for board in boards for model in board.models):
        curve, name = curves.get(model), models[model].name
        shares = [share_of_maximum(column, model) for _, column in axes]
        short = [None if share is None else _short(share) for share in shares]
        has_radar = sum(share is not None for share in shares) >= FEWEST_AXES
        lines[model] = {
            "curvePath": curve_path(curve, steps) if curve else None,
            "radarPath": radar_path(shares) if has_radar else None,
            "curve": interactive_curve(name, curve) if curve else None,
            "radar": interactive_radar(name, titles, short) if has_radar else None,
        }
    return lines


def _heading(board: Board, column: ColumnScores) -> dict[str, Any]:
    return {
        "id": f"{board.plan.id} {column.column.id}",
        "title": formats.sentence(dimension_title(board, column)),
        "solving": column.column.parts[0][0] if _is_solving(column) else None,
        "ranked": column.column.ranked,
    }


def _column(board: Board, column: ColumnScores, model: str) -> dict[str, Any]:
    score = column.scores[model]
    return {
        "id": f"{board.plan.id} {column.column.id}",
        "label": dimension_title(board, column),
        "headline": column.column.headline,
        "maximum": column.column.maximum,
        "value": _short(score.value),
        "low": _short(score.interval.low),
        "high": _short(score.interval.high),
    }


def _is_solving(column: ColumnScores) -> bool:
    """Whether the column's metric is whether each task of one suite is solved."""
    parts = column.column.parts
    return len(parts) == 1 and parts[0][1].id.startswith("pass")


def _clusters(columns: Sequence[ColumnScores]) -> dict[str, Any]:
    """The tasks that the signs of `_solved` stand for: each list once, and which one a suite has."""
    by_suite = {c.column.parts[0][0]: c.samples[0].clusters for c in columns if _is_solving(c)}
    lists = list(dict.fromkeys(by_suite.values()))
    return {"clusters": lists, "clustersOf": {suite: lists.index(tasks) for suite, tasks in by_suite.items()}}


def _solved(columns: Sequence[ColumnScores]) -> dict[str, dict[str, str]]:
    """By suite and model a sign a task: `1` solved (in some sample), `0` not, `-` not run."""
    solved: dict[str, dict[str, str]] = {}
    for column in filter(_is_solving, columns):
        sample = column.samples[0]
        signs = np.where(sample.denominators > 0, np.where(sample.numerators > 0, "1", "0"), "-")
        solved[column.column.parts[0][0]] = {
            model: "".join(row) for model, row in zip(sample.models, signs, strict=True)
        }
    return solved


def differences_of(column: ColumnScores, order: Sequence[str]) -> dict[str, str]:
    """By model, its differences to each model behind it in `order`, as `value low high`, separated by `;`.

    In the units and digits that pages show (what would become zero keeps one digit: its sign says whether the
    difference is sure); nothing between two `;` where the two share no task.
    """
    row_of = {model: row for row, model in enumerate(column.samples[0].models)}
    present = [model for model in order if model in row_of]
    differences = column.differences.among([row_of[model] for model in present])
    matrices = (differences.values, differences.low, -differences.low.T)
    values, low, high = (as_shown(matrix, column.column.maximum) for matrix in matrices)
    texts = {
        model: [
            "" if math.isnan(value) else f"{value:g} {below:g} {above:g}"
            for value, below, above in zip(values[row], low[row], high[row], strict=True)
        ]
        for row, model in enumerate(present)
    }
    place = {model: position for position, model in enumerate(present)}
    return {
        model: ";".join(texts[model][place[rival]] if rival in place else "" for rival in order[start:])
        for start, model in enumerate(order, 1)
        if model in place
    }


def as_shown(values: NDArray[np.float32], maximum: float) -> list[list[float]]:
    """In per cent where the maximum is 1, with as many decimals as `formats.score` has."""
    numbers = values.astype(float) * (100 if maximum == 1 else 1)
    short = np.round(numbers, 2 if 1 < maximum <= 10 else 1)
    for place in zip(*np.nonzero((short == 0) & (numbers != 0)), strict=True):
        short[place] = float(f"{numbers[place]:.1g}")
    rows: list[list[float]] = short.tolist()
    return rows


def _short(value: float) -> float:
    """The value with at most DIGITS digits; a count that has no more stays as it is."""
    return value if value.is_integer() and abs(value) < 10**DIGITS else float(f"{value:.{DIGITS}g}")
