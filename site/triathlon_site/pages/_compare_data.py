"""The small files that the page of comparisons loads: an index, and one a model.

They are scripts, because a page opened from a file may load nothing else.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from triathlon_site.figures import curve_path, radar_path
from triathlon_site.pages import _format
from triathlon_site.pages._figures import degradation_curve
from triathlon_site.pages._models import ModelInfo
from triathlon_site.pages._page import Page
from triathlon_site.pages._profile import dimension, dimensions, short_title
from triathlon_site.pages._tasks import suite_page
from triathlon_site.scores import Board, ColumnScores
from triathlon_site.uncertainty import Sample

DIGITS: Final = 6
INDEX: Final = "data/compare.js"
"""Not in the folder of the models' files, where a model may have any name."""

Array = NDArray[np.float64]


def files(boards: Sequence[Board], models: Mapping[str, ModelInfo]) -> Iterator[Page]:
    shown = [(board, column) for board in boards for column in board.shown]
    ids, axes = list(dict.fromkeys(model for board in boards for model in board.models)), dimensions(boards)
    index = {
        "models": [
            {"id": m, "name": models[m].name, "page": models[m].page, "data": data_path(models[m])}
            for m in ids
        ],
        "columns": [_heading(board, column, axes) for board, column in shown],
        **_clusters([column for _, column in shown]),
        "tasks": {entry.id: suite_page(entry.id) for board in boards for entry in board.plan.suites},
    }
    yield Page(INDEX, f"window.triathlonIndex = {as_script(index)};\n")
    lines, parts = _lines(boards), _parts([column for _, column in shown])
    for model in ids:
        own = [one for one in shown if model in one[1].scores]
        keys = dict.fromkeys(key for _, column in own for key, _ in _samples(column))
        content = as_script({"id": model, "name": models[model].name, **lines[model]}).removesuffix("}")
        numbers = ",".join(f"{as_script(key)}:{parts[key][model]}" for key in keys)
        columns = as_script([_column(*one, model) for one in own])
        text = f'{content},"parts":{{{numbers}}},"columns":{columns}}}'
        yield Page(data_path(models[model]), f"window.triathlonModel({text});\n")


def data_path(info: ModelInfo) -> str:
    return f"data/compare/{info.slug}.js"


def as_script(content: Any) -> str:
    """JSON that cannot end the script that it stands in, whatever a name holds."""
    text = json.dumps(content, ensure_ascii=True, separators=(",", ":"))
    return text.replace("<", "\\u003c")


def longest_curve(boards: Sequence[Board]) -> int:
    """Points of the longest degradation curve."""
    return max(map(len, _curves(boards).values()), default=0)


def axis_title(board: Board, column: ColumnScores) -> str:
    return f"{board.plan.discipline} {short_title(column)}"


def _curves(boards: Sequence[Board]) -> dict[str, list[float]]:
    """By model, on the first board that has one of it."""
    found: dict[str, list[float]] = {}
    for board in boards:
        for model in board.models:
            if model not in found and (line := degradation_curve(board, model, model)):
                found[model] = [_short(value) for value in line.values]
    return found


def _lines(boards: Sequence[Board]) -> dict[str, dict[str, Any]]:
    """What each model draws in the figures of the page."""
    axes, curves = dimensions(boards), _curves(boards)
    steps = max(map(len, curves.values()), default=0)
    return {
        model: {
            "curve": curves.get(model),
            "curvePath": curve_path(curves[model], steps) if model in curves else None,
            "radarPath": radar_path([_share(column, model) for _, column in axes]),
        }
        for board in boards
        for model in board.models
    }


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
        "short": axis_title(board, column),
        "solving": metric.id.startswith("pass") and not others,
        "ranked": column.column.ranked,
        "axis": any(column is axis for _, axis in axes),
    }


def _column(board: Board, column: ColumnScores, model: str) -> dict[str, Any]:
    score = column.scores[model]
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


def _parts(columns: Sequence[ColumnScores]) -> dict[str, dict[str, str]]:
    """As scripts, by key and model: numerators and denominators in the order of the clusters.

    A denominator of 0: not run.
    """
    samples = {key: sample for column in columns for key, sample in _samples(column)}
    return {key: dict(zip(sample.models, _both(sample), strict=True)) for key, sample in samples.items()}


def _both(sample: Sample) -> Iterator[str]:
    for numerators, denominators in zip(_rows(sample.numerators), _rows(sample.denominators), strict=True):
        yield f"[{numerators},{denominators}]"


def _rows(values: Array) -> Iterator[str]:
    """Each row as a script; one number where all are equal, as the denominators of most metrics are."""
    alike = (values == values[:, :1]).all(axis=1)
    whole = (values == np.rint(values)).all(axis=1)
    digits = whole & (values >= 0).all(axis=1) & (values < 10).all(axis=1)
    for place, row in enumerate(values):
        if alike[place] and len(row):
            yield as_script(_short(float(row[0])))
        elif digits[place]:
            yield f"[{','.join((row.astype(np.uint8) + ord('0')).tobytes().decode())}]"
        elif whole[place]:
            yield as_script(row.astype(int).tolist())
        else:
            yield f"[{','.join(map(_short_script, row.tolist()))}]"


@lru_cache(maxsize=4096)
def _short_script(value: float) -> str:
    """Kept: most are shares of a few tasks."""
    return as_script(_short(value))


def _short(value: float) -> float:
    """Most are counts, which are short as they are."""
    return value if value.is_integer() and abs(value) < 10**DIGITS else float(f"{value:.{DIGITS}g}")
