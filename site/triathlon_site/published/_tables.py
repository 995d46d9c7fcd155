"""The published tables: rows in their source's order, ranks with ties, rank shifts, intervals; and one model
under the names that different tables give it.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final

import numpy as np

from triathlon_runner.errors import UserError
from triathlon_runner.loop import PAPER_LOOPS
from triathlon_site.agreement import sensitivity
from triathlon_site.models import Record
from triathlon_site.published._columns import (
    PublishedColumn,
    columns_of,
    exact,
    number_in,
    spread,
    sustained,
    with_numbers,
)
from triathlon_site.published._read import Published, Snapshot, Source
from triathlon_site.ranking import REPORTED, Score, better_in_draws, ranks, shifts
from triathlon_site.render import Value, formats
from triathlon_site.uncertainty import DRAWS, Interval, rounded

IN_PAPER: Final = "in_paper"
"""A column with 1 in the rows of the paper's own table, where a file has others beside them."""


@dataclass(frozen=True, slots=True)
class PublishedRow:
    """One model of one table."""

    name: str
    organization: str
    record: Record
    ranked: bool
    """False for a mean of the models, or a run by other rules, that stands among them."""
    scores: dict[str, Score]
    curve: tuple[float, ...]
    """Share of tasks, in per cent, that sustain at least 1…M loops; empty where it is not published."""

    def value(self, column: str) -> float | None:
        """The score in a column; None where it has none."""
        score = self.scores.get(column)
        return score.value if score else None

    @property
    def kind(self) -> str | None:
        """`instruct` or `base`, where the table says which."""
        return {"1": "instruct", "0": "base"}.get(self.record.get("prompted", ""))


@dataclass(frozen=True)
class PublishedTable:
    """One published table."""

    id: str
    discipline: str
    source: Source
    columns: tuple[PublishedColumn, ...]
    rows: tuple[PublishedRow, ...]
    page: str
    """Its page, from the site's root: that of the first table of the same paper or board."""

    @property
    def title(self) -> str:
        return self.source.short

    @cached_property
    def models(self) -> list[PublishedRow]:
        """The ranked rows."""
        return [row for row in self.rows if row.ranked]

    @property
    def headline(self) -> PublishedColumn | None:
        """The score that it ranks by; None for a table that ranks nobody."""
        return next((column for column in self.columns if column.headline), None)

    @property
    def baseline(self) -> PublishedColumn | None:
        return next((column for column in self.columns if column.role == "baseline"), None)

    def text(self, row: PublishedRow, column: PublishedColumn) -> str:
        """A cell as it is shown; empty for an empty one."""
        if column.role == "text":
            return row.record.get(column.id, "")
        score = row.scores.get(column.id)
        return score.text if score else ""

    def span(self, column: PublishedColumn) -> str:
        """The lowest and the highest number of a column."""
        known = [row.scores[column.id].value for row in self.models if column.id in row.scores]
        return f"{column.shown(min(known))}–{column.shown(max(known))}" if known else ""

    def scores(self, column: PublishedColumn, *, in_paper: bool = False) -> dict[str, float]:
        """The scores that ranks go by, by model; with `in_paper`, of the rows of the paper's own table."""
        by_id = {each.id: each for each in self.columns}
        rows = [row for row in self.models if column.id in row.scores]
        chosen = [row for row in rows if not in_paper or row.record.get(IN_PAPER, "1") == "1"]
        return {row.name: exact(column, by_id, row.record) for row in chosen}

    @cached_property
    def derived(self) -> dict[str, list[Value]]:
        """By title, rank shifts from the baseline to the headline; without a headline, mean ranks of the
        variants: a cell a row.
        """
        shown: Callable[[Any], str] = formats.shift
        if self.baseline is None:
            return {}
        if self.headline:
            title = f"Rank shift against {self.baseline.title}"
            found: Mapping[str, float] = shifts(self.scores(self.headline), self.scores(self.baseline))
        else:
            title, shown = "Mean rank of the others", "{:.1f}".format
            found = sensitivity(self.scores(self.baseline), self.variants).mean_ranks
        numbers = (found.get(row.name) for row in self.rows)
        return {title: [Value(formats.NONE if n is None else shown(n), number=n) for n in numbers]}

    @property
    def variants(self) -> dict[str, dict[str, float]]:
        """Of a table with a baseline and no headline: the scores of each other column."""
        return {c.title: self.scores(c) for c in self.columns if c.ranked and c is not self.baseline}


def published_tables(published: Published) -> tuple[PublishedTable, ...]:
    """Every table of `sources.csv`, in its order.

    Raises:
        UserError: a cell that is no number where one is needed, or a list of columns that does not fit.
    """
    first: dict[str, str] = {}
    for name, source in published.sources.items():
        first.setdefault(source.short, name)
    tables = []
    for name, source in published.sources.items():
        records = published.tables[name]
        columns = columns_of(name, source.columns, list(records[0]) if records else [])
        try:
            tables.append(_table(source, records, columns, f"published/{first[source.short]}.html"))
        except UserError as error:
            raise UserError(f"{name}.csv: {error}") from None
    return tuple(tables)


def _table(
    source: Source, records: Sequence[Record], listed: Sequence[PublishedColumn], page: str
) -> PublishedTable:
    columns = tuple(with_numbers(column, records) for column in listed)
    ranked = [record.get("kind", "model") == "model" for record in records]
    note = f"reported by {source.short}, {source.as_of}"
    none = Score(
        math.nan, Interval(), grade=REPORTED, link=page, date=source.as_of, note=note, source=source.short
    )
    numbers = (column for column in columns if column.role != "text" and records)
    scores = {column.id: _scores(records, ranked, column, columns, none) for column in numbers}
    rows = [
        PublishedRow(
            name=record["model"],
            organization=record.get("organization", ""),
            record=record,
            ranked=ranked[place],
            scores={name: score for name, column in scores.items() if (score := column[place])},
            curve=_curve(sustained(record)),
        )
        for place, record in enumerate(records)
    ]
    return PublishedTable(source.table, source.discipline, source, columns, tuple(rows), page)


def _curve(counts: Sequence[int]) -> tuple[float, ...]:
    """By loop, the share in per cent of the tasks that sustain at least so many."""
    whole = sum(counts)
    return tuple(100 * sum(counts[loop:]) / whole for loop in range(1, PAPER_LOOPS + 1)) if whole else ()


def _scores(
    records: Sequence[Record],
    ranked: Sequence[bool],
    column: PublishedColumn,
    columns: Sequence[PublishedColumn],
    none: Score,
) -> list[Score | None]:
    """By row; None where it has none. Of scores without draws each has its rank for sure.

    `none`: what all scores of the table have in common.
    """
    by_id = {each.id: each for each in columns}
    values = np.array([column.value(record) for record in records])
    spreads = [spread(column, by_id, record) for record in records]
    shown = np.array(ranked) & column.ranked & ~np.isnan(values)
    precise = [exact(column, by_id, r) if use else math.nan for r, use in zip(records, shown, strict=True)]
    scores = rounded(np.array(precise))
    better = scores[:, None] > scores[None, :]
    intervals = defaultdict[int, Interval](Interval)
    if drawn := {place: each for place, each in enumerate(spreads) if each}:
        draws = np.tile(scores, (DRAWS, 1))
        for place in (place for place in drawn if not math.isnan(scores[place])):
            draws[:, place] = drawn[place].draws
        better = better_in_draws(draws, draws)
        for place, each in drawn.items():
            value = float(values[place])
            intervals[place] = Interval(min(each.low, value), max(each.high, value))
    places = ranks(scores, better)
    result: list[Score | None] = []
    for place, (record, value) in enumerate(zip(records, values.tolist(), strict=True)):
        deviation = number_in(record, f"{column.id}_std")
        score = replace(
            none,
            value=value,
            interval=intervals[place],
            rank=places[place],
            text=column.shown(value, record[column.id]),
            deviation=None if math.isnan(deviation) else deviation,
            maximum=column.maximum,
        )
        result.append(None if math.isnan(value) else score)
    return result


@dataclass(frozen=True, slots=True)
class JoinedModel:
    """A model with its row in each source that has it."""

    name: str
    rows: dict[str, PublishedRow]
    """By board id."""
    snapshot: Snapshot | None = None
    """Of a product that the sources ran in several snapshots, or without naming one."""

    def older_than(self, other: "JoinedModel") -> bool:
        """Whether both are snapshots of one product, and one source distinguishes it from a newer one."""
        if not (self.snapshot and other.snapshot and self.snapshot.product == other.snapshot.product):
            return False
        newer = bool(self.snapshot.month) and self.snapshot.month < other.snapshot.month
        return newer and not self.rows.keys().isdisjoint(other.rows)

    def score(self, board: str, column: str) -> Score | None:
        """Its score in a column of a ranking; None where it has none."""
        row = self.rows.get(board)
        return row.scores.get(column) if row else None


def join_models(published: Published, boards: Sequence[PublishedTable]) -> tuple[JoinedModel, ...]:
    """Every model of every ranking once; each snapshot of a product is one of its own.

    Reviewed aliases join names. A ranking that `aliases.csv` has no column for uses the names of its column
    `model`, or a name that only one of the other rankings has.

    Raises:
        UserError: `products.csv` takes the names of one model for several snapshots.
    """
    named = set(published.aliases[0]) if published.aliases else set()
    by_name = {board.id: {row.name: row for row in board.models} for board in boards}
    joined = [
        JoinedModel(alias["model"], {s: rows[alias[s]] for s, rows in by_name.items() if alias.get(s)})
        for alias in published.aliases
    ]
    taken = {(source, row.name) for model in joined for source, row in model.rows.items()}
    for board in sorted(boards, key=lambda board: board.id not in named):
        known = Counter(model.name for model in joined)
        for row in board.models:
            if (board.id, row.name) in taken:
                continue
            if board.id not in named and known[row.name] == 1:
                next(model for model in joined if model.name == row.name).rows[board.id] = row
            else:
                joined.append(JoinedModel(row.name, {board.id: row}))
    return tuple(_as_product(model, published) for model in joined)


def _as_product(model: JoinedModel, published: Published) -> JoinedModel:
    """The model under its name as a snapshot of a product, where `products.csv` has it."""
    found = {source: published.products.get((source, row.name)) for source, row in model.rows.items()}
    first = next(filter(None, found.values()), None)
    if first is None:
        is_product = model.name in {one.product for one in published.products.values()}
        return replace(model, snapshot=Snapshot(model.name, model.name, "", "")) if is_product else model
    if wrong := [source for source, one in found.items() if one and one != first]:
        raise UserError(
            f"products.csv: expected all names of {model.name!r} to be one snapshot of {first.product!r}, got"
            f" {model.rows[wrong[0]].name!r} of {wrong[0]!r} as {found[wrong[0]]!r}; correct one of the rows"
        )
    return JoinedModel(first.model, model.rows, first)
