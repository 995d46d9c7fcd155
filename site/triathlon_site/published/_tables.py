"""The published rankings: columns, ranks with ties, and the uncertainty that the number of tasks implies.

Columns and the formulas behind them are facts about one paper each, so they name benchmarks and disciplines.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

import numpy as np

from triathlon_runner.errors import UserError
from triathlon_runner.loop import asl_of_counts
from triathlon_site import analysis
from triathlon_site.csv_file import Record
from triathlon_site.published._read import Published, Source
from triathlon_site.ranking import Rank, better_in_draws, ranks, smallest_ranks
from triathlon_site.uncertainty import DRAWS, STEP, Interval, generator, interval, rounded

LOOPS: Final = 10
HUMANEVAL_TASKS: Final = 164
CHANGED_TASKS: Final = 100
"""Problems in each semantic-altering set (EvoEval, section 3)."""
MBPP_PLUS_TASKS: Final = 378
CRUXEVAL_TASKS: Final = 800
AVERAGED: Final = (analysis.SEED, *analysis.SEMANTIC_ALTERING)


Array = np.typing.NDArray[np.float64]
ENDS: Final = ((0.5, 0.5), (0.5 - STEP, 0.5 + STEP), (0.5 + STEP, 0.5 - STEP))
"""Pseudo-tasks added to the solved and to the unsolved tasks: for `draws`, `low` and `high`."""


class Spread(NamedTuple):
    """Scores of one row under resampled tasks, as `uncertainty.draw` and `draw_ends` have them."""

    draws: Array
    low: Array
    """For the lower end of the interval."""
    high: Array


@dataclass(frozen=True, slots=True)
class PublishedColumn:
    """One column of a published table."""

    id: str
    title: str
    maximum: float
    draws: Callable[[Record], Spread | None] = lambda _: None
    """Draws of a row's score; None where the number of tasks behind it is not known."""
    headline: bool = False
    baseline: bool = False
    field: str = ""
    """Name in the CSV file, where it differs from the id."""
    deviation: str = ""
    """Field of the published standard deviation over repeats."""
    unrounded: Callable[[Record], float] | None = None
    """The score that ranks go by, where it is known with more digits than were printed."""

    def value(self, record: Record) -> float:
        """Nan for an empty cell.

        Raises:
            UserError: the cell holds something else than a number from 0 to the column's maximum.
        """
        field = self.field or self.id
        value = number_in(record, field)
        if not (math.isnan(value) or 0 <= value <= self.maximum):
            raise UserError(
                f"published figures of {record['model']!r}: expected {field} from 0 to {self.maximum:g},"
                f" got {record[field]!r}; correct the table in results/published/"
            )
        return value


@dataclass(frozen=True, slots=True)
class PublishedScore:
    value: float
    rank: Rank
    """`low` and `high` equal the rank where the score's spread is not known."""
    interval: Interval | None
    deviation: float | None
    shift: int | None = None


@dataclass(frozen=True, slots=True)
class PublishedRow:
    """One model of one table."""

    name: str
    organization: str
    size: str
    link: str
    record: Record
    scores: dict[str, PublishedScore]

    def value(self, column: str) -> float | None:
        """The score in a column; None where it has none."""
        score = self.scores.get(column)
        return score.value if score else None

    @property
    def curve(self) -> tuple[float, ...]:
        """Share of tasks, in per cent, that sustain at least 1…M loops; empty where it is not published."""
        counts = sustained(self.record)
        if not counts:
            return ()
        return tuple(100 * sum(counts[loop:]) / sum(counts) for loop in range(1, LOOPS + 1))


@dataclass(frozen=True, slots=True)
class PublishedBoard:
    """One published ranking."""

    id: str
    title: str
    discipline: str
    sources: tuple[Source, ...]
    columns: tuple[PublishedColumn, ...]
    rows: tuple[PublishedRow, ...]
    """By the headline's rank, then name."""

    @property
    def page(self) -> str:
        """Its page, from the site's root."""
        return f"published/{self.id}.html"

    @property
    def headline(self) -> PublishedColumn:
        return next(column for column in self.columns if column.headline)


def number_in(record: Record, field: str) -> float:
    """The number in a cell; nan for an empty one.

    Raises:
        UserError: the cell holds something else.
    """
    text = record.get(field, "")
    if not text:
        return math.nan
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise UserError(
            f"published figures of {record['model']!r}: expected a number in {field}, got {text!r};"
            " correct the table in results/published/"
        )
    return value


def whole_number(record: Record, field: str) -> int:
    """The count in a cell.

    Raises:
        UserError: the cell holds something else than a whole number from 0.
    """
    value = number_in(record, field)
    if math.isnan(value) or value < 0 or not value.is_integer():
        raise UserError(
            f"published figures of {record['model']!r}: expected a whole number in {field}, got"
            f" {record.get(field, '')!r}; correct the table in results/published/"
        )
    return int(value)


def _binomial(field: str, tasks: int, scale: float) -> Callable[[Record], Spread | None]:
    """Of a pass@1: Beta distributions of the share solved."""

    def draws(record: Record) -> Spread | None:
        share = number_in(record, field) / scale
        if math.isnan(share):
            return None
        passed = share * tasks
        random = generator("published", field, record["model"])
        return Spread(
            *(scale * random.beta(passed + more, tasks - passed + less, size=DRAWS) for more, less in ENDS)
        )

    return draws


def _evoeval_average(record: Record) -> Spread | None:
    """The spread of the mean over six sets whose tasks are correlated, as several come from one seed.

    Which tasks were solved is not published, so the interval is the widest possible: that of sets whose
    scores all rise and fall together.
    """
    spreads = [_binomial(name, _tasks(name), 100.0)(record) for name in AVERAGED]
    sets = [spread for spread in spreads if spread is not None]
    if len(sets) < len(AVERAGED):
        return None
    low, high = (np.mean([np.sort(spread[end]) for spread in sets], axis=0) for end in (1, 2))
    return Spread(np.asarray(np.mean([spread.draws for spread in sets], axis=0)), low, high)


def _evoeval_mean(record: Record) -> float:
    """The mean from whole numbers of solved problems: the paper ranks by it, and prints it rounded."""
    if not all(record.get(name) for name in AVERAGED):
        return math.nan
    shares = [round(number_in(record, name) / 100 * _tasks(name)) / _tasks(name) for name in AVERAGED]
    return 100 * sum(shares) / len(shares)


def _tasks(name: str) -> int:
    return HUMANEVAL_TASKS if name in {"humaneval", "humaneval_plus", "verbose", "concise"} else CHANGED_TASKS


def sustained(record: Record) -> tuple[int, ...]:
    """n_0 … n_M of a row, empty where they are not published."""
    fields = [f"sustained_{loops}" for loops in range(LOOPS + 1)]
    known = all(record.get(field) for field in fields)
    return tuple(whole_number(record, field) for field in fields) if known else ()


def _asl(record: Record) -> Spread | None:
    """ASL from the published counts, s = 1, scaled to the published score (which had a judge)."""
    counts = sustained(record)
    if not counts:
        return None
    score = number_in(record, "asl")
    if sum(counts) != MBPP_PLUS_TASKS:
        raise UserError(
            f"published figures of {record['model']!r}: expected sustained_0 to sustained_{LOOPS} with the"
            f" sum {MBPP_PLUS_TASKS}, got {sum(counts)}; correct the table in results/published/"
        )
    random = generator("published", "asl", record["model"])
    of_counts = asl_of_counts(counts, LOOPS)
    if score and not of_counts:
        raise UserError(
            f"published figures of {record['model']!r}: expected asl 0, since no task sustains a loop, got"
            f" {record['asl']!r}; correct the table in results/published/"
        )
    factor = score / of_counts if of_counts else 1.0

    def scores(more: float, less: float) -> Array:
        shapes = np.add(counts, [less, *[0.0] * (LOOPS - 1), more])
        weights = np.column_stack(
            [random.gamma(shape, size=DRAWS) if shape else np.zeros(DRAWS) for shape in shapes]
        )
        return np.asarray(factor * (weights @ np.arange(LOOPS + 1) ** 2 / LOOPS / weights.sum(axis=1)))

    return Spread(*(scores(*ends) for ends in ENDS))


def _pass(
    name: str, title: str, tasks: int, *, headline: bool = False, baseline: bool = False
) -> PublishedColumn:
    """A pass@1 (or pass@5) in per cent."""
    draws = _binomial(name, tasks, 100.0)
    return PublishedColumn(name, title, 100, draws, headline=headline, baseline=baseline)


def _of_reval(name: str, title: str, field: str = "") -> PublishedColumn:
    """A mean over repeats, in per cent, with its standard deviation."""
    field = field or name
    return PublishedColumn(name, title, 100, headline=name == "ic", field=field, deviation=f"{field}_std")


EVALOOP: Final = (
    PublishedColumn("asl", "ASL", 10, _asl, headline=True),
    PublishedColumn("pass_at_1", "pass@1", 1, _binomial("pass_at_1", MBPP_PLUS_TASKS, 1.0), baseline=True),
)
REVAL: Final = (
    _of_reval("ic", "IC"),
    *(_of_reval(name, name, f"{name}_accuracy") for name in ("coverage", "state", "path", "output")),
    PublishedColumn("average", "average", 100),
    _of_reval("coverage_f1", "coverage F1"),
)
EVOEVAL: Final = (
    PublishedColumn("evoeval", "Mean pass@1", 100, _evoeval_average, headline=True, unrounded=_evoeval_mean),
    _pass("humaneval", "HumanEval", HUMANEVAL_TASKS, baseline=True),
    _pass("humaneval_plus", "HumanEval+", HUMANEVAL_TASKS),
    *(_pass(name, name.replace("_", " "), _tasks(name)) for name in (*AVERAGED[1:], "verbose", "concise")),
)
EVALPLUS: Final = (
    _pass("humaneval_plus", "HumanEval+", HUMANEVAL_TASKS, headline=True),
    _pass("humaneval", "HumanEval", HUMANEVAL_TASKS, baseline=True),
    _pass("mbpp_plus", "MBPP+", MBPP_PLUS_TASKS),
    _pass("mbpp", "MBPP", MBPP_PLUS_TASKS),
)
CRUXEVAL: Final = tuple(
    _pass(name, f"{side.capitalize()} {title}{how}", CRUXEVAL_TASKS, headline=name == "output")
    for cot, how in (("", ""), ("cot_", ", chain of thought"))
    for side in ("output", "input")
    for k, title in (("", "pass@1"), ("_5", "pass@5"))
    for name in (f"{cot}{side}{k}",)
)


def _of_questions(record: Record) -> Spread | None:
    """Each file has a number of questions of its own."""
    return _binomial("pass_at_1", whole_number(record, "questions"), 100.0)(record)


LIVECODEBENCH: Final = (PublishedColumn("pass_at_1", "pass@1", 100, _of_questions, headline=True),)


def is_model(record: Record) -> bool:
    """Whether a row is ranked: REval's table also holds the mean of its models and a run by other rules."""
    return record.get("kind", "model") == "model"


def published_boards(published: Published) -> tuple[PublishedBoard, ...]:
    """The five rankings, and that of LiveCodeBench where somebody filed outputs of it."""
    plans = (
        ("evaloop", "EVALOOOP", "loop", EVALOOP),
        ("reval", "REval", "runtime", REVAL),
        ("evoeval", "EvoEval", "evolved", EVOEVAL),
        ("evalplus", "EvalPlus", "baseline", EVALPLUS),
        ("cruxeval", "CRUXEval", "runtime", CRUXEVAL),
        ("livecodebench", "LiveCodeBench", "baseline", LIVECODEBENCH),
    )
    return tuple(
        PublishedBoard(
            name,
            title,
            discipline,
            tuple(source for table, source in published.sources.items() if table.startswith(name)),
            columns,
            _rows([record for record in published.tables[name] if is_model(record)], columns),
        )
        for name, title, discipline, columns in plans
        if name in published.tables
    )


def _rows(records: Sequence[Record], columns: Sequence[PublishedColumn]) -> tuple[PublishedRow, ...]:
    scores = {column.id: _scores(records, column) for column in columns}
    baseline = next((column for column in columns if column.baseline), None)
    headline = next(column for column in columns if column.headline)
    if baseline:
        shifted = zip(scores[headline.id], _shifts(records, headline, baseline), strict=True)
        scores[headline.id] = [score and replace(score, shift=shift) for score, shift in shifted]
    rows = [
        PublishedRow(
            name=record["model"],
            organization=record.get("organization", ""),
            size=record.get("size") or (f"{record['size_b']}B" if record.get("size_b") else ""),
            link=record.get("link", ""),
            record=record,
            scores={name: score for name, column in scores.items() if (score := column[place])},
        )
        for place, record in enumerate(records)
    ]

    def place(row: PublishedRow) -> tuple[float, str]:
        score = row.scores.get(headline.id)
        return score.rank.rank if score else math.inf, row.name.lower()

    return tuple(sorted(rows, key=place))


def _ranked_by(records: Sequence[Record], column: PublishedColumn) -> Array:
    score_of = column.unrounded or column.value
    return rounded(np.array([score_of(record) for record in records]))


def _scores(records: Sequence[Record], column: PublishedColumn) -> list[PublishedScore | None]:
    if not records:
        return []
    values = np.array([column.value(record) for record in records])
    spreads = [column.draws(record) for record in records]
    drawn = [
        spread or Spread(*(np.full(DRAWS, value),) * 3) for spread, value in zip(spreads, values, strict=True)
    ]
    draws, low, high = (np.column_stack(ends) for ends in zip(*drawn, strict=True))
    placed = ranks(_ranked_by(records, column), better_in_draws(draws, draws))
    intervals = interval((low, high), values)
    result: list[PublishedScore | None] = []
    for record, value, spread, rank, ends in zip(records, values, spreads, placed, intervals, strict=True):
        published = number_in(record, column.deviation)
        deviation = None if math.isnan(published) else published
        known = ends if spread else None
        result.append(PublishedScore(float(value), rank, known, deviation) if rank else None)
    return result


def _shifts(
    records: Sequence[Record], headline: PublishedColumn, baseline: PublishedColumn
) -> list[int | None]:
    """Rank by the baseline minus rank by the headline, among the rows that have both."""
    scores = np.array([_ranked_by(records, column) for column in (headline, baseline)])
    unknown = np.isnan(scores).any(axis=0)
    places = (smallest_ranks(np.where(unknown, np.nan, values)) for values in scores)
    return [None if new is None or old is None else old - new for new, old in zip(*places, strict=True)]
