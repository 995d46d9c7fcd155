"""The analyses of the evolved sets beside each model's pass@1 (EvoEval, section 4)."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from statistics import fmean
from typing import Final

import numpy as np

from triathlon_runner.evolved import analysis
from triathlon_site.figures import DotRow, Point, arrows, scatter
from triathlon_site.models import ModelInfo
from triathlon_site.pages.board._values import model_cell
from triathlon_site.pages.board.evolved._regions import far_below, region_border
from triathlon_site.pages.board.evolved._sampled import sampled_sections
from triathlon_site.render import Figure, Section, Value, formats
from triathlon_site.scores import Board, set_title
from triathlon_site.uncertainty import central, draw, share_interval

Models = Mapping[str, ModelInfo]
FIGURE_ROWS: Final = 30
REGION_MODELS: Final = 8
"""Models below which there is no line through them from which one could be far."""
SIGNIFICANCE: Final = 0.05
EMPTY_PAIRS: Final = (formats.NONE, "0 : 0")
"""Texts of cells without a pair of which only one problem is solved."""
LABELLED: Final = 12
"""Points that can carry their names."""


def evolved_sections(board: Board, models: Models) -> Iterator[Section]:
    """A section for each analysis that has results."""
    analyses = analyses_of(board, models)
    for make in (_drops, _old_and_new, _pairs, _retold, _compositions, _decompositions, _tools):
        section = make(board, analyses, models)
        if section:
            yield section
    yield from sampled_sections(board, models)


def analyses_of(board: Board, models: Models) -> analysis.Measured:
    """The runner's analyses of a board's results."""
    units = {m: {file.suite: file.tasks for file in board.files[m] if file.units} for m in board.models}
    kinds: dict[str, analysis.ModelKind] = {
        m: "base" if models[m].kind == "base" else "instruct" for m in board.models
    }
    (analyses,) = analysis.measured(units, kinds).values()
    return analyses


def _drops(board: Board, analyses: analysis.Measured, models: Models) -> Section | None:
    """Relative decreases per set and model; the mean over the models first."""
    changed = (*analysis.SEMANTIC_ALTERING, *analysis.SELF_INVOKING)
    sets = [name for name in changed if name in analyses.changes]
    seeds = dict.fromkeys(analyses.seed_of(name) for name in sets)
    order = [m for m in board.models if any(analyses.board.get(m, {}).get(seed) for seed in seeds)]
    if not sets or not order:
        return None
    changes = [analyses.changes[name] for name in sets]
    drops_of_all = analyses.drops
    mean = [
        Value("Mean of the models"),
        *(Value(_fall(-change.change), f"{change.models} models") for change in changes),
        *(
            (
                Value(_fall(drops_of_all.overall), f"{drops_of_all.models} models"),
                Value(_fall(fmean(drops_of_all.per_model.values())), f"{drops_of_all.models} models"),
            )
            if drops_of_all
            else (Value(formats.NONE), Value(formats.NONE))
        ),
    ]
    set_drops = [_drops_of(board, analyses, name) for name in sets]
    rows = [
        (
            model_cell(models[m]),
            *(drops.get(m, Value(formats.NONE)) for drops in set_drops),
            *(
                (
                    Value(_fall(drops_of_all.of_five_sets[m])),
                    Value(_fall(drops_of_all.per_model[m])),
                )
                if drops_of_all and m in drops_of_all.per_model
                else (Value(formats.NONE), Value(formats.NONE))
            ),
        )
        for m in order
    ]
    on_same_seeds = [
        Value("On the same seeds"),
        *(_mean_drop(analyses.same_seeds.get(name, {}).values()) for name in sets),
        Value(formats.NONE),
        Value(formats.NONE),
    ]
    text = (
        f"How much less of each changed set a model solves than of {_seeds(analyses, sets)}, in per cent"
        " of the latter, with a 95 % interval. Second row: against only those seeds that the set’s problems"
        " were evolved from. A minus sign: solves more. To the average: from the seeds to the EvoEval"
        " average, which has the seeds among its six sets."
    )
    head = ("Model", *map(set_title, sets), "mean of the five", "to the average")
    return Section("Drops", text, head, (tuple(mean), tuple(on_same_seeds), *rows))


def _seeds(analyses: analysis.Measured, sets: Sequence[str]) -> str:
    """In a sentence: `HumanEval`; with a set that has other seeds `HumanEval (MBPP Pro: of MBPP+)`."""
    seeds = {name: analyses.seed_of(name) for name in sets}
    exceptions = "; ".join(
        f"{set_title(name)}: of {set_title(seed)}" for name, seed in seeds.items() if seed != analyses.seed
    )
    return _set(analyses.seed) + (f" ({exceptions})" if exceptions else "")


def _set(name: str) -> str:
    """In a sentence: `the seeds`, `HumanEval`."""
    title = set_title(name)
    return title if title[:1].isupper() else f"the {title}"


def _fall(value: float) -> str:
    return f"{round(value, 1) + 0.0:.1f}".replace("-", formats.MINUS)


def _mean_drop(models: Iterable[analysis.SameSeeds]) -> Value:
    """The mean over the models whose drop against the seeds of the set's own problems is known."""
    known = [model.drop for model in models if model.seeds and not np.isnan(model.drop)]
    return Value(_fall(float(np.mean(known))), f"{len(known)} models") if known else Value(formats.NONE)


def _drops_of(board: Board, analyses: analysis.Measured, name: str) -> dict[str, Value]:
    """By model: the relative drop from the seeds to one set, with its interval."""
    suites, seed = {entry.set_name: entry.id for entry in board.plan.suites}, analyses.seed_of(name)
    seeds, changed = (
        next(c for c in board.columns if c.column.parts[0][0] == suites[data] and not c.column.headline)
        for data in (seed, name)
    )
    before, after = (draw(column.samples[0]) for column in (seeds, changed))
    low, high = central(100 * (before - after) / before)
    return {
        model: _model_drop(analyses.board[model][seed], analyses.board[model][name], low[place], high[place])
        for place, model in enumerate(sorted(board.models))
        if name in analyses.board.get(model, {}) and analyses.board[model].get(seed)
    }


def _model_drop(seeds: float, changed: float, low: float, high: float) -> Value:
    value = analysis.relative_drop(seeds, changed)
    return Value(
        _fall(value),
        f"{_fall(min(float(low), value))} to {_fall(max(float(high), value))}",
        sure=bool(low > 0 or high < 0),
    )


def _old_and_new(board: Board, analyses: analysis.Measured, models: Models) -> Section | None:
    """Figure 2 of EvoEval."""
    old = analysis.column(analyses.board, analyses.old)
    new = analyses.averages
    with_both = [m for m in board.models if m in old and m in new]
    if len(with_both) < 2 or not any(old[m] or new[m] for m in with_both):
        return None
    placed = analyses.regions if len(with_both) >= REGION_MODELS else {}
    far = [m for m in with_both if m in placed and placed[m].region != "aligned"]
    old_title = formats.sentence(set_title(analyses.old))
    labelled = with_both if len(with_both) <= LABELLED else far
    svg = scatter(
        f"Mean over the evolved sets against {old_title}",
        [Point(models[m].name, old[m], new[m], m in labelled, m in far) for m in with_both],
        x_title=f"{old_title}, pass@1",
        y_title="mean pass@1",
        x_maximum=100,
        y_maximum=100,
        identity=True,
        border=region_border(placed),
    )
    text = (
        far_below(len(far), len(with_both), "the line through all of them")
        if placed
        else f"{len(with_both)} models are too few to say which of them lie far from the others."
    )
    caption = (
        "Dashed: equal scores. Below it, a model solves more of the old problems than of the changed ones."
    )
    return Section(f"{old_title} against the evolved sets", text, figures=(Figure(svg, caption),))


def _pairs(board: Board, analyses: analysis.Measured, models: Models) -> Section | None:
    """Problem by problem: a seed solved and its change not, and the reverse."""
    sets = [entry.set_name for entry in board.plan.suites if entry.id != entry.seeds]
    rows = []
    for model in board.models:
        pairs = {name: analyses.paired(model, analyses.seed_of(name), name) for name in sets}
        if any(pairs.values()):
            rows.append((model_cell(models[model]), *(_pair(pairs[name]) for name in sets)))
    used = [i for i in range(len(sets)) if any(row[i + 1].text not in EMPTY_PAIRS for row in rows)]
    text = (
        "Each changed problem beside the seeds that it came from: how often only the seeds were solved, and"
        " how often only the changed problem; small print: McNemar’s exact p, each by itself. On sets as hard"
        " as their seeds (subtle, verbose, concise) a surplus on the left says that the seed was remembered."
    )
    head = ("Model", *(set_title(sets[i]) for i in used))
    body = tuple((row[0], *(row[i + 1] for i in used)) for row in rows)
    return Section("Seed against change, problem by problem", text, head, body) if used else None


def _pair(paired: analysis.Paired | None) -> Value:
    if paired is None:
        return Value(formats.NONE)
    p = "< 0.001" if paired.p_value < 0.001 else f"{paired.p_value:.2g}"
    sure = paired.p_value < SIGNIFICANCE
    return Value(f"{paired.first_only} : {paired.second_only}", f"of {paired.n}, p {p}", sure=sure)


def _retold(board: Board, analyses: analysis.Measured, models: Models) -> Section | None:
    """The same problems in other words."""
    rows = [
        (
            Value(f"{set_title(name)}, {kind} models"),
            Value(formats.change(change.change)),
            Value(str(change.models)),
        )
        for name, changes in analyses.rewordings.items()
        for kind, change in changes.items()
    ]
    figures = [_arrows(board, analyses, name, models) for name in analysis.SEMANTIC_PRESERVING]
    text = (
        "Mean relative change of pass@1 from the seeds, for models that follow instructions and base models."
    )
    drawn = tuple(figure for figure in figures if figure.svg)
    head = ("Set", "change, %", "models")
    return Section("The same problems in other words", text, head, tuple(rows), drawn) if rows else None


def _arrows(board: Board, analyses: analysis.Measured, name: str, models: Models) -> Figure:
    rows = [
        DotRow(models[m].name, (row[analyses.seed], row[name]))
        for m in board.models
        if {analyses.seed, name} <= (row := analyses.board.get(m, {})).keys()
    ]
    seed = set_title(analyses.seed)
    svg = arrows(f"{seed} and {name}", (seed, name), rows[:FIGURE_ROWS])
    return Figure(svg, f"pass@1 in per cent, from {_set(analyses.seed)} to the same told {name}.")


def _compositions(board: Board, analyses: analysis.Measured, models: Models) -> Section | None:
    """Table 2 of EvoEval."""
    names = list(analyses.compositions)
    solves_parents = {
        m for row in analyses.compositions.values() for m, composition in row.items() if composition.both
    }
    order = [m for m in board.models if m in solves_parents]
    rows = [
        (model_cell(models[m]), *(_composed(analyses.compositions[name].get(m)) for name in names))
        for m in order
    ]
    text = (
        "Of the combined problems whose two parents a model solves alone, the share that it solves combined,"
        " with a 95 % interval."
    )
    return Section("Composition", text, ("Model", *map(set_title, names)), tuple(rows)) if rows else None


def _composed(composition: analysis.Composition | None) -> Value:
    return share(composition.solved_both, composition.both) if composition else Value(formats.NONE)


def _decompositions(board: Board, analyses: analysis.Measured, models: Models) -> Section | None:
    """Table 3 of EvoEval."""
    rows = []
    for model in board.models:
        counts = analyses.decompositions.get(model)
        passed = counts.passed_both + counts.passed_one + counts.passed_none if counts else 0
        if counts and (passed or counts.failed_both):
            cells = share(counts.passed_both, passed), share(counts.failed_both, counts.n - passed)
            rows.append((model_cell(models[model]), *cells))
    text = (
        "Seeds cut into two halves. Of the seeds that a model solves, the share with both halves solved:"
        " who solves a whole should solve its halves. Of those that it does not solve, the share with both"
        " halves solved: the parts are there, putting them together is not."
    )
    head = ("Model", "seed solved: both halves", "seed failed: both halves")
    return Section("Decomposition", text, head, tuple(rows)) if rows else None


def share(part: int, whole: int) -> Value:
    """A share in per cent with its counts and its interval."""
    if not whole:
        return Value(formats.NONE, "none to count")
    span = share_interval(part, whole)
    ends = f"{100 * span.low:.0f}–{100 * span.high:.0f}"
    return Value(f"{100 * part / whole:.1f}", f"{part} of {whole}, {ends}")


def _tools(board: Board, analyses: analysis.Measured, models: Models) -> Section | None:
    """tool_use beside the same problems without helper functions."""
    without, with_helpers = "tool_use-main_only", "tool_use"
    order = [m for m in board.models if {without, with_helpers} <= analyses.board.get(m, {}).keys()]
    rows = [(analyses.board[m][without], analyses.board[m][with_helpers]) for m in order]
    if not any(map(any, rows)):
        return None
    dotted = [DotRow(models[m].name, row) for m, row in zip(order, rows, strict=True)]
    svg = arrows("Without and with helper functions", ("without helpers", "with"), dotted[:FIGURE_ROWS])
    body = [
        (
            model_cell(models[m]),
            Value(f"{row[0]:.1f}"),
            Value(f"{row[1]:.1f}"),
            _pair(analyses.paired(m, without, with_helpers)),
        )
        for m, row in zip(order, rows, strict=True)
    ]
    change = analyses.helped_by_tools.get("all")
    text = "The same problems without and with helper functions; last column: solved only without, only with."
    if change:
        text += f" Mean relative change over {change.models} models: {formats.change(change.change)} %."
    head = ("Model", "without", "with", "only without : only with")
    return Section(
        "What helper functions change", text, head, tuple(body), (Figure(svg, "pass@1 in per cent."),)
    )
