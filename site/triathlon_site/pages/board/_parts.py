"""What one discipline fills in on pages, and what is made alike for several: tables, figures, sentences."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice
from math import isnan, nan
from statistics import fmean, stdev
from typing import Any, Final
from urllib.parse import quote

from triathlon_runner.metrics import Metric
from triathlon_runner.records import UnitRecord
from triathlon_runner.terminal import counted
from triathlon_runner.unit_pages import evidence_page
from triathlon_site.costs import mostly_ran, share_that_ran
from triathlon_site.evidence import Article
from triathlon_site.figures import PALETTE, Series, curves
from triathlon_site.load import FileAggregate
from triathlon_site.models import Models
from triathlon_site.pages._scores import marked, share_of_maximum, why_apart
from triathlon_site.ranking import FAR, shift_summary
from triathlon_site.render import Figure, Section, Value, formats
from triathlon_site.scores import Board, ColumnScores
from triathlon_site.uncertainty import Difference

FIGURE_ROWS: Final = 30  # models in a figure with a row each
MOST_MUTED: Final = 200  # lines in the background; more would make the page heavy
BEST, WORST = 1, 2
"""Models at the ends of the ranking whose curves are named beside those that a page is about."""
FEWEST_POINTS: Final = 3  # points below which a degradation curve is not drawn
UNKNOWN: Final = Value(formats.NONE)
Cells = Mapping[str, Value]  # the cells of a column, by id of a model
Setting = tuple[Mapping[str, FileAggregate], Sequence[Metric]]
"""The files of one setting by model, and the metrics that are shown of them."""


@dataclass(frozen=True)
class DisciplineView:
    """The parts of pages that one discipline fills in its own way; without them, its ranking alone."""

    in_words: str = ""
    """What a model does, in a few words."""
    figures_title: str = "Model by model"
    unit: str = "task"
    """The word for a task: `task` or `program`."""
    endings: str = ""
    """The meaning of a unit's outcome, in one sentence."""
    models_drawn: int = 5
    """Models in a figure of the board."""
    figures: Callable[[Board, Sequence[str], Models], Iterable[Figure]] = lambda *_: ()
    """The figures of these models on the board; the other models stay in the background."""
    sections: Callable[[Board, Models], Iterable[Section]] = lambda *_: ()
    """The smaller tables below the ranking."""
    articles: Mapping[type[UnitRecord], Article] = field(default_factory=dict)
    """How the evidence shows a unit, by the type of its record."""
    about_prompts: str = ""
    """How the prompts differ from the paper's, in one sentence."""


def model_table(
    title: str,
    text: str,
    models: Models,
    order: Iterable[str],
    columns: Mapping[str, Cells],
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
        above: rows above those of the models; cells that one lacks at its end are dashes.
        figures: drawn below the table, where there is something to draw.
    """
    rows = [
        (Value(models[m].label, link=models[m].page), *(cells.get(m, UNKNOWN) for cells in columns.values()))
        for m in order
    ]
    filled = [(*row, *[UNKNOWN] * (1 + len(columns) - len(row))) for row in above]
    drawn = tuple(figure for figure in figures if figure.svg)
    return Section(title, text, ("Model", *columns), (*filled, *rows), drawn)


def settings_table(
    title: str,
    text: str,
    models: Models,
    order: Sequence[str],
    settings: Mapping[str, Setting],
    *,
    over_repeats: bool = True,
) -> Iterator[Section]:
    """Every setting of a board's suites with the models that have it: mean and spread over repeats.

    The mean over the models stands first, where there are several. Nothing where no setting has results.
    `over_repeats`: False for metrics of all samples of a task together, such as pass@k. Those that no model
    has stand in no column.
    """
    scores_of = repeats_of if over_repeats else whole_score
    by_setting = {
        setting: {m: {one.title: scores_of(file, one) for one in metrics} for m, file in files.items()}
        for setting, (files, metrics) in settings.items()
    }
    every = (of for scores in by_setting.values() for of in scores.values())
    titles = list(dict.fromkeys(t for of in every for t, values in of.items() if not isnan(mean_of(values))))
    rows: list[tuple[Value, ...]] = []
    for setting, (files, metrics) in settings.items():
        scores = by_setting[setting]
        shown = {metric.title: metric for metric in metrics if metric.title in titles}
        if len(scores) > 1:
            means = {
                name: average_cell([of[name] for of in scores.values()], metric)
                for name, metric in shown.items()
            }
            cells = [means.get(name, UNKNOWN) for name in titles]
            rows.append((Value("Average", of_all=True), Value(setting), *cells, UNKNOWN))
        for model in (*(m for m in order if m in scores), *sorted(scores.keys() - {*order})):
            known = {name: repeats_cell(scores[model][name], metric) for name, metric in shown.items()}
            cells = [known.get(name, UNKNOWN) for name in titles]
            samples = count_cell(files[model].samples)
            name = Value(models[model].label, link=models[model].page)
            rows.append((name, Value(setting), *cells, samples))
    if rows:
        yield Section(title, text, ("Model", "asked", *titles, "repeats"), tuple(rows))


def first_of(most: int, models: int, order: str = "") -> str:
    """A sentence, behind a space, where only the first of the models are drawn; empty where all are."""
    return f" The first {most} of {models} models{order}." if models > most else ""


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
    cells = {}
    for model, found in differences.items():
        ends = {"low": found.interval.low, "high": found.interval.high}
        cells[model] = Value(
            formats.signed(found.value, maximum),
            " to ".join(formats.signed(end, maximum) for end in ends.values()),
            formats.in_unit(found.value, maximum),
            {name: formats.in_unit(end, maximum) for name, end in ends.items()},
            sure=found.sure,
        )
    return cells


def score_cell(value: float, maximum: float, small: str = "", **details: float) -> Value:
    """A score, with the numbers of its small print by name."""
    return Value(formats.score(value, maximum), small, formats.in_unit(value, maximum), details)


def range_cell(value: float, upper: float, maximum: float) -> Value:
    """A score; where it is only known as a range, its upper end in a column of its own in the CSV."""
    details = {} if upper == value else {"upper end": formats.in_unit(upper, maximum)}
    text = formats.known_range(value, upper, maximum)
    return Value(text, number=formats.in_unit(value, maximum), details=details)


def repeats_of(file: FileAggregate, metric: Metric) -> Sequence[float]:
    """The score of each repeat; of one alone that score."""
    return file.repeats.get(metric.id) or whole_score(file, metric)


def whole_score(file: FileAggregate, metric: Metric) -> tuple[float]:
    """The score of all samples of all tasks; nan where no task has enough of them."""
    return (file.metrics[metric.id].score(metric),)


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


def own_files(board: Board, suite: str = "") -> dict[str, FileAggregate]:
    """By model, its file of a suite of the board, else of the first one, under whatever protocol."""
    suite = suite or board.plan.suites[0].id
    return {model: file for model in board.models for file in board.files[model] if file.suite == suite}


def summaries_of(board: Board, field: str) -> dict[str, Mapping[str, Any]]:
    """By model, what `Article.summary` said of that file, where it has the field."""
    return {model: file.summary for model, file in own_files(board).items() if field in file.summary}


def shift_sentences(
    scores: Mapping[str, float], baseline: Mapping[str, float], titles: tuple[str, str], rule: str = ""
) -> Iterator[str]:
    """A sentence on the rank shifts from the baseline to the score; none for fewer models than get a rank.

    Args:
        scores: by model.
        baseline: by model.
        titles: of the score and of the baseline.
        rule: EVALOOOP's rule, in words, where a tie in one of the two is to be broken by the other; empty:
            ties share a rank.
    """
    summary = shift_summary(scores, baseline, break_ties=bool(rule))
    if summary is None:
        return
    yield (
        f"From {titles[1]} to {titles[0]}, {rule or 'ties sharing a rank'}: {summary.moved} of"
        f" {summary.models} models ({100 * summary.moved / summary.models:.1f} %) change places, by"
        f" {summary.mean:.1f} on average, {100 * summary.far:.1f} % by {FAR} or more, from"
        f" {formats.shift(summary.lowest)} to {formats.shift(summary.highest)};"
        f" {100 * summary.reversed_pairs:.1f} % of all pairs are reversed."
    )


def curve_columns(board: Board) -> list[ColumnScores]:
    """The columns of the degradation curve, the baseline first; empty on a board without loops."""
    points = [column for column in board.columns if column.column.role in {"baseline", "curve"}]
    return points if len(points) >= FEWEST_POINTS else []


@lru_cache(maxsize=4096)
def degradation_curve(board: Board, model: str) -> tuple[float, ...]:
    """Share of tasks, in per cent, that sustain 1…M loops; empty where it is not known.

    Cached, because the page of every model draws the curves of all.
    """
    shares = [share_of_maximum(column, model) for column in curve_columns(board)]
    known = tuple(share for share in shares if share is not None)
    return known if len(known) == len(shares) else ()


def curve_figures(board: Board, shown: Sequence[str], models: Models) -> Iterator[Figure]:
    """The degradation curves of these models and of both ends of the ranking, named; the others in grey."""
    scores = {model: score for model in board.models if (score := board.headline.shown(model))}
    drawn = (model for model, score in scores.items() if model in shown or not score.apart)
    lines = {model: line for model in drawn if (line := degradation_curve(board, model))}
    ranked = [model for model in lines if not scores[model].apart]

    def ran(ordered: Iterable[str]) -> Iterator[str]:
        """Models whose replies mostly were programs that ran."""
        return (model for model in ordered if mostly_ran(share_that_ran(board.files[model])))

    ends = [*islice(ran(ranked), BEST), *reversed(list(islice(ran(reversed(ranked)), WORST)))]
    labelled = [m for m in dict.fromkeys((*shown, *ends)) if m in lines][:PALETTE]
    muted = [model for model in lines if model not in labelled]
    step = -(-len(muted) // MOST_MUTED) or 1
    series = [
        Series(marked(models[model].label, scores[model]), lines[model], muted=model not in labelled)
        for model in (*labelled, *muted[::step])
    ]
    svg = curves("Share of tasks that still pass after each loop", series)
    caption = (
        "Tasks that still pass in each loop, in per cent. A flat line loses nothing that was solved at first."
    )
    if muted:
        caption += f" Grey: {'the others' if step == 1 else f'one in {step} of the others'}."
    caption += why_apart(scores[model] for model in lines)
    if svg:
        yield Figure(svg, caption)
