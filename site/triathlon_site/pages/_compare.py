"""The page that sets models side by side, and the small files that it loads."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from triathlon_site.figures import Series, curve_path, curves_frame, radar_frame, radar_path
from triathlon_site.pages import _format
from triathlon_site.pages._figures import degradation_curve
from triathlon_site.pages._models import ModelInfo
from triathlon_site.pages._neighbours import model_pairs
from triathlon_site.pages._page import Draft, Page
from triathlon_site.pages._profile import dimension, dimensions, short_title
from triathlon_site.pages._tasks import suite_page
from triathlon_site.scores import Board, ColumnScores, Overall, Score
from triathlon_site.uncertainty import Sample

DIGITS: Final = 6

Array = NDArray[np.float64]
Numbers = float | list[float]


def draft(
    boards: Sequence[Board],
    overalls: Mapping[str, Overall],
    models: Mapping[str, ModelInfo],
    plotly: str,
    plotly_styles: Sequence[str],
) -> Draft:
    """Neighbours in rank as a table; empty figures, to which scripts add the lines of the chosen models."""
    steps = _steps(boards)
    frames = [
        curves_frame("Degradation curves", steps, x_title="loop") if steps > 1 else Markup(""),
        radar_frame("All dimensions", [_axis_title(board, column) for board, column in dimensions(boards)]),
    ]
    context = {
        "plotly": plotly,
        "plotly_styles": " ".join(plotly_styles),
        "frames": [frame for frame in frames if frame],
        "neighbours": [
            (family, overall.boards, pairs)
            for family, overall in overalls.items()
            if (pairs := list(model_pairs(overall, models)))
        ],
    }
    return Draft("compare.html", "compare", context)


def _steps(boards: Sequence[Board]) -> int:
    """Points of the longest degradation curve."""
    curves = [_curve(boards, model) or () for board in boards for model in board.models]
    return max(map(len, curves), default=0)


def _axis_title(board: Board, column: ColumnScores) -> str:
    return f"{board.plan.discipline} {short_title(column)}"


def data_path(info: ModelInfo) -> str:
    return f"data/compare/{info.slug}.js"


def files(boards: Sequence[Board], models: Mapping[str, ModelInfo]) -> Iterator[Page]:
    """An index and a file a model: scripts, because a page opened from a file may load nothing else."""
    shown = [(board, column) for board in boards for column in board.shown]
    axes, steps = dimensions(boards), _steps(boards)
    ids = list(dict.fromkeys(model for board in boards for model in board.models))
    index = {
        "models": [
            {"id": m, "name": models[m].name, "page": models[m].page, "data": data_path(models[m])}
            for m in ids
        ],
        "columns": [_heading(board, column, axes) for board, column in shown],
        **_clusters([column for _, column in shown]),
        "tasks": {entry.id: suite_page(entry.id) for board in boards for entry in board.plan.suites},
    }
    yield Page("data/compare/index.js", f"window.triathlonIndex = {as_script(index)};\n")
    for model in ids:
        content = {
            "id": model,
            "name": models[model].name,
            "curve": _curve(boards, model),
            "curvePath": curve_path(line, steps) if (line := _curve(boards, model)) else None,
            "radarPath": radar_path([_share(column, model) for _, column in axes]),
            "parts": {
                key: _parts(sample, model)
                for _, column in shown
                if model in column.scores
                for key, sample in _samples(column)
            },
            "columns": [_column(board, column, model) for board, column in shown if model in column.scores],
        }
        yield Page(data_path(models[model]), f"window.triathlonModel({as_script(content)});\n")


def as_script(content: Any) -> str:
    """JSON that cannot end the script that it stands in, whatever a name holds."""
    text = json.dumps(content, ensure_ascii=True, separators=(",", ":"))
    return text.replace("<", "\\u003c")


def _share(column: ColumnScores, model: str) -> float | None:
    """In per cent of the column's maximum."""
    score = column.scores.get(model)
    return 100 * score.value / column.column.maximum if score else None


def _heading(
    board: Board, column: ColumnScores, axes: Sequence[tuple[Board, ColumnScores]]
) -> dict[str, Any]:
    (_, metric), *others = column.column.parts
    return {
        "id": f"{board.plan.id} {column.column.id}",
        "title": _format.sentence(dimension(board, column)),
        "short": _axis_title(board, column),
        "solving": metric.id.startswith("pass") and not others,
        "ranked": column.column.ranked,
        "axis": any(column is axis for _, axis in axes),
    }


def _column(board: Board, column: ColumnScores, model: str) -> dict[str, Any]:
    score: Score = column.scores[model]
    return {
        "id": f"{board.plan.id} {column.column.id}",
        "label": dimension(board, column),
        "headline": column.column.headline,
        "maximum": column.column.maximum,
        "scale": column.samples[0].scale,
        "value": _short(score.value),
        "low": _short(score.interval.low),
        "high": _short(score.interval.high),
        "parts": [key for key, _ in _samples(column)],
    }


def _samples(column: ColumnScores) -> Iterator[tuple[str, Sample]]:
    """The column's samples by suite and metric: columns that share one ship it once."""
    for (suite, metric), sample in zip(column.column.parts, column.samples, strict=True):
        yield f"{suite}:{metric.id}", sample


def _clusters(columns: Sequence[ColumnScores]) -> dict[str, Any]:
    """The names that the numbers of `_parts` belong to: each list of them once, and which one a part has."""
    of = {key: sample.clusters for column in columns for key, sample in _samples(column)}
    lists = list(dict.fromkeys(of.values()))
    return {"clusters": lists, "clustersOf": {key: lists.index(clusters) for key, clusters in of.items()}}


def _parts(sample: Sample, model: str) -> list[Numbers]:
    """Numerators and denominators in the order of the clusters; a denominator of 0: not run."""
    row = sample.models.index(model)
    return [_numbers(sample.numerators[row]), _numbers(sample.denominators[row])]


def _numbers(values: Array) -> Numbers:
    """One number where all are equal, as the denominators of most metrics are."""
    if len(values) and (values == values[0]).all():
        return _short(float(values[0]))
    if (values == np.rint(values)).all():
        return [int(value) for value in values.tolist()]
    return [_short(value) for value in values.tolist()]


def _curve(boards: Sequence[Board], model: str) -> tuple[float, ...] | None:
    for board in boards:
        line: Series | None = degradation_curve(board, model, model)
        if line:
            return tuple(_short(value) for value in line.values)
    return None


def _short(value: float) -> float:
    """Most are counts, which are short as they are."""
    return value if value.is_integer() and abs(value) < 10**DIGITS else float(f"{value:.{DIGITS}g}")
