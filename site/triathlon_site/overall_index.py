"""One ability a model, fitted to columns of scores that only some of the models have.

    logit(score of model m in column c) = a_c theta_m - b_c + scatter + noise of the tasks

The two-parameter item response model (Birnbaum 1968) with columns in place of items. theta_m is normal around
g t_m with standard deviation 1, t_m the model's date of release (latent regression, Mislevy 1984): most new
models have a single column, and without t_m they would be drawn towards models that are years older. The
scatter says that a column measures something of its own; its density is Student's t, since a model can do far
worse in one column than in all others. g, a_c, b_c and the scatter's scale s_c maximise the marginal
likelihood (Bock and Aitkin 1981) with weak priors; theta is integrated over a grid.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from scipy.sparse import csr_array
from scipy.special import gammaln, logit, logsumexp

from triathlon_site.ranking import Rank, smallest_ranks
from triathlon_site.uncertainty import LEVEL, rounded

Array = np.typing.NDArray[np.float64]
Places = np.typing.NDArray[np.int64]

FREEDOM: Final = 4.0
"""Degrees of freedom of the scatter."""
GRID: Final = np.linspace(-4.5, 4.5, 61)
"""Abilities at which the posterior is computed, in standard deviations of models of one date."""
_CONSTANT: Final = float(gammaln((FREEDOM + 1) / 2) - gammaln(FREEDOM / 2) - 0.5 * np.log(FREEDOM * np.pi))
_SLOPE_SPREAD: Final = 0.5
"""Prior standard deviation of log a_c, around a_c = 1."""
_OFFSET_SPREAD: Final = 3.0
"""Prior standard deviation of b_c, in logits."""
_SCATTER: Final = 0.2
"""Prior median of s_c, in logits."""
_SCATTER_SPREAD: Final = 0.5
"""Prior standard deviation of log s_c."""
_TREND_SPREAD: Final = 1.0
"""Prior standard deviation of g."""
CENTRE: Final = 50.0
"""The index of the mean of all rows that the index was fitted to, snapshots of one product each."""
POINTS: Final = 10.0
"""Index points of one standard deviation of all models, or of `SMALLEST_UNIT`."""
SMALLEST_UNIT: Final = 0.5
"""Least standard deviation of abilities that is a unit of the index, in those of models of one date. Nearly
equal models have a smaller one: noise, which as a unit would put an interval's ends thousands of points from
the mean. `GRID` is 9 wide, so no end is further from the mean than 9.15 / 0.5 units, 183 points."""
SMALLEST_SPREAD: Final = 1e-6
"""Standard deviation of dates below which all of them are equal but for rounding errors."""
RESAMPLES: Final = 200
DRAWS_EACH: Final = 10


@dataclass(frozen=True, slots=True)
class Cells:
    """The known scores of a table of models x columns, on the logit scale; arrays of shape (cells,)."""

    models: int
    columns: int
    model: Places
    """Row of each cell, ascending; a model may have no cell."""
    column: Places
    logits: Array
    variances: Array
    """Of the logits, from the number of tasks."""
    dates: Array
    """t_m, shape (models,): release in standard deviations from the mean of all models; 0 where unknown."""

    @classmethod
    def from_scores(cls, scores: Array, tasks: Array, released: Array) -> "Cells":
        """The cells of `scores` in 0..1, shape (models, columns), nan where a model has none.

        `tasks` has shape (columns,) or (models, columns), `released` (years, nan where unknown) shape
        (models,). Half a task is added to the solved and to the unsolved, so that 0 and 1 have a logit.
        """
        known = released[~np.isnan(released)]
        mean, spread = (float(np.mean(known)), float(np.std(known))) if len(known) else (0.0, 0.0)
        dates = np.nan_to_num((released - mean) / (spread if spread > SMALLEST_SPREAD else 1.0))
        model, column = np.nonzero(~np.isnan(scores))
        count = np.broadcast_to(tasks, scores.shape)[model, column]
        share = (scores[model, column] * count + 0.5) / (count + 1)
        variances = 1 / (count * share * (1 - share))
        models, columns = scores.shape
        return cls(models, columns, model, column, logit(share), variances, dates)


@dataclass(frozen=True, slots=True)
class Columns:
    """What is fitted for each column; arrays of shape (columns,)."""

    slopes: Array
    """a_c: logits a standard deviation of ability."""
    offsets: Array
    """b_c, in logits."""
    scatters: Array
    """s_c: scale of the scatter, in logits."""
    trend: float
    """g: growth of ability in one standard deviation of the release date."""


def fit_columns(cells: Cells, start: Columns | None = None) -> Columns:
    """The columns' parameters at the largest posterior density; a near `start` saves time."""
    from scipy.optimize import minimize  # noqa: PLC0415  a fifth of a second, which most commands do not need

    if start is None:
        count = np.maximum(1, np.bincount(cells.column, minlength=cells.columns))
        means = np.bincount(cells.column, cells.logits, minlength=cells.columns) / count
        start = Columns(np.ones(cells.columns), -means, np.full(cells.columns, _SCATTER), 0.0)
    result = minimize(_objective, _parameters(start), args=(cells,), jac=True, method="L-BFGS-B")
    return _columns(result.x)


def _parameters(columns: Columns) -> Array:
    slopes, scatters = np.log(columns.slopes), np.log(columns.scatters)
    return np.concatenate([slopes, columns.offsets, scatters, [columns.trend]])


def _columns(parameters: Array) -> Columns:
    slopes, offsets, scatters = np.split(parameters[:-1], 3)
    return Columns(np.exp(slopes), offsets, np.exp(scatters), float(parameters[-1]))


def _objective(parameters: Array, cells: Cells) -> tuple[float, Array]:
    """Minus the log posterior density of the columns' parameters, and its gradient."""
    totals, slopes = _likelihoods(parameters, cells)
    centres = np.append(np.repeat([0.0, 0.0, np.log(_SCATTER)], cells.columns), 0.0)
    spreads = [_SLOPE_SPREAD, _OFFSET_SPREAD, _SCATTER_SPREAD]
    spread = np.append(np.repeat(spreads, cells.columns), _TREND_SPREAD)
    distance = (parameters - centres) / spread
    gradient = distance / spread - slopes.sum(axis=0)
    return float(0.5 * distance @ distance - totals.sum()), gradient


def _likelihoods(parameters: Array, cells: Cells) -> tuple[Array, Array]:
    """Each model's log marginal likelihood, shape (models,), and its derivatives, (models, parameters)."""
    columns = _columns(parameters)
    residuals, variances = _residuals(columns, cells)
    log_joint = _log_joint(residuals, variances, columns.trend, cells)
    totals = logsumexp(log_joint, axis=1)
    densities = np.exp(log_joint - totals[:, None])
    posterior = densities[cells.model]
    square = residuals**2
    share = (FREEDOM + 1) / (FREEDOM * variances + square)
    by_residual = -share * residuals * posterior
    by_variance = (0.5 * (share * square - 1) / variances * posterior).sum(axis=1)
    table = np.zeros((3, cells.models, cells.columns))
    table[:, cells.model, cells.column] = by_residual @ GRID, by_residual.sum(axis=1), by_variance
    by_trend = (densities @ GRID - columns.trend * cells.dates) * cells.dates
    parts = -columns.slopes * table[0], table[1], 2 * columns.scatters**2 * table[2], by_trend[:, None]
    return totals, np.concatenate(parts, axis=1)


def resample_columns(
    columns: Columns, cells: Cells, random: np.random.Generator, count: int
) -> tuple[Columns, ...]:
    """`count` fits to models drawn with replacement, each by one Newton step from `columns`.

    One step is as good as a whole fit to the order of the bootstrap's own error (Davidson and MacKinnon 1999,
    "Bootstrap testing in nonlinear models"), at a hundredth of the time.
    """
    best = _parameters(columns)
    step = 1e-4
    curvature = [
        (_objective(best + shift, cells)[1] - _objective(best - shift, cells)[1]) / (2 * step)
        for shift in step * np.eye(len(best))
    ]
    inverse = np.linalg.inv((np.array(curvature) + np.array(curvature).T) / 2)
    _, slopes = _likelihoods(best, cells)
    drawn = random.multinomial(cells.models, np.full(cells.models, 1 / cells.models), size=count)
    return tuple(_columns(best + inverse @ change) for change in (drawn - 1) @ slopes)


def _residuals(columns: Columns, cells: Cells) -> tuple[Array, Array]:
    """Residuals, shape (cells, grid), and squared scales, shape (cells, 1)."""
    slopes, offsets, scatters = (
        array[cells.column][:, None] for array in (columns.slopes, columns.offsets, columns.scatters)
    )
    return cells.logits[:, None] - slopes * GRID + offsets, scatters**2 + cells.variances[:, None]


def _log_joint(residuals: Array, variances: Array, trend: float, cells: Cells) -> Array:
    """Log density of each model's cells and ability, but for a constant; shape (models, grid)."""
    log_t = (
        _CONSTANT
        - 0.5 * np.log(variances)
        - (FREEDOM + 1) / 2 * np.log1p(residuals**2 / (FREEDOM * variances))
    )
    ones = np.ones(len(cells.model))
    by_model = csr_array((ones, (cells.model, np.arange(len(ones)))), shape=(cells.models, len(ones)))
    return by_model @ log_t - 0.5 * (GRID - trend * cells.dates[:, None]) ** 2


def abilities(columns: Columns, cells: Cells) -> Array:
    """Each model's posterior over `GRID`, shape (models, grid); rows sum to 1."""
    log_joint = _log_joint(*_residuals(columns, cells), columns.trend, cells)
    return np.asarray(np.exp(log_joint - logsumexp(log_joint, axis=1)[:, None]))


@dataclass(frozen=True, slots=True)
class IndexRow:
    """One model's index, with its interval, in index points."""

    value: float
    low: float
    high: float
    rank: Rank
    columns: int
    """How many columns it rests on."""


@dataclass(frozen=True, slots=True)
class Index:
    """The index of all models of a table, in the table's order."""

    rows: tuple[IndexRow, ...]
    draws: Array
    """Abilities, shape (draws, models): what intervals and ranks are quantiles of."""

    def among(self, places: Sequence[int]) -> "Index":
        """The index of some of the models, ranked among themselves; values and intervals stay as they are."""
        if list(places) == list(range(len(self.rows))):
            return self
        draws, rows = self.draws[:, places], [self.rows[place] for place in places]
        equal = [[i for i, other in enumerate(rows) if other == row] for row in dict.fromkeys(rows)]
        found = _ranks(np.array([row.value for row in rows]), draws, equal)
        return Index(tuple(replace(row, rank=rank) for row, rank in zip(rows, found, strict=True)), draws)


def _ranks(values: Array, draws: Array, groups: Sequence[Sequence[int]]) -> list[Rank]:
    """The rank of each model with its interval, the same for the models of a group."""
    drawn = 1 + (-draws).argsort(axis=1).argsort(axis=1)
    tail = (1 - LEVEL) / 2
    places = smallest_ranks(values)
    shared = Counter(places)
    ranks: dict[int, Rank] = {}
    for group in groups:
        ends = np.quantile(drawn[:, group], [tail, 1 - tail], method="closest_observation")
        best, worst = map(int, ends)
        place = places[group[0]] or len(values)
        rank = Rank(place, shared[place] > 1, min(best, place), max(worst, place))
        ranks |= dict.fromkeys(group, rank)
    return [ranks[model] for model in range(len(values))]


def compute_index(scores: Array, tasks: Array, released: Array) -> Index:
    """The index of each row of `scores`, which are 0 to 1, models × columns, nan where there is none.

    The value is the posterior mean of the ability. Intervals at 95 %: models are drawn with replacement
    `RESAMPLES` times, the columns fitted to each draw, and `DRAWS_EACH` abilities of every model drawn from
    its posterior under that fit. Models with the same scores and date get the same row. `tasks` and
    `released` are as in `Cells.from_scores`.

    Raises:
        ValueError: a model without any score.
    """
    if np.isnan(scores).all(axis=1).any():
        raise ValueError("every model of the index needs a score in some column")
    groups = _equal_rows(scores, tasks, released)
    order = np.concatenate(groups)
    tasks = np.broadcast_to(tasks, scores.shape)
    cells = Cells.from_scores(scores[order], tasks[order], released[order])
    fitted = fit_columns(cells)
    place_of = np.argsort(order)
    draws = _draws(cells, fitted, np.random.default_rng(0))[:, place_of]
    means = (abilities(fitted, cells) @ GRID)[place_of]
    for group in groups:
        means[group] = np.mean(means[group])
    means = rounded(means)
    ranks = _ranks(means, draws, [group.tolist() for group in groups])
    centre, spread = float(np.mean(means[order])), _unit(means[order])
    tail = (1 - LEVEL) / 2
    columns = np.bincount(cells.model, minlength=cells.models)[place_of]
    rows: dict[int, IndexRow] = {}
    for group in groups:
        model = int(group[0])
        ends = (means[model], *np.quantile(draws[:, group], [tail, 1 - tail]))
        value, low, high = (float(CENTRE + POINTS * (end - centre) / spread) for end in ends)
        row = IndexRow(value, min(low, value), max(high, value), ranks[model], int(columns[model]))
        rows |= dict.fromkeys(group.tolist(), row)
    return Index(tuple(rows[model] for model in range(len(scores))), draws)


def _equal_rows(scores: Array, tasks: Array, released: Array) -> list[Places]:
    """The numbers of the models that have the same scores and date, group by group.

    The order of the groups depends on their scores alone. The index is computed in this order, and equal
    models share their draws, so neither names nor the order of the table change an index.
    """
    table = np.column_stack([scores, np.broadcast_to(tasks, scores.shape), released])
    _, group = np.unique(np.nan_to_num(table, nan=-1.0), axis=0, return_inverse=True)
    return [np.flatnonzero(group.ravel() == number) for number in range(int(group.max()) + 1)]


def _unit(means: Array) -> float:
    """The abilities' standard deviation, or `SMALLEST_UNIT`."""
    return max(float(np.std(means)), SMALLEST_UNIT)


def years(day: str) -> float:
    """The middle of the month of a day or month, or of a year, in years; nan for an empty text.

    Raises:
        ValueError: the text is none of these.
    """
    if not day:
        return float("nan")
    year, _, number = day[:7].partition("-")
    return int(year) + ((int(number) - 0.5) / 12 if number else 0.5)


def _draws(cells: Cells, fitted: Columns, random: np.random.Generator) -> Array:
    """Abilities, shape (RESAMPLES * DRAWS_EACH, models).

    A fit to other models may have another unit and zero of ability; they are brought back by the mean and
    standard deviation over all models, where these are units (`SMALLEST_UNIT`).
    """
    reference = abilities(fitted, cells) @ GRID
    step = GRID[1] - GRID[0]
    parts = []
    for columns in resample_columns(fitted, cells, random, RESAMPLES):
        posterior = abilities(columns, cells)
        uniform = random.random((DRAWS_EACH, cells.models, 1))
        places = (posterior.cumsum(axis=1) < uniform).sum(axis=2).clip(max=len(GRID) - 1)
        values = GRID[places] + step * (random.random(places.shape) - 0.5)
        means = posterior @ GRID
        scale = _unit(reference) / _unit(means)
        parts.append(np.mean(reference) + scale * (values - np.mean(means)))
    return np.concatenate(parts)
