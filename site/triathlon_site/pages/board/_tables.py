"""The smaller tables of a board, a row a model, a column a quantity; and sentences on rank shifts."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import isnan, nan
from statistics import fmean, stdev
from typing import Any, Final
from urllib.parse import quote

from triathlon_runner.metrics import Metric
from triathlon_runner.terminal import counted
from triathlon_runner.unit_pages import evidence_page
from triathlon_site.evidence import SUMMARY, read_summary
from triathlon_site.load import FileAggregate
from triathlon_site.models import Models
from triathlon_site.ranking import FAR, shift_summary
from triathlon_site.render import Figure, Section, Value, formats
from triathlon_site.scores import Board, total
from triathlon_site.uncertainty import Difference

FIGURE_ROWS: Final = 30
"""Models in a figure with a row each."""
UNKNOWN: Final = Value(formats.NONE)


def model_table(
    title: str,
    text: str,
    models: Models,
    order: Iterable[str],
    columns: Mapping[str, Mapping[str, Value]],
    *,
    above: Sequence[Sequence[Value]] = (),
    figures: Iterable[Figure] = (),
) -> Section:
    """A section whose table has a row for each model, and a dash where a column has no cell of it.

    Args:
        title: of the section.
        text: a sentence or two below it.
        models: names and pages by id.
        order: the ids in the order of the rows.
        columns: by title, the cells by id of a model.
        above: rows above those of the models.
        figures: drawn below the table, where there is something to draw.
    """
    rows = [
        (Value(models[m].label, link=models[m].page), *(cells.get(m, UNKNOWN) for cells in columns.values()))
        for m in order
    ]
    drawn = tuple(figure for figure in figures if figure.svg)
    return Section(title, text, ("Model", *columns), (*map(tuple, above), *rows), drawn)


def count_cell(count: int) -> Value:
    """A number of models, tasks or repeats."""
    return Value(str(count), number=count)


def shown_units(models: Models, model: str, suite: str, count: int, kind: str, *, of: int = 0) -> Value:
    """A number of units that leads to them: the list of the model's evidence, filtered by `kind`.

    `of`: how many there are; with it, the share stands below.
    """
    if not count:
        return Value("0", number=0)
    link = f"{evidence_page(models[model].slug, suite)}?show={quote(kind)}"
    return Value(str(count), formats.percent(count / of) if of else "", count, link=link)


def difference_cells(differences: Mapping[str, Difference], maximum: float) -> dict[str, Value]:
    """`−4.2`, its interval below it; pale where the interval holds zero; by model."""
    return {model: _difference(difference, maximum) for model, difference in differences.items()}


def _difference(difference: Difference, maximum: float) -> Value:
    ends = difference.interval.low, difference.interval.high
    low, high = (formats.in_unit(end, maximum) for end in ends)
    return Value(
        formats.signed(difference.value, maximum),
        " to ".join(formats.signed(end, maximum) for end in ends),
        formats.in_unit(difference.value, maximum),
        {"low": low, "high": high},
        sure=difference.sure,
    )


def score_cell(value: float, maximum: float, small: str = "", **details: float) -> Value:
    """A score, with the numbers of its small print by name."""
    return Value(formats.score(value, maximum), small, formats.in_unit(value, maximum), details)


def repeats_of(file: FileAggregate, metric: Metric) -> Sequence[float]:
    """The score of each repeat; of one alone that score."""
    part = total(file, metric.id)
    score = metric.scale * part.numerator / part.denominator if part.denominator else nan
    return file.repeats.get(metric.id) or (score,)


def mean_of(scores: Sequence[float]) -> float:
    """Of the scores that are numbers; nan where none is."""
    known = [score for score in scores if not isnan(score)]
    return fmean(known) if known else nan


def average_cell(scores: Iterable[Sequence[float]], metric: Metric) -> Value:
    """The mean over models of the means of their repeats, and how many models there are."""
    means = [mean for repeats in scores if not isnan(mean := mean_of(repeats))]
    models = counted(len(means), "model")
    return score_cell(fmean(means), metric.maximum, models) if means else UNKNOWN


def repeats_cell(scores: Sequence[float], metric: Metric) -> Value:
    """The mean with its standard deviation.

    A repeat without one readable answer has no F1: its score is not a number, and it is not counted.
    """
    known = [score for score in scores if not isnan(score)]
    if not known:
        return UNKNOWN
    few = f", {len(known)} of {len(scores)}" if len(known) < len(scores) else ""
    if len(known) < 2:
        return score_cell(fmean(known), metric.maximum, f"one repeat{few}" if few else "")
    deviation = stdev(known)
    small = f"± {formats.score(deviation, metric.maximum)}{few}"
    details = {"standard deviation": formats.in_unit(deviation, metric.maximum)}
    return score_cell(fmean(known), metric.maximum, small, **details)


def own_files(board: Board) -> dict[str, FileAggregate]:
    """By model, its file of the board's first suite, under whatever protocol."""
    suite = board.plan.suites[0].id
    return {model: file for model in board.models for file in board.files[model] if file.suite == suite}


def summaries_of(board: Board, field: str) -> dict[str, Mapping[str, Any]]:
    """By model, what `Article.summary` said of that file, where it has the field."""
    found = {m: read_summary(file.extracts.read(SUMMARY)) for m, file in own_files(board).items()}
    return {model: summary for model, summary in found.items() if field in summary}


def shift_sentences(
    scores: Mapping[str, float], baseline: Mapping[str, float], titles: tuple[str, str], rule: str = ""
) -> Iterator[str]:
    """A sentence on the rank shifts from the baseline to the score; none for fewer than three models.

    Args:
        scores: by model.
        baseline: by model.
        titles: of the score and of the baseline.
        rule: EVALOOOP's rule, in words, where a tie in one of the two is to be broken by the other; empty:
            ties share a rank.
    """
    summary = shift_summary(scores, baseline, break_ties=bool(rule))
    if summary is None or summary.models < 3:
        return
    yield (
        f"From {titles[1]} to {titles[0]}, {rule or 'ties sharing a rank'}: {summary.moved} of"
        f" {summary.models} models ({100 * summary.moved / summary.models:.1f} %) change places, by"
        f" {summary.mean:.1f} on average, {100 * summary.far:.1f} % by {FAR} or more, from"
        f" {formats.shift(summary.lowest)} to {formats.shift(summary.highest)};"
        f" {100 * summary.reversed_pairs:.1f} % of all pairs are reversed."
    )
