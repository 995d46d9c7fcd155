"""Coefficients of many pairs of columns in many resamples of their models.

A resample says how often it holds each model. Whatever is summed here are whole numbers, which floating point
adds without error in any order: the same results have the same coefficients on every machine.
"""

from typing import Final

import numpy as np
from numpy.typing import DTypeLike, NDArray

from triathlon_site.uncertainty import generator

Array = NDArray[np.float64]
Pairs = tuple[NDArray[np.int64], NDArray[np.int64]]
"""Numbers of the left and of the right columns."""
DRAWS: Final = 1000
CELLS: Final = 1 << 23
"""Numbers that are held at a time, about."""


def drawn(n: int, name: str) -> Array:
    """Draws × models: how often each of n models is drawn, with replacement; `name` seeds it.

    Fewer resamples for many models: the work grows with n², the width of the interval falls with √n.
    """
    draws = DRAWS if n <= 200 else 400
    chosen = generator("models", name).integers(n, size=(draws, n)) + n * np.arange(draws)[:, None]
    return np.bincount(chosen.ravel(), minlength=draws * n).reshape(draws, n).astype(np.float64)


def spearman(values: Array, pairs: Pairs, counts: Array) -> Array:
    """Resamples × pairs: Pearson's r of the midranks; nan where all models of a resample are equal.

    Twice a midrank, centred, is the number of models below less that of the models above.

    Args:
        values: columns × models, none of them nan.
        pairs: of which columns.
        counts: resamples × models.
    """
    n = values.shape[1]
    exact = _exact(n**3 // 3)
    step = max(1, CELLS // values.size)
    found = []
    for start in range(0, len(counts), step):
        own = counts[start : start + step].astype(exact)
        standing = np.stack([own @ np.sign(x - x[:, None]).astype(exact) for x in values], axis=1)
        products = (standing * own[:, None, :]) @ standing.transpose(0, 2, 1)
        norms = np.diagonal(products, axis1=1, axis2=2)
        found.append(_cosines(products[:, *pairs], norms, pairs))
    return np.concatenate(found)


def kendall(values: Array, pairs: Pairs, counts: Array) -> Array:
    """Resamples × pairs: tau-b, a model that was drawn twice tied with itself; otherwise as `spearman`."""
    n = values.shape[1]
    exact = _exact(n * n)
    often = counts.T.astype(exact)
    concordance = np.zeros((len(pairs[0]), len(counts)), exact)
    norms = np.zeros((len(values), len(counts)), exact)
    ones, others = np.triu_indices(n, 1)
    step = max(1, CELLS // 8 // len(concordance))
    for start in range(0, len(ones), step):
        one, other = ones[start : start + step], others[start : start + step]
        together = often[one] * often[other]
        signs = np.sign(values[:, one] - values[:, other]).astype(exact)
        concordance += (signs[pairs[0]] * signs[pairs[1]]) @ together
        norms += signs**2 @ together
    return _cosines(concordance.T, norms.T, pairs)


def _exact(most: int) -> DTypeLike:
    """The cheapest numbers in which sums of whole ones up to `most` are exact."""
    return np.float32 if most <= 1 << 24 else np.float64


def _cosines(products: NDArray[np.floating], norms: NDArray[np.floating], pairs: Pairs) -> Array:
    """Resamples × pairs, from the products of pairs and the squares of columns."""
    squares = norms.astype(np.float64)
    with np.errstate(invalid="ignore", divide="ignore"):
        cosines = products / np.sqrt(squares[:, pairs[0]] * squares[:, pairs[1]])
    return np.clip(cosines, -1.0, 1.0)
