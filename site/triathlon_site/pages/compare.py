"""The page that sets models side by side, and the small files that it loads: an index, and one a model.

They are scripts, because a page opened from a file may load nothing else. A model's file has its scores,
which tasks it solves, and its differences to the models behind it in the index: the page computes nothing.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from triathlon_runner.unit_pages import evidence_page
from triathlon_site.figures import (
    CURVES_LAYOUT,
    FEWEST_AXES,
    PLOTLY,
    RADAR_LAYOUT,
    curve_path,
    curves_frame,
    interactive_curve,
    interactive_radar,
    plotly_styles,
    radar_frame,
    radar_path,
)
from triathlon_site.models import ModelInfo, Models
from triathlon_site.pages._scores import axis_title, dimension_title, dimensions, share_of_maximum
from triathlon_site.pages._site import Gathered
from triathlon_site.pages.board import degradation_curve
from triathlon_site.pages.tasks import suite_page
from triathlon_site.render import Draft, Figure, Page, as_script, formats
from triathlon_site.scores import Board, ColumnScores, Overall
from triathlon_site.uncertainty import Difference

BEST: Final = 5
"""Models that are compared each with each."""
MOST: Final = 30
"""Models that are compared with the next below."""
DIGITS: Final = 6
INDEX: Final = "data/compare.js"
"""Not in the folder of the models' files, where a model may have any name."""


@dataclass(frozen=True, slots=True)
class ModelPair:
    """The higher model minus the lower, in each discipline."""

    higher: ModelInfo
    lower: ModelInfo
    differences: tuple[tuple[Difference | None, float], ...]
    """Each with the maximum of its column."""

    @property
    def verdict(self) -> str:
        """The result over all disciplines, in words."""
        known = [difference for difference, _ in self.differences if difference]
        better = sum(difference.sure and difference.value > 0 for difference in known)
        worse = sum(difference.sure and difference.value < 0 for difference in known)
        if better and worse:
            return "it depends"
        if not better and not worse:
            return "no difference shown"
        side = "better" if better else "worse"
        return f"{side} in {max(better, worse)} of {len(known)}"


def drafts(site: Gathered) -> Iterator[Draft | Page]:
    """The page that compares models, where there are two; the files that it loads."""
    # the degradation curve of each model, on the first board that has one of it
    curves: dict[str, list[float]] = {}
    for board in site.boards:
        for model in board.models:
            if model not in curves and (line := degradation_curve(board, model)):
                curves[model] = [_short(value) for value in line]
    if len(site.results.models) > 1:
        compared = ((family, neighbours(overall, site.models)) for family, overall in site.overalls.items())
        values = {
            "plotly": PLOTLY,
            "plotly_styles": " ".join(plotly_styles()),
            "frames": _frames(site.boards, curves),
            "neighbours": {family: found for family, found in compared if found[1]},
        }
        yield Draft("compare.html", "compare/page", values)
    yield from _files(site, curves)


def _frames(boards: Sequence[Board], curves: Mapping[str, list[float]]) -> list[Figure]:
    """Empty figures, to which the script adds the lines of the chosen models."""
    steps = max(map(len, curves.values()), default=0)
    titles = [axis_title(board, column) for board, column in dimensions(boards)]
    frames = [
        Figure(curves_frame("Degradation curves", steps), "Tasks that still pass in each loop, in per cent."),
        Figure(
            radar_frame("All dimensions", titles),
            "All dimensions, each axis from 0 in the centre to its maximum.",
        ),
    ]
    return [frame for frame in frames if frame.svg]


def _order(overall: Overall) -> tuple[list[str], tuple[Board, ...]]:
    """Models from the best down, and the boards on which they are compared.

    Recorded models often have one discipline alone. Where no two have all of them, the order is that of the
    board with the most models.
    """
    ranked = [row.model for row in overall.rows if row.rank]
    if len(ranked) > 1:
        return ranked, overall.boards
    largest = max(overall.boards, key=lambda board: len(board.headline.scores))
    return [model for model in largest.models if model in largest.headline.scores], (largest,)


def neighbours(overall: Overall, models: Models) -> tuple[tuple[Board, ...], list[ModelPair]]:
    """The BEST models of a family of data, each with each, and up to MOST models, each with the next.

    Before the pairs stand the boards whose headlines are compared; a single one where the order is its own.
    """
    ranked, boards = _order(overall)
    order = ranked[:MOST]
    columns = []
    for board in boards:
        known = board.headline.samples[0].models
        differences = board.headline.differences.among([known.index(model) for model in order])
        columns.append((differences, board.plan.headline.maximum))
    pairs = [
        ModelPair(
            models[order[higher]],
            models[order[lower]],
            tuple((differences.of(higher, lower), maximum) for differences, maximum in columns),
        )
        for higher in range(len(order))
        for lower in range(higher + 1, min(len(order), max(BEST, higher + 2)))
    ]
    return boards, pairs


def _files(site: Gathered, curves: Mapping[str, list[float]]) -> Iterator[Page]:
    """The index, then a file for each model."""
    boards, models = site.boards, site.models
    columns = {
        f"{board.plan.id} {column.column.id}": (board, column) for board in boards for column in board.shown
    }
    solving = {c.column.parts[0][0]: c for _, c in columns.values() if _is_solving(c)}
    tasks = list(dict.fromkeys(column.samples[0].clusters for column in solving.values()))
    ids = list(dict.fromkeys(model for board in boards for model in board.models))
    paths = {model: f"data/compare/{models[model].slug}.js" for model in ids}
    measured = {id(joined) for joined in site.same.values()}
    index = {
        "models": [
            {
                "id": info.id,
                "name": info.label,
                "page": info.page,
                "data": paths[info.id],
                "facts": [price_out, price_in, info.parameters or "", info.license or ""],
            }
            for info in (models[model] for model in ids)
            for price_in, price_out in [(f"{price:g}" for price in info.price) if info.price else ("", "")]
        ],
        "facts": ["Price out, $/M", "Price in, $/M", "Size", "Licence"],
        "reported": sorted(one.name for one in site.reported.models if id(one) not in measured),
        "columns": [
            {
                "id": name,
                "title": formats.sentence(dimension_title(board, column)),
                "solving": column.column.parts[0][0] if _is_solving(column) else None,
                "ranked": column.column.ranked,
                "maximum": formats.in_unit(column.column.maximum, column.column.maximum),
            }
            for name, (board, column) in columns.items()
        ],
        "clusters": tasks,
        "clustersOf": {suite: tasks.index(column.samples[0].clusters) for suite, column in solving.items()},
        "layouts": {"curve": CURVES_LAYOUT, "radar": RADAR_LAYOUT},
        "tasks": {entry.id: suite_page(entry.id) for board in boards for entry in board.plan.suites},
    }
    yield Page(INDEX, f"window.triathlonIndex = {as_script(index)};\n")
    axes = dimensions(boards)
    solved = {suite: _solved(column) for suite, column in solving.items()}
    minus = {name: _differences_of(column, ids) for name, (_, column) in columns.items()}
    for model in ids:
        content = {
            "id": model,
            "name": models[model].label,
            **_lines(models[model].label, model, axes, curves),
            "solved": {suite: signs[model] for suite, signs in solved.items() if model in signs},
            "evidence": {
                file.suite: evidence_page(models[model].slug, file.suite)
                for board in boards
                for file in board.files.get(model, ())
                if file.has_lines
            },
            "columns": [
                {
                    "id": name,
                    "label": dimension_title(board, column),
                    "headline": column.column.headline,
                    "shown": formats.known_range(score.value, score.upper, column.column.maximum),
                    "interval": formats.span(score.interval, column.column.maximum),
                    "minus": minus[name][model],
                }
                for name, (board, column) in columns.items()
                if (score := column.scores.get(model))
            ],
        }
        yield Page(paths[model], f"window.triathlonModel({as_script(content)});\n")


def _lines(
    name: str, model: str, axes: Sequence[tuple[Board, ColumnScores]], curves: Mapping[str, list[float]]
) -> dict[str, Any]:
    """The lines of one model on the page: paths in the static figures, traces in the interactive ones."""
    curve = curves.get(model)
    titles = [axis_title(board, column) for board, column in axes]
    shares = [share_of_maximum(column, model) for _, column in axes]
    short = [None if share is None else _short(share) for share in shares]
    has_radar = sum(share is not None for share in shares) >= FEWEST_AXES
    return {
        "curvePath": curve_path(tuple(curve), max(map(len, curves.values()))) if curve else None,
        "radarPath": radar_path(shares) if has_radar else None,
        "curve": interactive_curve(name, curve) if curve else None,
        "radar": interactive_radar(name, titles, short) if has_radar else None,
    }


def _is_solving(column: ColumnScores) -> bool:
    """Whether the column's metric is whether each task of one suite is solved."""
    parts = column.column.parts
    return len(parts) == 1 and parts[0][1].id.startswith("pass")


def _solved(column: ColumnScores) -> dict[str, str]:
    """By model a sign a task: `1` solved (in some sample), `0` not, `-` not run."""
    sample = column.samples[0]
    signs = np.where(sample.denominators > 0, np.where(sample.numerators > 0, "1", "0"), "-")
    return {model: "".join(row) for model, row in zip(sample.models, signs, strict=True)}


def _differences_of(column: ColumnScores, order: Sequence[str]) -> dict[str, str]:
    """By model, its differences to each model behind it in `order`, as texts between `;`.

    Each is value, low and high as pages show them, and a letter for the result: `b` better, `w` worse, `n` no
    difference shown. Nothing stands between two `;` where the two models share no task.
    """
    row_of = {model: row for row, model in enumerate(column.samples[0].models)}

    def text(model: str, rival: str) -> str:
        difference = column.differences.of(row_of[model], row_of[rival]) if rival in row_of else None
        if not difference:
            return ""
        ends = difference.value, difference.interval.low, difference.interval.high
        shown = (formats.signed(end, column.column.maximum) for end in ends)
        result = "n" if not difference.sure else "b" if difference.interval.low > 0 else "w"
        return " ".join((*shown, result))

    return {
        model: ";".join(text(model, rival) for rival in order[start:])
        for start, model in enumerate(order, 1)
        if model in row_of
    }


def _short(value: float) -> float:
    """The value with at most DIGITS digits; a count that has no more stays as it is."""
    return value if value.is_integer() and abs(value) < 10**DIGITS else float(f"{value:.{DIGITS}g}")
