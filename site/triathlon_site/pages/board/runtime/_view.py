"""The runtime discipline on the pages: its four questions, and its variants."""

from collections.abc import Iterator, Mapping, Sequence
from math import isnan
from statistics import fmean, stdev
from typing import Final

from triathlon_runner.metrics import Metric
from triathlon_runner.records import PredictionRecord, RuntimeRecord
from triathlon_site.evidence import Article
from triathlon_site.figures import DotRow, arrows, bars, dots
from triathlon_site.load import FileAggregate
from triathlon_site.models import Models
from triathlon_site.pages._dimensions import share_of_maximum
from triathlon_site.pages.board._retention import BoardRetention, Retention
from triathlon_site.pages.board._tables import (
    FIGURE_ROWS,
    UNKNOWN,
    count_cell,
    difference_cells,
    model_table,
    score_cell,
)
from triathlon_site.pages.board._view_protocol import DisciplineView, FrontColumn
from triathlon_site.pages.board.runtime._answers import predicted_rows, runtime_rows
from triathlon_site.render import Figure, Section, Value, formats
from triathlon_site.scores import Board, ColumnScores, Variant, total, variant_differences, variants_of

QUESTIONS: Final = ("coverage_accuracy", "state_accuracy", "path_accuracy", "output_accuracy")
"""Metrics that count single answers."""
MOST_BARS: Final = 12
"""Models whose bars fit beside each other."""


def question_columns(board: Board) -> list[ColumnScores]:
    """The column of each question, in the order in which they are asked."""
    by_metric = {column.column.id.partition(":")[2]: column for column in board.shown}
    return [by_metric[metric] for metric in QUESTIONS if metric in by_metric]


def question_figures(board: Board, shown: Sequence[str], models: Models) -> Iterator[Figure]:
    """Bars of the best models, and dots of all where they are many."""
    columns = [*question_columns(board), board.headline]
    titles = [column.column.title for column in columns[:-1]]
    rows = [DotRow(models[m].name, tuple(share_of_maximum(column, m) for column in columns)) for m in shown]
    title = "The four questions and incremental consistency"
    caption = "Bars: accuracy in each question, in per cent. Line: incremental consistency."
    if len(rows) <= MOST_BARS:
        figures = [Figure(bars(title, titles, "IC", rows), caption)]
    else:
        best = f"the best {MOST_BARS}"
        text = "Accuracy in each question, in per cent; the upright bar: IC, what holds together."
        svg = bars(f"{title}: {best}", titles, "IC", rows[:MOST_BARS])
        figures = [
            Figure(svg, f"{caption} {best.capitalize()} models."),
            Figure(dots(title, (*titles, "IC"), rows), text),
        ]
    yield from (figure for figure in figures if figure.svg)


def runtime_sections(board: Board, models: Models) -> Iterator[Section]:
    """Chain of thought, and repeats at the paper's temperature: a table for each that has results."""
    for variant in variants_of(board, "style"):
        yield _thinking(board, variant, models)
    for variant in variants_of(board, "sampling"):
        yield _repeats(board, variant, models)


def _thinking(board: Board, variant: Variant, models: Models) -> Section:
    metrics = [metric for metric in variant.entry.metrics if not metric.id.endswith("_f1")]
    differences = {metric: variant_differences(board, variant, metric) for metric in metrics}
    first = metrics[0]
    order = [model for model in board.models if model in differences[first]]
    direct, thinking = board.of_suite(variant.plain.id), board.of_suite(variant.entry.id)
    rows = [
        DotRow(models[m].name, (_ratio(direct[m], first), _ratio(thinking[m], first)))
        for m in order[:FIGURE_ROWS]
    ]
    svg = arrows(f"{first.title}, direct and with a chain of thought", ("direct", "chain of thought"), rows)
    return model_table(
        "With a chain of thought",
        "What thinking aloud changes, in points with a 95 % interval, on the programs that both have."
        " Pale: the interval holds zero.",
        models,
        order,
        {metric.title: difference_cells(found, metric.maximum) for metric, found in differences.items()},
        figures=[Figure(svg, f"{first.title}, from direct answers to answers after a chain of thought.")],
    )


def _ratio(file: FileAggregate, metric: Metric) -> float:
    """The metric in per cent of its maximum."""
    part = total(file, metric.id)
    return 100 * metric.scale * part.numerator / (part.denominator or 1) / metric.maximum


def _repeats(board: Board, variant: Variant, models: Models) -> Section:
    metrics = variant.entry.metrics
    files = {model: file.repeats for model, file in board.of_suite(variant.entry.id).items() if file.repeats}
    spreads = {m.title: {model: _spread(of[m.id], m) for model, of in files.items()} for m in metrics}
    counts = {model: count_cell(len(of[metrics[0].id])) for model, of in files.items()}
    thinking = " with a chain of thought" if variant.title.startswith("cot") else ""
    return model_table(
        f"Repeated at temperature 0.8{thinking}",
        "As REval’s table III: mean and standard deviation over the repeats. They say how much sampling"
        " moves a score; how much the choice of programs does, the intervals above say.",
        models,
        files,
        {**spreads, "repeats": counts},
    )


def _spread(scores: Sequence[float], metric: Metric) -> Value:
    """A repeat without one readable answer has no F1: its score is not a number, and it is not counted."""
    known = [score for score in scores if not isnan(score)]
    if not known:
        return UNKNOWN
    few = f", {len(known)} of {len(scores)}" if len(known) < len(scores) else ""
    if len(known) < 2:
        return score_cell(fmean(known), metric.maximum, f"one repeat{few}")
    deviation = stdev(known)
    small = f"± {formats.score(deviation, metric.maximum)}{few}"
    details = {"standard deviation": formats.in_unit(deviation, metric.maximum)}
    return score_cell(fmean(known), metric.maximum, small, **details)


def _retentions(board: Board, _: Mapping[str, Sequence[str]]) -> Iterator[Retention]:
    """The headline's score of each program."""
    (sample,) = board.headline.samples
    values = sample.shares() * sample.maximum
    yield Retention(sample.suite, sample.clusters, values, sample.maximum)


def _predicted(model: str, _: Board, board_retention: BoardRetention) -> Iterator[str]:
    """The share of programs that the model predicts, beside that of the other models."""
    mean, rivals_mean = board_retention.beside(model, board_retention.means)
    yield f"It predicts {100 * mean:.0f} % of the programs; the other models {100 * rivals_mean:.0f} %."


def _weakest_first(model: str, board: Board, _: BoardRetention) -> Iterator[str]:
    """The model's rank in each question, the worst one first."""
    scores = [(c.column.title, c.scores[model].rank) for c in question_columns(board) if model in c.scores]
    ranks = sorted(((title, rank) for title, rank in scores if rank), key=lambda pair: -pair[1].rank)
    if ranks:
        weakest_first = ", ".join(f"{title} {formats.rank(rank)}" for title, rank in ranks)
        yield (
            f"Rank in each question, the weakest first: {weakest_first}. A chain of answers counts up to its"
            " first wrong one."
        )


OUTPUT: Final = FrontColumn(
    id="runtime_output",
    name="Runtime: CRUXEval output",
    tasks=800,
    board="runtime-cruxeval-output",
    column="runtime/cruxeval-output:pass@1",
    small="CRUXEval output",
    data="CRUXEval’s outputs",
    within="runtime (CRUXEval output)",
)
INPUT: Final = FrontColumn(
    id="runtime_input",
    name="CRUXEval input pass@1",
    tasks=800,
    board="runtime-cruxeval-input",
    column="runtime/cruxeval-input:pass@1",
    small="CRUXEval input",
    in_index=False,  # few models have it alone
)
CONSISTENCY: Final = FrontColumn(
    id="runtime_consistency",
    name="Runtime: DREval consistency",
    tasks=154,
    board="runtime-dreval",
    column="runtime/dreval:ic",
    small="DREval IC",
    data="DREval",
    within="runtime (DREval)",
)
REVAL: Final = FrontColumn(
    id="reval_ic",
    name="REval’s IC, as published",
    tasks=154,
    board="runtime-dreval",
    column="",  # REval's code has other right answers than ours
    small="IC as REval published it",
    in_index=False,
    published=(("reval", "ic"),),
)
RUNTIME = DisciplineView(
    figures_title="Question by question",
    unit="program",
    endings="A unit is a program with one input; it passes where all its answers are right.",
    models_drawn=30,
    figures=question_figures,
    sections=runtime_sections,
    retentions=_retentions,
    losses=_weakest_first,
    loss_note=lambda value, total, rivals, _: f"IC {value:.0f}; the others {total / rivals:.0f} on average",
    names_endings=False,
    articles={RuntimeRecord: Article("board/runtime_unit", runtime_rows)},
    front=(OUTPUT, INPUT, CONSISTENCY, REVAL),
)

PREDICTION = DisciplineView(
    figures_title="Program by program",
    unit="program",
    endings="A unit is one answer about a program with one input.",
    sections=runtime_sections,
    retentions=_retentions,
    losses=_predicted,
    loss_note=lambda _value, total, rivals, _most: f"{total:.0f} of {rivals:.0f} other models predict it",
    articles={PredictionRecord: Article("board/runtime_unit", predicted_rows)},
)
"""Of output and input prediction."""
