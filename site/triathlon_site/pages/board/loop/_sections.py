"""Tables of the loop's variants: other prompts, other temperatures, attacks."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import numpy as np

from triathlon_runner import loop
from triathlon_runner.metrics import Metric
from triathlon_site.agreement import correlate
from triathlon_site.figures import DotRow, arrows, dots
from triathlon_site.models import ModelInfo
from triathlon_site.pages.board._values import difference_cell, listed_names, model_cell
from triathlon_site.render import Figure, Section, Value, formats
from triathlon_site.scores import Board, Variant, contributions, variant_differences, variants_of

Models = Mapping[str, ModelInfo]
TITLES: Final = {"upper": "upper case"}
"""Of settings whose short name says too little."""
FIGURE_ROWS = 30
SENSITIVITY = (("prompts", "Other summary prompts"), ("temperatures", "Other temperatures"))


def loop_sections(board: Board, models: Models) -> Iterator[Section]:
    """Sensitivity to prompts and temperatures, then attacks; only variants with results."""
    for kind, title in SENSITIVITY:
        if variants := variants_of(board, kind):
            yield _sensitivity(board, variants, title, models)
    if attacks := variants_of(board, "attacks"):
        yield _attacks(board, attacks, models)


def _titled(variant: Variant) -> str:
    return TITLES.get(variant.title, variant.title)


def _sensitivity(board: Board, variants: Sequence[Variant], title: str, models: Models) -> Section:
    headline = board.plan.headline
    metric = headline.parts[0][1]
    comparison = _compared(board, variants, metric.id)
    upper = _compared(board, variants, headline.upper[0][1].id) if headline.upper else None
    titles = [_titled(variant) for variant in variants]
    rows = [
        (
            model_cell(models[model]),
            *(_score(comparison, upper, name, model, metric) for name in (None, *titles)),
            Value(f"{comparison.sensitivity.baseline_ranks[model]:g}"),
            Value(f"{comparison.sensitivity.mean_ranks[model]:g}"),
        )
        for model in comparison.baseline
    ]
    dotted = [
        DotRow(models[m].name, (comparison.baseline[m], *(comparison.variants[name][m] for name in titles)))
        for m in list(comparison.baseline)[:FIGURE_ROWS]
    ]
    svg = dots(title, ("as asked", *titles), dotted, maximum=metric.maximum)
    head = ("Model", "as asked", *titles, "rank as asked", "mean rank")
    figures = (Figure(svg, f"{headline.title} as asked and under each setting."),) if rows else ()
    return Section(title, _about(comparison, models), head if rows else (), tuple(rows), figures)


def _compared(board: Board, variants: Sequence[Variant], metric: str) -> loop.Comparison:
    baseline = contributions(board.of_suite(variants[0].plain.id), metric)
    return loop.compare(
        baseline,
        {_titled(variant): contributions(board.of_suite(variant.entry.id), metric) for variant in variants},
    )


def _score(
    low: loop.Comparison, high: loop.Comparison | None, name: str | None, model: str, metric: Metric
) -> Value:
    value, upper = (
        (comparison.baseline if name is None else comparison.variants[name])[model] if comparison else None
        for comparison in (low, high)
    )
    return Value(formats.known_range(value or 0.0, upper, metric.maximum))


def _about(comparison: loop.Comparison, models: Models) -> str:
    parts = [
        f"{len(comparison.baseline)} models, on the {comparison.tasks} tasks that all of them have under"
        " each setting."
    ]
    sensitivity = comparison.sensitivity
    if len(sensitivity.baseline_ranks) > 2:
        base, mean = (
            np.array(list(ranks.values())) for ranks in (sensitivity.baseline_ranks, sensitivity.mean_ranks)
        )
        interval = correlate(base, mean)
        ends = (formats.coefficient(end) for end in (interval.spearman_low, interval.spearman_high))
        span = f" ({' to '.join(ends)})"
        parts.append(
            f"Spearman between the ranks as asked and the mean ranks under the settings:"
            f" {formats.coefficient(sensitivity.spearman)}{span if interval.n >= 5 else ''}."
            " Near 1, the order of the models does not hang on this setting."
        )
    else:
        parts.append("Fewer than three models say nothing about how well an order holds.")
    if comparison.left_out:
        left_out = listed_names(models, list(comparison.left_out))
        parts.append(f"Not run under every setting, so left out: {left_out}.")
    return " ".join(parts)


def _attacks(board: Board, attacks: Sequence[Variant], models: Models) -> Section:
    metric = next(m for m in attacks[0].entry.metrics if m.id in loop.COMPARED["attacks"])
    by_attack = {_titled(attack): variant_differences(board, attack, metric) for attack in attacks}
    plain = board.of_suite(attacks[0].plain.id)
    order = [model for model in plain if any(model in differences for differences in by_attack.values())]
    rows = [
        (
            model_cell(models[model]),
            *(difference_cell(by_attack[title].get(model), metric.maximum) for title in by_attack),
            Value(str(max(d[model].tasks for d in by_attack.values() if model in d))),
        )
        for model in order
    ]
    text = (
        "What a rewritten first prompt does to pass@1, in points with a 95 % interval, on the tasks that"
        " both sides have. Pale: the interval holds zero."
    )
    figures = tuple(_attacked(board, attack, metric, order, models) for attack in attacks)
    return Section(
        "Attacks on the first prompt",
        text,
        ("Model", *by_attack, "tasks"),
        tuple(rows),
        tuple(figure for figure in figures if figure.svg),
    )


def _attacked(board: Board, attack: Variant, metric: Metric, order: Sequence[str], models: Models) -> Figure:
    plain, attacked = (
        contributions(board.of_suite(suite), metric.id) for suite in (attack.plain.id, attack.entry.id)
    )
    changes = {change.model: change for change in loop.changes_of(_titled(attack), plain, attacked)}
    rows = [
        DotRow(models[m].name, (100 * changes[m].before, 100 * changes[m].after))
        for m in order[:FIGURE_ROWS]
        if m in changes
    ]
    return Figure(
        arrows(f"pass@1 before and after: {_titled(attack)}", ("as asked", _titled(attack)), rows),
        f"pass@1 in per cent, from the prompt as it is to the attacked one: {_titled(attack)}.",
    )
