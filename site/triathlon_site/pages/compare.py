"""The page that sets models side by side, and the small files that it loads: an index, and one a model.

They are scripts, because a page opened from a file may load nothing else. A model's file has its scores,
which tasks it solves, and its differences to the models behind it in the index: the page computes nothing.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np

from triathlon_runner.unit_pages import evidence_page
from triathlon_site.figures import (
    CURVES_LAYOUT,
    FEWEST_AXES,
    PLOTLY,
    RADAR_LAYOUT,
    curves,
    interactive_curve,
    interactive_radar,
    plotly_styles,
    radar,
    radar_path,
)
from triathlon_site.models import Models
from triathlon_site.pages._scores import dimensions, share_of_maximum
from triathlon_site.pages._site import Gathered
from triathlon_site.pages.board import curve_columns, degradation_curve
from triathlon_site.pages.tasks import suite_page
from triathlon_site.render import Draft, Figure, Page, as_script, formats
from triathlon_site.scores import Board, ColumnScores

INDEX: Final = "data/compare.js"  # not in the folder of the models' files, where a model may have any name
Columns = Mapping[str, tuple[Board, ColumnScores]]  # by id of the board and of the column


def drafts(site: Gathered) -> Iterator[Draft | Page]:
    """The page that compares models, where there are two; the files that it loads."""
    ids = site.compared
    if not ids:
        return
    steps = max(len(curve_columns(board)) for board in site.boards)
    axes = dimensions(site.boards, ids)
    values = {
        "plotly": PLOTLY,
        "plotly_styles": " ".join(plotly_styles()),
        "frames": [frame for frame in _frames(steps, list(axes)) if frame.svg],
    }
    yield Draft("compare.html", "compare/page", values)
    columns = {f"{board.plan.id} {c.column.id}": (board, c) for board in site.boards for c in board.shown}
    yield Page(INDEX, f"window.triathlonIndex = {as_script(_index(site, columns, ids))};\n")
    solved = {c.column.suites[0]: _solved(c) for _, c in columns.values() if _is_solving(c)}
    minus = {name: _differences_of(column, ids) for name, (_, column) in columns.items()}
    for model in ids:
        info = site.models[model]
        content = {
            "id": model,
            "name": info.label,
            "curves": {
                board.plan.id: interactive_curve(info.label, line)
                for board in site.boards
                if model in board.headline.scores and (line := degradation_curve(board, model))
            },
            **_radar_of(model, info.label, axes),
            "solved": {suite: signs[model] for suite, signs in solved.items() if model in signs},
            "evidence": {
                file.suite: evidence_page(info.slug, file.suite)
                for board in site.boards
                for file in board.files.get(model, ())
                if file.has_lines
            },
            "columns": [
                {
                    "id": name,
                    "shown": formats.known_range(score.value, score.upper, column.column.maximum),
                    "interval": formats.span(score.interval, column.column.maximum),
                    "minus": minus[name][model],
                }
                for name, (board, column) in columns.items()
                if (score := column.scores.get(model))
            ],
        }
        yield Page(_path(site.models, model), f"window.triathlonModel({as_script(content)});\n")


def _frames(steps: int, axes: Sequence[str]) -> list[Figure]:
    """Empty figures, to which the script adds the lines of the chosen models."""
    return [
        Figure(curves("Degradation curves", (), steps), "Tasks that still pass in each loop, in per cent."),
        Figure(
            radar("All dimensions", axes),
            "All dimensions, each axis from 0 in the centre to its maximum.",
        ),
    ]


def _radar_of(model: str, name: str, axes: Mapping[str, ColumnScores]) -> dict[str, Any]:
    """The model's shape on these axes, of scores in a ranking; None where it has too few of them."""
    shares = [share_of_maximum(c, model) if model in c.scores else None for c in axes.values()]
    if sum(share is not None for share in shares) < FEWEST_AXES:
        return {"radarPath": None, "radar": None}
    return {"radarPath": radar_path(shares), "radar": interactive_radar(name, list(axes), shares)}


def _index(site: Gathered, columns: Columns, ids: Sequence[str]) -> dict[str, Any]:
    solving = {c.column.suites[0]: c.samples[0].clusters for _, c in columns.values() if _is_solving(c)}
    tasks = list(dict.fromkeys(solving.values()))
    measured = {id(joined) for joined in site.same.values()}
    rivals = _rivals(site.boards)
    models = []
    for info in (site.models[model] for model in ids):
        price_in, price_out = map(formats.price, info.price) if info.price else ("", "")
        models.append(
            {
                "id": info.id,
                "name": info.label,
                "page": info.page,
                "data": _path(site.models, info.id),
                "facts": [price_out, price_in, info.parameters or "", info.license or ""],
                "rival": rivals.get(info.id),
            }
        )
    return {
        "models": models,
        "start": next(iter(rivals), None),
        "facts": ["Price out, $/M", "Price in, $/M", "Size", "Licence"],
        "reported": sorted(one.name for one in site.reported.models if id(one) not in measured),
        "columns": [
            {
                "id": name,
                "title": formats.sentence(_title(board, column)),
                "label": _title(board, column),
                "headline": column.column.headline,
                "solving": column.column.suites[0] if _is_solving(column) else None,
                "ranked": column.column.ranked,
                "maximum": formats.in_unit(column.column.maximum, column.column.maximum),
            }
            for name, (board, column) in columns.items()
        ],
        "clusters": tasks,
        "clustersOf": {suite: tasks.index(clusters) for suite, clusters in solving.items()},
        "boards": {b.plan.id: f"{b.plan.discipline}, {b.plan.title}" for b in site.boards},
        "layouts": {"curve": CURVES_LAYOUT, "radar": RADAR_LAYOUT},
        "tasks": {entry.id: suite_page(entry.id) for board in site.boards for entry in board.plan.suites},
    }


def _rivals(boards: Sequence[Board]) -> dict[str, str]:
    """By model, the best that shares tasks with it on the board with most models.

    The first model is the best of the first such board. Models that share tasks with nobody are left out.
    """
    rivals: dict[str, str] = {}
    for headline in sorted((board.headline for board in boards), key=lambda h: -len(h.scores)):
        rows = {model: row for row, model in enumerate(headline.samples[0].models)}
        best_first = sorted(headline.scores, key=lambda model: -headline.scores[model].middle)
        for model in best_first:
            others = (rival for rival in best_first if rival != model)
            shared = (r for r in others if headline.differences.of(rows[model], rows[r]))
            if model not in rivals and (rival := next(shared, None)):
                rivals[model] = rival
    return rivals


def _path(models: Models, model: str) -> str:
    return f"data/compare/{models[model].slug}.js"


def _title(board: Board, column: ColumnScores) -> str:
    """`loop pass@1`; with its data where that is not our own problems."""
    data = "" if board.plan.family == "core" else f" ({board.plan.title})"
    return f"{board.plan.discipline} {formats.inside(column.column.title)}{data}"


def _is_solving(column: ColumnScores) -> bool:
    """Whether the column says which tasks of one suite are solved: of several that could, pass@1 does."""
    parts = column.column.parts
    return len(parts) == 1 and parts[0][1].title == "pass@1"


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
    maximum, found, highs = column.column.maximum, column.differences, column.differences.high
    differences = {}
    for start, model in enumerate(order, 1):
        if (row := row_of.get(model)) is None:
            continue
        is_known = (~np.isnan(found.values[row])).tolist()
        rivals = [row_of.get(rival) for rival in order[start:]]
        shared = [rival for rival in rivals if rival is not None and is_known[rival]]
        numbers = found.values[row, shared], found.low[row, shared], highs[row, shared]
        results = np.where(numbers[1] > 0, "b", np.where(numbers[2] < 0, "w", "n"))
        shown = (formats.signed_all(each.tolist(), maximum) for each in numbers)
        texts: dict[int | None, str] = {
            rival: " ".join(parts) for rival, *parts in zip(shared, *shown, results.tolist(), strict=True)
        }
        differences[model] = ";".join(texts.get(rival, "") for rival in rivals)
    return differences
