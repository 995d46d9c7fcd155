"""Do the disciplines agree? Rank correlations between every two columns, and a page for each two.

There are two matrices: of the columns graded here, and of the table of all models, reported figures included.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import nlargest
from itertools import product
from operator import itemgetter
from typing import Final, NamedTuple

import numpy as np
from markupsafe import Markup

from triathlon_site.agreement import Correlation, correlations
from triathlon_site.exports import table_files
from triathlon_site.figures import PLOTLY, Point, RankLine, plotly_styles, rank_shift, scatter
from triathlon_site.pages._scores import REPORTED, short_title
from triathlon_site.pages._site import Gathered
from triathlon_site.pages.all_models import model_rows
from triathlon_site.pages.board import FRONT as CORRELATED
from triathlon_site.pages.board import FrontColumn
from triathlon_site.published import PublishedColumn, PublishedTable
from triathlon_site.ranking import smallest_ranks
from triathlon_site.render import Draft, Figure, Page, Section, Value, as_script, formats

PATH: Final = "agreement.html"
MOST_LABELS: Final = 12
"""Models that a figure names; of more it names the FARTHEST, which the two columns rank most differently."""
FARTHEST: Final = 3
FEWEST: Final = 3
"""Models below which two orders always agree or disagree completely."""
PLOTLY_SCATTER: Final = {
    "data": [
        {
            "hoverinfo": "text",
            "marker": {"size": 8},
            "mode": "markers",
            "showlegend": False,
            "type": "scatter",
        }
    ],
    "layout": {"hovermode": "closest", "xaxis": {"rangemode": "tozero"}, "yaxis": {"rangemode": "tozero"}},
}
"""The interactive scatter of two columns, without values: the page fills them in."""
MOST_LINES: Final = 30
COLOURED: Final = 4


@dataclass(frozen=True)
class AgreementColumn:
    """A column of a board or of the table of all models."""

    title: str
    """Clear among all: `Loop ASL (MBPP+)`."""
    maximum: float
    values: Mapping[str, float]
    """By model, its score as it is shown."""
    discipline: str
    headline: bool = True
    outside: bool = False
    """Whether it is a published ranking that is no column of a board."""
    reported: frozenset[str] = frozenset()
    """Models whose score here is a reported figure."""


class Pair(NamedTuple):
    """Two columns, and the correlation of their orders of the models."""

    left: AgreementColumn
    right: AgreementColumn
    correlation: Correlation
    path: str
    reported: int
    """How many of the models have a reported figure in either column."""

    @property
    def too_few(self) -> bool:
        """Whether too few models have both columns to say anything."""
        return self.correlation.n < FEWEST


@dataclass(frozen=True)
class Matrix:
    """Columns over the same models, and every pair of them."""

    columns: Sequence[AgreementColumn] = ()
    models: Mapping[str, str] = field(default_factory=dict)
    """Names of all models, by what the columns call them."""
    name: str = ""
    """Name of its folder of pages, and of its files."""
    pairs: Mapping[tuple[int, int], Pair] = field(default_factory=dict)
    """By the places of the two columns."""

    @property
    def heads(self) -> list[int]:
        """Places of the columns that are headlines."""
        return [place for place, column in enumerate(self.columns) if column.headline]

    @property
    def between(self) -> list[Pair]:
        """Pairs of headlines of two disciplines, those that the most models have first."""
        pairs = [
            pair
            for pair in self.pairs.values()
            if pair.left.headline and pair.right.headline and pair.left.discipline != pair.right.discipline
        ]
        return sorted(pairs, key=lambda pair: -pair.correlation.n)

    def file(self, suffix: str) -> str:
        """The table of all pairs as `csv` or `tex`, or the script of the interactive figure."""
        return f"data/{self.name}.{suffix}"


def drafts(site: Gathered) -> Iterator[Draft]:
    """The page of all correlations, and a page for every two columns that enough models have."""
    if not site.boards and not site.has_all_models:
        return
    graded, reported = _graded_matrix(site), _all_models_matrix(site)
    matrices = [matrix for matrix in (reported, graded) if matrix.pairs]
    for matrix in matrices:
        for places, pair in matrix.pairs.items():
            if not pair.too_few:
                values = {
                    "pair": pair,
                    "figure": pair_scatter(pair.left, pair.right, matrix.models),
                    "some_named": pair.correlation.n > MOST_LABELS,
                    "places": places,
                    "file": matrix.file("js"),
                }
                yield Draft(pair.path, "agreement/pair", values)
    values = {
        "first": matrices[0] if matrices else Matrix(),
        "graded": graded if graded in matrices else Matrix(),
        "rank_shift": _rank_shift(matrices[0]) if matrices else None,
        "models": max(len(graded.models), len(reported.models)),
    }
    files = [page for m in matrices for page in (*table_files(m.file("csv"), _table(m)), _scatter_file(m))]
    yield Draft(PATH, "agreement/page", values, tuple(files))


def pair_scatter(left: AgreementColumn, right: AgreementColumn, names: Mapping[str, str]) -> Markup:
    """The models that both columns have; all named if they are few, else those FARTHEST apart in the two."""
    both = labelled = [model for model in left.values if model in right.values and model in names]
    if len(both) > MOST_LABELS:
        places = []
        for column in (left, right):
            order = sorted(column.values.items(), key=itemgetter(1))
            places.append({model: place / len(order) for place, (model, _) in enumerate(order)})
        labelled = nlargest(FARTHEST, both, key=lambda model: abs(places[0][model] - places[1][model]))
    points = [
        Point(names[model], left.values[model], right.values[model], label=model in labelled)
        for model in dict.fromkeys((*labelled, *both))
    ]
    return scatter(
        f"{right.title} against {left.title}",
        points,
        x_title=left.title,
        y_title=right.title,
        x_maximum=left.maximum,
        y_maximum=right.maximum,
    )


def _graded_matrix(site: Gathered) -> Matrix:
    """Every ranked column of every board."""
    columns = []
    for board in site.boards:
        plan = board.plan
        data = "" if plan.family == "core" else f" ({plan.title})"
        for scores in board.shown:
            column = scores.column
            if column.ranked:
                values = {
                    m: formats.in_unit(s.value, column.maximum) for m, s in sorted(scores.scores.items())
                }
                title = f"{plan.discipline.capitalize()} {short_title(scores)}{data}"
                maximum = formats.in_unit(column.maximum, column.maximum)
                columns.append(AgreementColumn(title, maximum, values, plan.discipline, column.headline))
    for table, score in _outside_rankings(site):
        found = {m: joined.score(table.id, score.id) for m, joined in sorted(site.same.items())}
        values = {m: s.value for m, s in found.items() if s and m in site.models}
        title = f"{table.title} {score.title}, as published"
        if len(values) >= FEWEST:
            columns.append(AgreementColumn(title, score.maximum, values, table.discipline, outside=True))
    models = sorted({m for board in site.boards for m in board.models})
    return _matrix(columns, {model: site.models[model].label for model in models}, "agreement")


def _outside_rankings(site: Gathered) -> list[tuple[PublishedTable, PublishedColumn]]:
    """Published rankings, with their headlines, that are in no column of the table of all models."""
    placed = {place for column in CORRELATED if column.column for place in column.reported}
    headlines = [(table, table.headline) for table in site.reported.boards.values()]
    return [(table, score) for table, score in headlines if score and (table.id, score.id) not in placed]


def _all_models_matrix(site: Gathered) -> Matrix:
    """The columns of the table of all models in which some model has a score or a reported figure.

    Models are named by their place in the table.
    """
    shown = {place for column in CORRELATED for place in column.reported}
    outside = [
        FrontColumn(
            id=table.id,
            name=f"{table.title} {score.title}, as published",
            tasks=0,
            board=table.discipline,
            column="",
            published=((table.id, score.id),),
        )
        for table, score in _outside_rankings(site)
        if (table.id, score.id) not in shown
    ]
    correlated = (*CORRELATED, *outside)
    rows = model_rows(site, correlated) if site.has_all_models else []
    columns = []
    for column in correlated:
        cells = {str(place): row.cells[column.id] for place, row in enumerate(rows) if column.id in row.cells}
        if cells:
            maximum = max(cell.maximum for cell in cells.values())
            maximum = formats.in_unit(maximum, maximum)
            # Rounded as in the table's file: equal scores from two sources stay equal.
            values = {key: maximum * round(cell.share, 6) for key, cell in cells.items()}
            title = f"{column.title} {column.small}" if column.title else column.name
            reported = frozenset(key for key, cell in cells.items() if cell.grade == REPORTED)
            columns.append(
                AgreementColumn(
                    title,
                    maximum,
                    values,
                    column.discipline,
                    outside=not column.column,
                    reported=reported,
                )
            )
    return _matrix(columns, {str(place): row.name for place, row in enumerate(rows)}, "agreement-all-models")


def _matrix(columns: Sequence[AgreementColumn], models: Mapping[str, str], name: str) -> Matrix:
    """With the pairs of the columns, whose pages are in the folder `name`, if there are models enough."""
    if len(columns) < 2 or len(models) < FEWEST:
        return Matrix(columns, models, name)
    values = [np.array([column.values.get(model) for model in models], dtype=float) for column in columns]
    pairs = {}
    for (i, j), correlation in correlations(values, "agreement").items():
        left, right = columns[i], columns[j]
        both = left.values.keys() & right.values.keys()
        reported = len(both & (left.reported | right.reported))
        pairs[i, j] = Pair(left, right, correlation, f"{name}/{i + 1}-{j + 1}.html", reported)
    return Matrix(columns, models, name, pairs)


def _scatter_file(matrix: Matrix) -> Page:
    """The data of the interactive figure of any two columns, as a script: a page opened from a file may load
    nothing else.
    """
    content = {
        "plotly": f"assets/{PLOTLY}",
        "styles": plotly_styles(),
        "figure": PLOTLY_SCATTER,
        "models": list(matrix.models.values()),
        "columns": [
            {
                "title": column.title,
                "values": [column.values.get(model) for model in matrix.models],
                "shown": [formats.score(column.values.get(model), column.maximum) for model in matrix.models],
            }
            for column in matrix.columns
        ],
    }
    return Page(matrix.file("js"), f"window.triathlonColumns = {as_script(content)};\n")


def _table(matrix: Matrix) -> Section:
    """Every pair of columns, as a table for data files."""
    rows = []
    for pair in matrix.pairs.values():
        c = pair.correlation
        rows.append(
            (
                Value(pair.left.title),
                Value(pair.right.title),
                Value(str(c.n), number=c.n),
                Value(str(pair.reported), number=pair.reported),
                _coefficient(c.spearman, c.spearman_low, c.spearman_high),
                _coefficient(c.kendall, c.kendall_low, c.kendall_high),
                _ends(c.without_one_low, c.without_one_high),
            )
        )
    head = "Left", "Right", "Models", "With a reported figure", "Spearman", "Kendall"
    head_without = "Spearman without any one model"
    return Section("Agreement of every two columns", "", (*head, head_without), tuple(rows))


def _coefficient(value: float, low: float, high: float) -> Value:
    """A correlation with its interval, where that is known."""
    small = "" if math.isnan(low) else _ends(low, high).text
    return Value(formats.coefficient(value), small, value, {"low": low, "high": high})


def _ends(low: float, high: float) -> Value:
    text = f"{formats.coefficient(low)} to {formats.coefficient(high)}"
    return Value(text, details={"low": low, "high": high})


def _rank_shift(matrix: Matrix) -> Figure:
    """Ranks in one headline of each discipline: the headlines that the most models have all of.

    Without a drawing where they are fewer than FEWEST models.
    """
    by_discipline: dict[str, list[AgreementColumn]] = {}
    for place in matrix.heads:
        if not (column := matrix.columns[place]).outside:
            by_discipline.setdefault(column.discipline, []).append(column)
    columns = max(product(*by_discipline.values()), key=lambda chosen: len(_common(chosen)))
    common = _common(columns)[:MOST_LINES]
    if len(common) < FEWEST:
        return Figure(Markup(""), "")
    ranks = [smallest_ranks([column.values[model] for model in common]) for column in columns]
    lines = [
        RankLine(
            matrix.models[model],
            tuple(places[row] or 0 for places in ranks),
            colour=row if row < COLOURED else None,
        )
        for row, model in enumerate(common)
    ]
    heads = [column.discipline.capitalize() for column in columns]
    caption = (
        f"Who moves: rank by {'; '.join(column.title for column in columns)}, among the {len(common)} models"
        " that have all; the first four in colour."
    )
    return Figure(rank_shift("Ranks across the disciplines", heads, lines), caption)


def _common(columns: Sequence[AgreementColumn]) -> list[str]:
    """Models that have all of the columns, by their score in the first."""
    if not columns:
        return []
    first, *others = (column.values for column in columns)
    common = [model for model in first if all(model in values for values in others)]
    return sorted(common, key=lambda model: -first[model])
