"""How much better a score could be if no reply had been cut at the token limit."""

import numpy as np

from triathlon_runner.metrics import Metric
from triathlon_runner.records import Outcome
from triathlon_site.load import FileAggregate


def most_with_more_tokens(file: FileAggregate, metric: Metric) -> float | None:
    """The most that the score could rise, on the metric's scale, if every unit with a cut reply were perfect.

    None where nothing was cut, replies are not known, or the score is not the mean over its units, so that
    units cannot be graded one by one.
    """
    frame = file.frame
    if not file.cut_replies:
        return None
    values = frame[metric.id].to_numpy(float)
    parts = file.metrics[metric.id]
    score = metric.scale * parts.numerators.sum() / parts.denominators.sum()
    if np.isnan(values).any() or not np.isclose(values.mean(), score):
        return None
    cut = (frame["cut_replies"] > 0).to_numpy() & (frame["outcome"] != Outcome.PASSED.value).to_numpy()
    return float((metric.maximum - values[cut]).sum() / len(values))
