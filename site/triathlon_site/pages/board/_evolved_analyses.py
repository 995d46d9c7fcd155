"""EvoEval's analyses of scores by model and set, whether they were graded here or published."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from statistics import fmean

from triathlon_site import analysis
from triathlon_site.figures import Border, Point, scatter
from triathlon_site.render import Figure, Section, Value, formats

REGION_MODELS = 8
"""Models below which there is no line through them from which one could be far."""
LABELLED = 12
"""Points that can carry their names."""


def fall(value: float) -> str:
    """A drop in per cent, with a minus sign where more is solved."""
    return formats.change(value).removeprefix("+")


def fall_cell(drop: float) -> Value:
    """The same as a cell."""
    return Value(fall(drop), number=drop)


def range_cell(drops: Iterable[float]) -> Value:
    """The lowest and the highest of the models' drops."""
    low, high = min(known := list(drops)), max(known)
    return Value(f"{fall(low)} to {fall(high)}", details={"lowest": low, "highest": high})


def drops_by_model(rows: Mapping[str, Mapping[str, float]], titles: Mapping[str, str]) -> Iterator[Section]:
    """Relative drops of each model on each set, with mean and range; nothing where no model has all sets."""
    drops = analysis.drops(rows)
    if drops is None:
        return
    columns = {
        titles[name]: {
            m: analysis.relative_drop(rows[m][analysis.SEED], rows[m][name]) for m in drops.per_model
        }
        for name in analysis.SEMANTIC_ALTERING
    }
    columns |= {"mean of the five": dict(drops.of_five_sets), "to the average": dict(drops.per_model)}
    every = columns.values()
    body = [
        (Value("Mean of the models", of_all=True), *(fall_cell(fmean(of.values())) for of in every)),
        (Value("Lowest to highest", of_all=True), *(range_cell(of.values()) for of in every)),
        *((Value(model), *(fall_cell(of[model]) for of in every)) for model in drops.per_model),
    ]
    text = (
        f"Relative decrease of pass@1 from {titles[analysis.SEED]}, in per cent, for {drops.models} models:"
        f" {drops.overall:.1f} on the mean of the five sets, {range_cell(drops.per_model.values()).text} to"
        " the average, which has the originals among its six sets."
    )
    yield Section("Drops", text, ("Model", *columns), tuple(body))


def changes_by_kind(
    changes: Mapping[str, Mapping[str, analysis.Change]], figures: Sequence[Figure] = ()
) -> Iterator[Section]:
    """Mean relative changes for instruct and base models apart (EvoEval, sections 4.1 and 4.3).

    Args:
        changes: by title of a set, then by kind of model.
        figures: drawn below.
    """
    rows = [
        (
            Value(f"{title}, {kind} models"),
            Value(formats.change(change.change), number=change.change),
            Value(str(change.models), number=change.models),
        )
        for title, of_set in changes.items()
        for kind, change in of_set.items()
    ]
    text = (
        "Mean relative change of pass@1 from the seeds, for models that follow instructions and base models;"
        " of tool use, from the same problems without helper functions."
    )
    if rows:
        head, drawn = ("Set", "change, %", "models"), tuple(figure for figure in figures if figure.svg)
        yield Section("What other words and helpers change", text, head, tuple(rows), drawn)


def old_against_new(
    old: Mapping[str, float], new: Mapping[str, float], old_title: str, names: Mapping[str, str]
) -> Iterator[Section]:
    """Figure 2 of EvoEval: the mean over the evolved sets against the old benchmark.

    Args:
        old: by model.
        new: by model.
        old_title: of the old benchmark.
        names: of the models, in their order.
    """
    with_both = [m for m in names if m in old and m in new]
    if len(with_both) < 2 or not any(old[m] or new[m] for m in with_both):
        return
    placed = analysis.regions(old, new) if len(with_both) >= REGION_MODELS else {}
    far = [m for m in with_both if m in placed and placed[m].region != "aligned"]
    labelled = with_both if len(with_both) <= LABELLED else far
    svg = scatter(
        f"Mean over the evolved sets against {old_title}",
        [Point(names[m], old[m], new[m], m in labelled, m in far) for m in with_both],
        x_title=f"{old_title}, pass@1",
        y_title="mean pass@1",
        identity=True,
        border=region_border(placed),
    )
    text = (
        _far_below(len(far), len(with_both), "the line through all of them")
        if placed
        else f"{len(with_both)} models are too few to say which of them lie far from the others."
    )
    caption = (
        "Dashed: equal scores. Below it, a model solves more of the old problems than of the changed ones."
    )
    yield Section(f"{old_title} against the evolved sets", text, figures=(Figure(svg, caption),))


def _far_below(far: int, models: int, line: str) -> str:
    """A sentence on how many models lie in the lower region, far below the line that is called `line`."""
    if not far:
        return f"None of {models} models lies far below {line}."
    if far == 1:
        squares, verb, know, solve = "the square", "lies", "it knows", "it solves"
    else:
        squares, verb, know, solve = "squares", "lie", "they know", "they solve"
    return (
        f"{far} of {models} models ({squares}, in the shaded region) {verb} far below {line}:"
        f" {know} the old problems better than {solve} changed ones."
    )


def region_border(placed: Mapping[str, analysis.Placed]) -> Border | None:
    """The line that lies `FAR` robust deviations below the one through all models.

    None where the models do not spread, so that no such line is known.
    """
    models = sorted(placed.values(), key=lambda model: (model.old, model.distance))
    spread = next(((m.new - m.expected) / m.distance for m in models if m.distance), None)
    if spread is None or models[0].old == models[-1].old:
        return None
    first, last = models[0], models[-1]
    slope = (last.expected - first.expected) / (last.old - first.old)
    intercept = first.expected - slope * first.old - analysis.FAR * spread
    return Border(intercept, slope, "aligned", "better on the old")
