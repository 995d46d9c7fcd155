"""What the loop's variants show: other prompts, other temperatures, attacks."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import numpy as np

from triathlon_runner import loop
from triathlon_runner.metrics import Metric
from triathlon_site.agreement import correlate
from triathlon_site.figures import DotRow, arrows, dots
from triathlon_site.models import ModelInfo
from triathlon_site.pages.board._values import difference, named, names
from triathlon_site.render import Figure, Section, Value, formats
from triathlon_site.scores import Board, Variant, contributions, variant_differences, variants_of

Models = Mapping[str, ModelInfo]
TITLES: Final = {"upper": "upper case"}
"""Of settings whose short name says too little."""
FIGURE_ROWS = 30
SENSITIVITY = (("prompts", "Other summary prompts"), ("temperatures", "Other temperatures"))


def loop_sections(board: Board, models: Models) -> Iterator[Section]:
    """Sensitivity to prompts and temperatures, then attacks; only what somebody ran."""
    for kind, title in SENSITIVITY:
        if varied := variants_of(board, kind):
            yield _sensitivity(board, varied, title, models)
    if attacks := variants_of(board, "attacks"):
        yield _attacks(board, attacks, models)


def _titled(variant: Variant) -> str:
    return TITLES.get(variant.title, variant.title)


def _sensitivity(board: Board, varied: Sequence[Variant], title: str, models: Models) -> Section:
    headline = board.plan.headline
    metric = headline.parts[0][1]
    found = _compared(board, varied, metric.id)
    upper = _compared(board, varied, headline.upper[0][1].id) if headline.upper else None
    titles = [_titled(variant) for variant in varied]
    rows = [
        (
            named(models[model]),
            *(_score(found, upper, name, model, metric) for name in (None, *titles)),
            Value(f"{found.sensitivity.baseline_ranks[model]:g}"),
            Value(f"{found.sensitivity.mean_ranks[model]:g}"),
        )
        for model in found.baseline
    ]
    dotted = [
        DotRow(models[m].name, (found.baseline[m], *(found.variants[name][m] for name in titles)))
        for m in list(found.baseline)[:FIGURE_ROWS]
    ]
    svg = dots(title, ("as asked", *titles), dotted, maximum=metric.maximum)
    head = ("Model", "as asked", *titles, "rank as asked", "mean rank")
    figures = (Figure(svg, f"{headline.title} as asked and under each setting."),) if rows else ()
    return Section(title, _about(found, models), head if rows else (), tuple(rows), figures)


def _compared(board: Board, varied: Sequence[Variant], metric: str) -> loop.Comparison:
    baseline = contributions(board.of_suite(varied[0].plain.id), metric)
    return loop.compare(
        baseline, {_titled(one): contributions(board.of_suite(one.entry.id), metric) for one in varied}
    )


def _score(
    low: loop.Comparison, high: loop.Comparison | None, name: str | None, model: str, metric: Metric
) -> Value:
    value, upper = (
        (found.baseline if name is None else found.variants[name])[model] if found else None
        for found in (low, high)
    )
    return Value(formats.known_range(value or 0.0, upper, metric.maximum))


def _about(found: loop.Comparison, models: Models) -> str:
    parts = [
        f"{len(found.baseline)} models, on the {found.tasks} tasks that all of them have under each setting."
    ]
    held = found.sensitivity
    if len(held.baseline_ranks) > 2:
        base, mean = (np.array(list(r.values())) for r in (held.baseline_ranks, held.mean_ranks))
        interval = correlate(base, mean)
        ends = (formats.coefficient(end) for end in (interval.spearman_low, interval.spearman_high))
        span = f" ({' to '.join(ends)})"
        parts.append(
            f"Spearman between the ranks as asked and the mean ranks under the settings:"
            f" {formats.coefficient(held.spearman)}{span if interval.n >= 5 else ''}."
            " Near 1, the order of the models does not hang on this setting."
        )
    else:
        parts.append("Fewer than three models say nothing about how well an order holds.")
    if found.left_out:
        parts.append(f"Not run under every setting, so left out: {names(models, list(found.left_out))}.")
    return " ".join(parts)


def _attacks(board: Board, attacks: Sequence[Variant], models: Models) -> Section:
    metric = next(m for m in attacks[0].entry.metrics if m.id in loop.COMPARED["attacks"])
    changed = {_titled(one): variant_differences(board, one, metric) for one in attacks}
    before = board.of_suite(attacks[0].plain.id)
    order = [model for model in before if any(model in found for found in changed.values())]
    rows = [
        (
            named(models[model]),
            *(difference(changed[_titled(one)].get(model), metric.maximum) for one in attacks),
            Value(str(max(found[model].tasks for found in changed.values() if model in found))),
        )
        for model in order
    ]
    text = (
        "What a rewritten first prompt does to pass@1, in points with a 95 % interval, on the tasks that"
        " both sides have. Pale: the interval holds zero."
    )
    figures = tuple(_attacked(board, one, metric, order, models) for one in attacks)
    return Section(
        "Attacks on the first prompt",
        text,
        ("Model", *(_titled(one) for one in attacks), "tasks"),
        tuple(rows),
        tuple(figure for figure in figures if figure.svg),
    )


def _attacked(board: Board, attack: Variant, metric: Metric, order: Sequence[str], models: Models) -> Figure:
    before, after = (
        contributions(board.of_suite(suite), metric.id) for suite in (attack.plain.id, attack.entry.id)
    )
    changes = {one.model: one for one in loop.changes_of(_titled(attack), before, after)}
    rows = [
        DotRow(models[m].name, (100 * changes[m].before, 100 * changes[m].after))
        for m in order[:FIGURE_ROWS]
        if m in changes
    ]
    return Figure(
        arrows(f"pass@1 before and after: {_titled(attack)}", ("as asked", _titled(attack)), rows),
        f"pass@1 in per cent, from the prompt as it is to the attacked one: {_titled(attack)}.",
    )
