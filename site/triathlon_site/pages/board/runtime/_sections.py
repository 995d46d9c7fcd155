"""Tables of the runtime's variants: chain of thought, and repeats at the paper's temperature."""

from collections.abc import Iterator, Mapping, Sequence
from math import isnan
from statistics import fmean, stdev

from markupsafe import Markup

from triathlon_runner.metrics import Metric
from triathlon_site.figures import DotRow, arrows
from triathlon_site.load import FileAggregate
from triathlon_site.models import ModelInfo
from triathlon_site.pages.board._values import difference_cell, model_cell
from triathlon_site.render import Figure, Section, Value, formats
from triathlon_site.scores import Board, Variant, total, variant_differences, variants_of

Models = Mapping[str, ModelInfo]
FIGURE_ROWS = 30


def runtime_sections(board: Board, models: Models) -> Iterator[Section]:
    """A table for each variant that has results."""
    for variant in variants_of(board, "style"):
        yield _thinking(board, variant, models)
    for variant in variants_of(board, "sampling"):
        yield _repeats(board, variant, models)


def _thinking(board: Board, variant: Variant, models: Models) -> Section:
    metrics = [metric for metric in variant.entry.metrics if not metric.id.endswith("_f1")]
    differences = {metric.id: variant_differences(board, variant, metric) for metric in metrics}
    order = [model for model in board.models if model in differences[metrics[0].id]]
    rows = [
        (
            model_cell(models[model]),
            *(difference_cell(differences[m.id].get(model), m.maximum) for m in metrics),
        )
        for model in order
    ]
    figure = Figure(
        _moved(board, variant, metrics[0], order, models),
        f"{metrics[0].title}, from direct answers to answers after a chain of thought.",
    )
    text = (
        "What thinking aloud changes, in points with a 95 % interval, on the programs that both have."
        " Pale: the interval holds zero."
    )
    head = ("Model", *(metric.title for metric in metrics))
    return Section("With a chain of thought", text, head, tuple(rows), (figure,) if figure.svg else ())


def _moved(board: Board, variant: Variant, metric: Metric, order: Sequence[str], models: Models) -> Markup:
    direct, thinking = board.of_suite(variant.plain.id), board.of_suite(variant.entry.id)
    rows = [
        DotRow(models[m].name, (ratio(direct[m], metric), ratio(thinking[m], metric)))
        for m in order[:FIGURE_ROWS]
    ]
    return arrows(f"{metric.title}, direct and with a chain of thought", ("direct", "chain of thought"), rows)


def ratio(file: FileAggregate, metric: Metric) -> float:
    """The metric in per cent of its maximum."""
    part = total(file, metric.id)
    return 100 * metric.scale * part.numerator / (part.denominator or 1) / metric.maximum


def _repeats(board: Board, variant: Variant, models: Models) -> Section:
    metrics = variant.entry.metrics
    files = {model: file for model, file in board.of_suite(variant.entry.id).items() if file.repeats}
    rows = [
        (
            model_cell(models[model]),
            *(_spread(file.repeats[metric.id], metric) for metric in metrics),
            Value(str(len(file.repeats[metrics[0].id]))),
        )
        for model, file in files.items()
    ]
    thinking = " with a chain of thought" if variant.title.startswith("cot") else ""
    return Section(
        f"Repeated at temperature 0.8{thinking}",
        "As REval’s table III: mean and standard deviation over the repeats. They say how much sampling"
        " moves a score; how much the choice of programs does, the intervals above say.",
        ("Model", *(metric.title for metric in metrics), "repeats"),
        tuple(rows),
    )


def _spread(scores: Sequence[float], metric: Metric) -> Value:
    """A repeat without one readable answer has no F1: its score is not a number, and it is not counted."""
    known = [score for score in scores if not isnan(score)]
    if not known:
        return Value(formats.NONE)
    few = f", {len(known)} of {len(scores)}" if len(known) < len(scores) else ""
    spread = f"± {formats.score(stdev(known), metric.maximum)}" if len(known) > 1 else "one repeat"
    return Value(formats.score(fmean(known), metric.maximum), f"{spread}{few}")
