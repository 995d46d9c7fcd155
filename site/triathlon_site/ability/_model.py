"""One ability a model, fitted to columns of scores that only some of the models have.

    logit(score of model m in column c) = a_c theta_m - b_c + scatter + noise of the tasks

The two-parameter item response model (Birnbaum 1968) with columns in place of items. theta_m is normal around
g t_m with standard deviation 1, t_m the model's date of release (latent regression, Mislevy 1984): most new
models have a single column, and without t_m they would be drawn towards models that are years older. The
scatter says that a column measures something of its own; its density is Student's t, since a model can do far
worse in one column than in all others. g, a_c, b_c and the scatter's scale s_c maximise the marginal
likelihood (Bock and Aitkin 1981) with weak priors; theta is integrated over a grid.
"""

from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from scipy.optimize import minimize
from scipy.sparse import csr_array
from scipy.special import expit, gammaln, logit, logsumexp

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
        spread = float(np.std(known)) if len(known) else 0.0
        dates = np.nan_to_num((released - np.mean(known)) / spread) if spread else np.zeros(len(scores))
        model, column = np.nonzero(~np.isnan(scores))
        count = np.broadcast_to(tasks, scores.shape)[model, column]
        share = (scores[model, column] * count + 0.5) / (count + 1)
        variances = 1 / (count * share * (1 - share))
        models, columns = scores.shape
        return cls(models, columns, model, column, logit(share), variances, dates)

    def where(self, chosen: np.typing.NDArray[np.bool_]) -> "Cells":
        """The chosen cells of the same table."""
        return replace(
            self,
            model=self.model[chosen],
            column=self.column[chosen],
            logits=self.logits[chosen],
            variances=self.variances[chosen],
        )


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
    if start is None:
        count = np.maximum(1, np.bincount(cells.column, minlength=cells.columns))
        means = np.bincount(cells.column, cells.logits, minlength=cells.columns) / count
        start = Columns(np.ones(cells.columns), -means, np.full(cells.columns, _SCATTER), 0.0)
    result = minimize(_objective, _parameters(start), args=(cells,), jac=True, method="L-BFGS-B")
    return _columns(result.x)


def _parameters(columns: Columns) -> Array:
    return np.concatenate(
        [np.log(columns.slopes), columns.offsets, np.log(columns.scatters), [columns.trend]]
    )


def _columns(parameters: Array) -> Columns:
    slopes, offsets, scatters = np.split(parameters[:-1], 3)
    return Columns(np.exp(slopes), offsets, np.exp(scatters), float(parameters[-1]))


def _objective(parameters: Array, cells: Cells) -> tuple[float, Array]:
    """Minus the log posterior density of the columns' parameters, and its gradient."""
    totals, slopes = _likelihoods(parameters, cells)
    distance = (parameters - _prior_centres(cells.columns)) / _prior_spreads(cells.columns)
    gradient = distance / _prior_spreads(cells.columns) - slopes.sum(axis=0)
    return float(0.5 * distance @ distance - totals.sum()), gradient


def _prior_centres(columns: int) -> Array:
    return np.append(np.repeat([0.0, 0.0, np.log(_SCATTER)], columns), 0.0)


def _prior_spreads(columns: int) -> Array:
    return np.append(np.repeat([_SLOPE_SPREAD, _OFFSET_SPREAD, _SCATTER_SPREAD], columns), _TREND_SPREAD)


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


def predict_scores(
    columns: Columns, posterior: Array, column: int, tasks: int, random: np.random.Generator, draws: int
) -> Array:
    """Scores in 0..1 that a model with this posterior, shape (grid,), may have in a column of `tasks`
    tasks.
    """
    ability = random.choice(GRID, size=draws, p=posterior)
    scatter = columns.scatters[column] * random.standard_t(FREEDOM, size=draws)
    share = expit(columns.slopes[column] * ability - columns.offsets[column] + scatter)
    return np.asarray(random.binomial(tasks, share) / tasks)
