"""Do two columns order the models alike? Spearman's rho and Kendall's tau-b, with a bootstrap over models.

Resamples of few models repeat themselves: five models in one order give 1 in every resample, as if nothing
were uncertain. Each interval is therefore widened to the one that Fisher's z gives.

A resample says how often it holds each model. Whatever is summed are whole numbers, which floating point adds
without error in any order: the same results have the same coefficients on every machine.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import fmean
from typing import Any, Final, Literal, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from triathlon_site.uncertainty import DIGITS, LEVEL, Z, generator

Array = NDArray[np.float64]
Pairs = tuple[NDArray[np.int64], NDArray[np.int64]]
"""Numbers of the left and of the right columns."""
DRAWS: Final = 1000
CELLS: Final = 1 << 23
"""Numbers that are held at a time, about."""
Method = Literal["spearman", "kendall"]
Spans = tuple[Array, Array]
"""Lower and upper ends."""
FEWEST: Final = 3
"""Fewer models say nothing: two always agree or disagree completely."""
FEWEST_FOR_INTERVAL: Final = 5


def drawn(n: int, name: str) -> Array:
    """Draws × models: how often each of n models is drawn, with replacement; `name` seeds it.

    Fewer resamples for many models: the work grows with n², the width of the interval falls with √n.
    """
    draws = DRAWS if n <= 200 else 400
    chosen = generator("models", name).integers(n, size=(draws, n)) + n * np.arange(draws)[:, None]
    return np.bincount(chosen.ravel(), minlength=draws * n).reshape(draws, n).astype(np.float64)


def spearman(values: Array, pairs: Pairs, counts: Array) -> Array:
    """Resamples × pairs: Pearson's r of the midranks; nan where all models of a resample are equal.

    Twice a midrank, centred, is the number of models below less that of the models above. `values` are
    columns × models, none of them nan; `counts` resamples × models.
    """
    step = max(1, CELLS // values.size)
    signs = [np.sign(x - x[:, None]) for x in values]
    found = []
    for start in range(0, len(counts), step):
        own = counts[start : start + step]
        standing = np.stack([own @ sign for sign in signs], axis=1)
        products = (standing * own[:, None, :]) @ standing.transpose(0, 2, 1)
        norms = np.diagonal(products, axis1=1, axis2=2)
        found.append(_cosines(products[:, *pairs], norms, pairs))
    return np.concatenate(found)


def kendall(values: Array, pairs: Pairs, counts: Array) -> Array:
    """Resamples × pairs: tau-b, a model that was drawn twice tied with itself; otherwise as `spearman`."""
    # Sums are at most n²/2: below 4096 models, single precision has each of these whole numbers, too.
    precision: np.dtype[Any] = np.dtype(np.float32 if values.shape[1] < 4096 else np.float64)
    often: NDArray[Any] = counts.T.astype(precision)
    concordance: NDArray[Any] = np.zeros((len(pairs[0]), len(counts)), precision)
    norms: NDArray[Any] = np.zeros((len(values), len(counts)), precision)
    ones, others = np.triu_indices(values.shape[1], 1)
    step = max(1, CELLS // 8 // len(concordance))
    for start in range(0, len(ones), step):
        one, other = ones[start : start + step], others[start : start + step]
        together = often[one] * often[other]
        signs: NDArray[Any] = np.sign(values[:, one] - values[:, other]).astype(precision)
        concordance += (signs[pairs[0]] * signs[pairs[1]]) @ together
        norms += signs**2 @ together
    return _cosines(concordance.T.astype(np.float64), norms.T.astype(np.float64), pairs)


def _cosines(products: Array, norms: Array, pairs: Pairs) -> Array:
    """Resamples × pairs, from the products of pairs and the squares of columns."""
    with np.errstate(invalid="ignore", divide="ignore"):
        cosines = products / np.sqrt(norms[:, pairs[0]] * norms[:, pairs[1]])
    return np.clip(cosines, -1.0, 1.0)


class Correlation(NamedTuple):
    """Between two columns over the n models that have both; nan where it cannot be said."""

    n: int
    spearman: float
    spearman_low: float
    spearman_high: float
    kendall: float
    kendall_low: float
    kendall_high: float


def matrix(columns: pd.DataFrame, method: Method) -> pd.DataFrame:
    """Columns × columns: their rank correlation over the models that have both; nan for fewer than three."""
    return columns.corr(method, min_periods=FEWEST).round(DIGITS) + 0.0  # no -0.0


def correlations(columns: Sequence[Array], name: str = "") -> dict[tuple[int, int], Correlation]:
    """Between every two of several columns over the same models, each over the models that have both.

    Pairs with the same models share their resamples, which `name` seeds, and are computed at once.
    """
    frame = pd.DataFrame(dict(enumerate(columns)))
    rho, tau = matrix(frame, "spearman").to_numpy(), matrix(frame, "kendall").to_numpy()
    known = frame.notna().to_numpy()
    every = list(combinations(range(len(columns)), 2))
    groups: dict[bytes, list[tuple[int, int]]] = {}
    for left, right in every:
        groups.setdefault((known[:, left] & known[:, right]).tobytes(), []).append((left, right))
    found: dict[tuple[int, int], Correlation] = {}
    for both, pairs in groups.items():
        used, places = np.unique(np.array(pairs, dtype=np.int64), return_inverse=True)
        first, second = places.reshape(-1, 2).T.astype(np.int64)
        values = np.array([columns[column][np.frombuffer(both, dtype=bool)] for column in used])
        place = tuple(zip(*pairs, strict=True))
        group = _of_group(values, (first, second), rho[place], tau[place], name)
        found.update(zip(pairs, group, strict=True))
    return {pair: found[pair] for pair in every}


def _of_group(values: Array, pairs: Pairs, rho: Array, tau: Array, name: str) -> Iterator[Correlation]:
    """Of pairs of columns that all models have, with their coefficients."""
    n, unknown = values.shape[1], np.full(len(pairs[0]), math.nan)
    rho_span = tau_span = unknown, unknown
    if n >= FEWEST_FOR_INTERVAL:
        counts = drawn(n, name)
        # Variances of z by Bonett and Wright (Psychometrika 65, 2000), and by Fieller, Hartley and Pearson
        # (Biometrika 44, 1957).
        by_fisher = _by_fisher(rho, np.sqrt((1 + rho * rho / 2) / (n - 3)), most=1 - 12 / (n**3 - n))
        rho_span = _hull(_central(spearman(values, pairs, counts)), by_fisher)
        by_fisher = _by_fisher(tau, math.sqrt(0.437 / (n - 4)), most=1 - 4 / (n * (n - 1)))
        tau_span = _hull(_central(kendall(values, pairs, counts)), by_fisher)
    for numbers in np.stack([rho, *rho_span, tau, *tau_span], axis=1).tolist():
        yield Correlation(n, *numbers)


def _by_fisher(coefficients: Array, error: Array | float, most: float) -> Spans:
    """`most`: the largest value below 1 that n models can give; z of 1 itself would be endless."""
    z = np.arctanh(np.clip(coefficients, -most, most))
    return np.tanh(z - Z * error), np.tanh(z + Z * error)


def _hull(one: Spans, other: Spans) -> Spans:
    """From the lowest to the highest; of an unknown one nothing."""
    return np.fmin(one[0], other[0]), np.minimum(1.0, np.fmax(one[1], other[1]))


def _central(draws: Array) -> Spans:
    """The 95 % interval of each column's draws that have a coefficient; nan where none has."""
    levels, unknown = ((1 - LEVEL) / 2, (1 + LEVEL) / 2), np.isnan(draws)
    ends = np.quantile(draws, levels, axis=0)  # nan where any is: nanquantile, column by column, is slow
    some = unknown.any(axis=0) & ~unknown.all(axis=0)
    if some.any():
        ends[:, some] = np.nanquantile(draws[:, some], levels, axis=0)
    return ends[0], ends[1]


ByModel = Mapping[str, Mapping[str, float]]
"""One metric of one suite, by model and task."""


class Sensitivity(NamedTuple):
    """How well a ranking holds under the variants of one kind: ranks by model."""

    baseline_ranks: Mapping[Any, float]
    mean_ranks: Mapping[Any, float]
    """Under the variants."""

    @property
    def correlation(self) -> Correlation:
        """Between the two."""
        return correlations([np.array(list(ranks.values())) for ranks in self])[0, 1]


def sensitivity(baseline: Mapping[str, float], variants: Mapping[str, Mapping[str, float]]) -> Sensitivity:
    """Compares the models that the baseline and every variant have; ties share the smallest rank.

    The paper gets 0.951 for the summary prompts (table 3) and 0.974 for the temperatures (table 4).
    """
    varied = pd.DataFrame(variants, index=list(baseline)).dropna()
    base = pd.Series(baseline, dtype=float)[varied.index].rank(ascending=False, method="min")
    ranks = varied.rank(ascending=False, method="min")
    return Sensitivity(base.to_dict(), ranks.mean(axis=1).to_dict())


@dataclass(frozen=True, slots=True)
class Comparison:
    """Models under the variants of one kind, scored on the tasks that all of them have everywhere."""

    sensitivity: Sensitivity
    baseline: dict[str, float]
    """Score by model."""
    variants: dict[str, dict[str, float]]
    """Score by variant and model."""
    tasks: int
    left_out: list[str]
    """Models that were not run everywhere."""


def compare(baseline: ByModel, variants: Mapping[str, ByModel]) -> Comparison:
    """Ranks of the baseline against mean ranks under the variants, as in EVALOOOP, tables 3 and 4.

    Models that lack a variant are left out, and variants that no model has run. The others are scored on the
    tasks that all of them have in the baseline and in every variant: over different tasks, ranks do not
    compare.
    """
    run = {name: by_model for name, by_model in variants.items() if any(by_model.values())}
    asked = [model for model, tasks in baseline.items() if tasks]
    models = [model for model in asked if all(by_model.get(model) for by_model in run.values())]
    tables = (baseline, *run.values())
    tasks = [set(by_model[model]) for by_model in tables for model in models]
    shared = set.intersection(*tasks) if tasks else set()
    before, *after = (
        {model: round(fmean(by_model[model][task] for task in shared), DIGITS) for model in models if shared}
        for by_model in tables
    )
    varied = dict(zip(run, after, strict=True))
    left_out = [model for model in asked if model not in models]
    return Comparison(sensitivity(before, varied), before, varied, len(shared), left_out)
