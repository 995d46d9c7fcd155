"""What the evolved sets show beside each model's pass@1 (EvoEval, section 4)."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import numpy as np

from triathlon_runner.evolved import analysis
from triathlon_site.figures import DotRow, Point, arrows, scatter
from triathlon_site.models import ModelInfo
from triathlon_site.pages.board._values import named
from triathlon_site.pages.board.evolved._regions import far_below, region_border
from triathlon_site.pages.board.evolved._sampled import sampled_sections
from triathlon_site.render import Figure, Section, Value, formats
from triathlon_site.scores import Board, set_title
from triathlon_site.uncertainty import central, draw, share_interval

Models = Mapping[str, ModelInfo]
FIGURE_ROWS: Final = 30
REGION_MODELS: Final = 8
"""Fewer do not make a line from which anybody could be far."""
SIGNIFICANCE: Final = 0.05
SAYING_NOTHING: Final = (formats.NONE, "0 : 0")
LABELLED: Final = 12
"""Points that can carry their names."""


def evolved_sections(board: Board, models: Models) -> Iterator[Section]:
    """Every analysis that there are results for."""
    found = measured_of(board, models)
    makers = (_drops, _old_and_new, _pairs, _retold, _compositions, _decompositions, _tools)
    for make in makers:
        section = make(board, found, models)
        if section:
            yield section
    yield from sampled_sections(board, models)


def measured_of(board: Board, models: Models) -> analysis.Measured:
    """The runner's analyses over what the site keeps of each unit."""
    units = {m: {file.suite: file.tasks for file in board.files[m] if file.units} for m in board.models}
    kinds: dict[str, analysis.ModelKind] = {
        m: "base" if models[m].kind == "base" else "instruct" for m in board.models
    }
    (found,) = analysis.measured(units, kinds).values()
    return found


def _drops(board: Board, found: analysis.Measured, models: Models) -> Section | None:
    """Relative decreases per set and model; the mean over the models first."""
    changed = (*analysis.SEMANTIC_ALTERING, *analysis.SELF_INVOKING)
    sets = [name for name in changed if name in found.changes]
    seeds = dict.fromkeys(found.seed_of(name) for name in sets)
    order = [m for m in board.models if any(found.board.get(m, {}).get(seed) for seed in seeds)]
    if not sets or not order:
        return None
    overall = found.drops
    mean = [
        Value("Mean of the models"),
        *(Value(_fall(-found.changes[name].change), f"{found.changes[name].models} models") for name in sets),
        Value(_fall(overall.overall), f"{overall.models} models") if overall else Value(formats.NONE),
    ]
    own_drops = [_drops_of(board, found, name) for name in sets]
    rows = [
        (
            named(models[m]),
            *(drops.get(m, Value(formats.NONE)) for drops in own_drops),
            Value(_fall(overall.per_model[m]) if overall and m in overall.per_model else formats.NONE),
        )
        for m in order
    ]
    same = {name: list(found.same_seeds.get(name, {}).values()) for name in sets}
    own = [
        Value("On the same seeds"),
        *(_same_seeds(one.drop for one in same[name] if one.seeds) for name in sets),
        Value(formats.NONE),
    ]
    text = (
        f"How much less of each changed set a model solves than of {_seeds(found, sets)}, in per cent"
        " of the latter, with a 95 % interval. Second row: against only those seeds that the set’s problems"
        " were evolved from. A minus sign: solves more."
    )
    return Section(
        "Drops", text, ("Model", *(set_title(n) for n in sets), "overall"), (tuple(mean), tuple(own), *rows)
    )


def _seeds(found: analysis.Measured, sets: Sequence[str]) -> str:
    """In a sentence: `HumanEval`; with a set that has other seeds `HumanEval (MBPP Pro: of MBPP+)`."""
    others = {name: found.seed_of(name) for name in sets if found.seed_of(name) != found.seed}
    named = "; ".join(f"{set_title(name)}: of {set_title(seed)}" for name, seed in others.items())
    return _set(found.seed) + (f" ({named})" if named else "")


def _set(name: str) -> str:
    """In a sentence: `the seeds`, `HumanEval`."""
    title = set_title(name)
    return title if title[:1].isupper() else f"the {title}"


def _fall(value: float) -> str:
    return f"{round(value, 1) + 0.0:.1f}".replace("-", formats.MINUS)


def _same_seeds(drops: Iterator[float]) -> Value:
    known = [drop for drop in drops if not np.isnan(drop)]
    return Value(_fall(float(np.mean(known))), f"{len(known)} models") if known else Value(formats.NONE)


def _drops_of(board: Board, found: analysis.Measured, name: str) -> dict[str, Value]:
    """By model: the relative drop from the seeds to one set, with its interval."""
    suites, seed = {entry.set_name: entry.id for entry in board.plan.suites}, found.seed_of(name)
    seeds, changed = (
        next(c for c in board.columns if c.column.parts[0][0] == suites[one] and not c.column.headline)
        for one in (seed, name)
    )
    before, after = (draw(column.samples[0]) for column in (seeds, changed))
    low, high = central(100 * (before - after) / before)
    return {
        model: _model_drop(found.board[model][seed], found.board[model][name], low[place], high[place])
        for place, model in enumerate(sorted(board.models))
        if name in found.board.get(model, {}) and found.board[model].get(seed)
    }


def _model_drop(seeds: float, changed: float, low: float, high: float) -> Value:
    value = analysis.relative_drop(seeds, changed)
    return Value(
        _fall(value),
        f"{_fall(min(float(low), value))} to {_fall(max(float(high), value))}",
        sure=bool(low > 0 or high < 0),
    )


def _old_and_new(board: Board, found: analysis.Measured, models: Models) -> Section | None:
    """Figure 2 of EvoEval."""
    old = analysis.column(found.board, found.old)
    both = [m for m in board.models if m in old and m in found.averages]
    if len(both) < 2 or not any(old[m] or found.averages[m] for m in both):
        return None
    placed = found.regions if len(both) >= REGION_MODELS else {}
    far = [m for m in both if m in placed and placed[m].region != "aligned"]
    old_title = formats.sentence(set_title(found.old))
    labelled = both if len(both) <= LABELLED else far
    svg = scatter(
        f"Mean over the evolved sets against {old_title}",
        [Point(models[m].name, old[m], found.averages[m], m in labelled, m in far) for m in both],
        x_title=f"{old_title}, pass@1",
        y_title="mean pass@1",
        x_maximum=100,
        y_maximum=100,
        identity=True,
        border=region_border(placed),
    )
    text = (
        far_below(len(far), len(both), "the line through all of them")
        if placed
        else f"{len(both)} models are too few to say which of them lie far from the others."
    )
    caption = (
        "Dashed: equal scores. Below it, a model solves more of the old problems than of the changed ones."
    )
    return Section(f"{old_title} against the evolved sets", text, figures=(Figure(svg, caption),))


def _pairs(board: Board, found: analysis.Measured, models: Models) -> Section | None:
    """Problem by problem: a seed solved and its change not, and the reverse."""
    sets = [entry.set_name for entry in board.plan.suites if entry.id != entry.seeds]
    rows = []
    for model in board.models:
        pairs = {name: found.paired(model, found.seed_of(name), name) for name in sets}
        if any(pairs.values()):
            rows.append((named(models[model]), *(_pair(pairs[name]) for name in sets)))
    used = [i for i in range(len(sets)) if any(row[i + 1].text not in SAYING_NOTHING for row in rows)]
    text = (
        "Each changed problem beside the seeds that it came from: how often only the seeds were solved, and"
        " how often only the changed problem; small print: McNemar’s exact p, each by itself. On sets as hard"
        " as their seeds (subtle, verbose, concise) a surplus on the left says that the seed was remembered."
    )
    head = ("Model", *(set_title(sets[i]) for i in used))
    kept = tuple((row[0], *(row[i + 1] for i in used)) for row in rows)
    return Section("Seed against change, problem by problem", text, head, kept) if used else None


def _pair(found: analysis.Paired | None) -> Value:
    if found is None:
        return Value(formats.NONE)
    p = "< 0.001" if found.p_value < 0.001 else f"{found.p_value:.2g}"
    sure = found.p_value < SIGNIFICANCE
    return Value(f"{found.first_only} : {found.second_only}", f"of {found.n}, p {p}", sure=sure)


def _retold(board: Board, found: analysis.Measured, models: Models) -> Section | None:
    """The same problems in other words."""
    rows = [
        (
            Value(f"{set_title(name)}, {kind} models"),
            Value(formats.change(one.change)),
            Value(str(one.models)),
        )
        for name, changes in found.rewordings.items()
        for kind, one in changes.items()
    ]
    figures = [_arrows(board, found, name, models) for name in analysis.SEMANTIC_PRESERVING]
    text = (
        "Mean relative change of pass@1 from the seeds, for models that follow instructions and base models."
    )
    drawn = tuple(figure for figure in figures if figure.svg)
    head = ("Set", "change, %", "models")
    return Section("The same problems in other words", text, head, tuple(rows), drawn) if rows else None


def _arrows(board: Board, found: analysis.Measured, name: str, models: Models) -> Figure:
    rows = [
        DotRow(models[m].name, (row[found.seed], row[name]))
        for m in board.models
        if {found.seed, name} <= (row := found.board.get(m, {})).keys()
    ]
    seed = set_title(found.seed)
    svg = arrows(f"{seed} and {name}", (seed, name), rows[:FIGURE_ROWS])
    return Figure(svg, f"pass@1 in per cent, from {_set(found.seed)} to the same told {name}.")


def _compositions(board: Board, found: analysis.Measured, models: Models) -> Section | None:
    """Table 2 of EvoEval."""
    names = list(found.compositions)
    # some combined problem has two parents that the model solves
    order = [
        m for m in board.models if any((one := found.compositions[n].get(m)) and one.both for n in names)
    ]
    rows = [
        (named(models[m]), *(_composed(found.compositions[name].get(m)) for name in names)) for m in order
    ]
    text = (
        "Of the combined problems whose two parents a model solves alone, the share that it solves combined,"
        " with a 95 % interval."
    )
    return Section("Composition", text, ("Model", *map(set_title, names)), tuple(rows)) if rows else None


def _composed(one: analysis.Composition | None) -> Value:
    return share(one.solved_both, one.both) if one else Value(formats.NONE)


def _decompositions(board: Board, found: analysis.Measured, models: Models) -> Section | None:
    """Table 3 of EvoEval."""
    rows = []
    for model in board.models:
        one = found.decompositions.get(model)
        if one and (one.passed_both or one.passed_one or one.passed_none or one.failed_both):
            passed = one.passed_both + one.passed_one + one.passed_none
            cells = share(one.passed_both, passed), share(one.failed_both, one.n - passed)
            rows.append((named(models[model]), *cells))
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


def _tools(board: Board, found: analysis.Measured, models: Models) -> Section | None:
    """tool_use beside the same problems without helper functions."""
    without, given = "tool_use-main_only", "tool_use"
    order = [m for m in board.models if {without, given} <= found.board.get(m, {}).keys()]
    if not any(found.board[m][name] for m in order for name in (without, given)):
        return None
    rows = [(found.board[m][without], found.board[m][given]) for m in order]
    dotted = [DotRow(models[m].name, row) for m, row in zip(order, rows, strict=True)]
    svg = arrows("Without and with helper functions", ("without helpers", "with"), dotted[:FIGURE_ROWS])
    body = [
        (
            named(models[m]),
            Value(f"{row[0]:.1f}"),
            Value(f"{row[1]:.1f}"),
            _pair(found.paired(m, without, given)),
        )
        for m, row in zip(order, rows, strict=True)
    ]
    helped = found.helped_by_tools.get("all")
    text = "The same problems without and with helper functions; last column: solved only without, only with."
    if helped:
        text += f" Mean relative change over {helped.models} models: {formats.change(helped.change)} %."
    head = ("Model", "without", "with", "only without : only with")
    return Section(
        "What helper functions change", text, head, tuple(body), (Figure(svg, "pass@1 in per cent."),)
    )
