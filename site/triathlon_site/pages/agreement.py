"""Do the disciplines agree? Rank correlations between every two columns, and one page of scatters.

There are two matrices: of the columns graded here, and of the table of all models, reported figures included.
"""

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple

import numpy as np
import pandas as pd
from markupsafe import Markup

from triathlon_site.agreement import FEWEST, Correlation, correlations
from triathlon_site.exports import table_files
from triathlon_site.figures import Point, scatter
from triathlon_site.pages._scores import short_title
from triathlon_site.pages._site import Gathered
from triathlon_site.pages.all_models import model_rows
from triathlon_site.pages.board import FRONT as CORRELATED
from triathlon_site.pages.board import FrontColumn
from triathlon_site.published import PublishedColumn, PublishedTable
from triathlon_site.ranking import REPORTED
from triathlon_site.render import Draft, Section, Value, formats

PATH: Final = "agreement.html"
SCATTERS: Final = "agreement-scatters.html"
MOST_SCATTERS: Final = 15
MOST_LABELS: Final = 12  # models that a scatter names
FARTHEST: Final = 3  # models that are named of more: those whose ranks in the two columns differ most
COLOURED: Final = 10  # models from which on a coefficient has a colour: below, chance makes strong ones


@dataclass(frozen=True)
class AgreementColumn:
    """A column of a board or of the table of all models."""

    title: str  # clear among all: `Loop ASL (MBPP+)`
    maximum: float
    values: Mapping[str, float]  # by model, its score as it is shown
    discipline: str
    headline: bool = True
    reported: frozenset[str] = frozenset()  # models whose score here is a reported figure


class Pair(NamedTuple):
    """Two columns, and the correlation of their orders of the models."""

    left: AgreementColumn
    right: AgreementColumn
    correlation: Correlation
    reported: int  # how many of the models have a reported figure in either column

    @property
    def title(self) -> str:
        return f"{self.left.title} and {self.right.title}"

    @property
    def anchor(self) -> str:
        """Of its scatter; made of the titles, so that it stays when columns come and go."""
        return re.sub(r"[^\w+]+", "-", self.title.lower())

    def shade(self, coefficient: float) -> str:
        """The class of the colour of one of its coefficients; that of none where the models are few."""
        return formats.shade(coefficient) if self.correlation.n >= COLOURED else "none"

    @property
    def too_few(self) -> bool:
        """Whether too few models have both columns to say anything."""
        return self.correlation.n < FEWEST


@dataclass(frozen=True)
class Matrix:
    """Columns over the same models."""

    name: str
    """Of its files."""
    columns: Sequence[AgreementColumn]
    models: Mapping[str, str]
    """Names of all models, by what the columns call them."""

    @cached_property
    def pairs(self) -> Mapping[tuple[int, int], Pair]:
        """Every two columns, by their places; none where there are too few models."""
        if len(self.models) < FEWEST:
            return {}
        values = [np.array([column.values.get(m) for m in self.models], float) for column in self.columns]
        pairs = {}
        for (i, j), correlation in correlations(values, "agreement").items():
            left, right = self.columns[i], self.columns[j]
            both = left.values.keys() & right.values.keys()
            pairs[i, j] = Pair(left, right, correlation, len(both & (left.reported | right.reported)))
        return pairs

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


def drafts(site: Gathered) -> Iterator[Draft]:
    """The page of all correlations, and that of the scatters between the disciplines."""
    if not site.boards and not site.has_all_models:
        return
    graded, every = graded_matrix(site), _all_models_matrix(site)
    first = every if every.pairs else graded
    drawn = [pair for pair in first.between if not pair.too_few][:MOST_SCATTERS]
    values = {
        "first": first,
        "graded": graded,
        "scatters": SCATTERS,
        "drawn": {pair.anchor for pair in drawn},
        "models": max(len(graded.models), len(every.models)),
    }
    files = [page for of in (every, graded) for page in table_files(f"data/{of.name}.csv", _table(of))]
    yield Draft(PATH, "agreement/page", values, tuple(files))
    if drawn:
        figures = [(pair, _scatter(pair, first.models)) for pair in drawn]
        yield Draft(SCATTERS, "agreement/scatters", {"pairs": figures, "page": PATH})


def _scatter(pair: Pair, names: Mapping[str, str]) -> Markup:
    """The models that both columns have, each a dot; named if they are few, else those FARTHEST apart."""
    left, right = pair.left, pair.right
    both = labelled = [model for model in left.values if model in right.values and model in names]
    if len(both) > MOST_LABELS:
        # pandas' ranks: scipy.stats takes half a second to import
        x, y = (pd.Series(column.values)[both].rank() for column in (left, right))
        apart = (x - y).abs()
        labelled = sorted(both, key=lambda model: -apart[model])[:FARTHEST]
    return scatter(
        f"{right.title} against {left.title}",
        [
            Point(names[model], left.values[model], right.values[model], label=model in labelled)
            for model in both
        ],
        x_title=left.title,
        y_title=right.title,
        x_maximum=left.maximum,
        y_maximum=right.maximum,
    )


def graded_matrix(site: Gathered) -> Matrix:
    """Every ranked column of every board, and published rankings that stand on no board."""
    columns = []
    for board in site.boards:
        plan = board.plan
        data = "" if plan.family == "core" else f" ({plan.title})"
        for scores in board.shown:
            column = scores.column
            if column.ranked and scores.scores:
                values = {
                    m: formats.in_unit(s.middle, column.maximum) for m, s in sorted(scores.scores.items())
                }
                title = f"{plan.discipline.capitalize()} {short_title(scores)}{data}"
                maximum = formats.in_unit(column.maximum, column.maximum)
                columns.append(AgreementColumn(title, maximum, values, plan.discipline, column.headline))
    for table, score in _outside_rankings(site, [column for column in CORRELATED if column.column]):
        found = {m: joined.score(table.id, score.id) for m, joined in sorted(site.same.items())}
        values = {m: s.value for m, s in found.items() if s and m in site.models}
        title = f"{table.title} {score.title}, as published"
        if len(values) >= FEWEST:
            of_all = frozenset(values)
            columns.append(AgreementColumn(title, score.maximum, values, table.discipline, reported=of_all))
    models = sorted({m for board in site.boards for m in board.models})
    return Matrix("agreement", columns, {model: site.models[model].label for model in models})


def _outside_rankings(
    site: Gathered, columns: Iterable[FrontColumn]
) -> list[tuple[PublishedTable, PublishedColumn]]:
    """Published rankings, with their headlines, that are in none of these columns."""
    placed = {place for column in columns for place in column.reported}
    headlines = [(table, table.headline) for table in site.reported.boards.values()]
    return [(table, score) for table, score in headlines if score and (table.id, score.id) not in placed]


def _all_models_matrix(site: Gathered) -> Matrix:
    """The columns of the table of all models in which some model has a score or a reported figure.

    Models are named by their place in the table.
    """
    outside = [
        FrontColumn(
            id=table.id,
            name=f"{table.title} {score.title}, as published",
            tasks=0,
            board=table.discipline,
            column="",
            maximum=score.maximum,
            published=((table.id, score.id),),
        )
        for table, score in _outside_rankings(site, CORRELATED)
    ]
    correlated = (*CORRELATED, *outside)
    rows = model_rows(site, correlated) if site.has_all_models else []
    columns = []
    for column in correlated:
        cells = {str(place): row.cells[column.id] for place, row in enumerate(rows) if column.id in row.cells}
        if cells:
            maximum = formats.in_unit(column.maximum, column.maximum)
            # Rounded as in the table's file: equal scores from two sources stay equal.
            values = {key: maximum * round(cell.share, 6) for key, cell in cells.items()}
            title = f"{column.title} {column.small}" if column.title else column.name
            reported = frozenset(key for key, cell in cells.items() if cell.grade == REPORTED)
            columns.append(AgreementColumn(title, maximum, values, column.discipline, reported=reported))
    return Matrix("agreement-all-models", columns, {str(place): row.name for place, row in enumerate(rows)})


def _table(matrix: Matrix) -> Section:

    def coefficient(value: float, low: float, high: float) -> Value:
        span = f"{formats.coefficient(low)} to {formats.coefficient(high)}"
        small = "" if math.isnan(low) else span
        return Value(formats.coefficient(value), small, value, {"low": low, "high": high})

    rows = []
    for pair in matrix.pairs.values():
        c = pair.correlation
        rows.append(
            (
                Value(pair.left.title),
                Value(pair.right.title),
                Value(str(c.n), number=c.n),
                Value(str(pair.reported), number=pair.reported),
                coefficient(c.spearman, c.spearman_low, c.spearman_high),
                coefficient(c.kendall, c.kendall_low, c.kendall_high),
            )
        )
    numbers = ("Models", "With a reported figure", "Spearman", "Kendall")
    return Section("Agreement of every two columns", "", ("Left", "Right", *numbers), tuple(rows))
