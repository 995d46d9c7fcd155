"""The evolved discipline on the pages: the analyses of its sets (EvoEval, section 4)."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from statistics import fmean
from typing import Final

from triathlon_runner.records import EvolvedRecord
from triathlon_runner.suites import SuiteEntry
from triathlon_runner.terminal import counted
from triathlon_site import analysis
from triathlon_site.evidence import Article
from triathlon_site.models import Models
from triathlon_site.pages.board._parts import (
    UNKNOWN,
    Cells,
    DisciplineView,
    Setting,
    count_cell,
    model_table,
    own_files,
    score_cell,
    settings_table,
)
from triathlon_site.ranking import SIGNIFICANCE
from triathlon_site.render import Section, Value, formats
from triathlon_site.scores import Board, sample_of, set_title, variant_title, variants_of
from triathlon_site.uncertainty import Sample, ratio_interval, share_interval

OVER_SETS: Final = ("mean of the five", "to the average")


def evolved_sections(board: Board, models: Models) -> Iterator[Section]:
    """A section for each analysis that has results."""
    units = {  # what is missing of a file with open units may be what the model failed
        model: {file.suite: file.tasks for file in board.files[model] if file.units and not file.open_units}
        for model in board.models
    }
    kinds = {m: kind for m in board.models if (kind := models[m].kind)}
    protocols = {(m, file.suite): file.protocol for m in board.models for file in board.files[m]}
    analyses = analysis.Measured(board.plan.suites, units, kinds, protocols)
    yield from _drops(board, analyses, models)
    yield from _pairs(board, analyses, models)
    yield from changes_by_kind({set_title(name): of for name, of in analyses.by_kind.items()})
    yield from _compositions(board, analyses, models)
    yield from _decompositions(board, analyses, models)
    settings: dict[str, Setting] = {
        f"{set_title(suite.set_name)} at {variant_title(suite)}": (board.of_suite(suite.id), suite.metrics)
        for suite in variants_of(board, "temperatures")
    }
    yield from settings_table(
        "Several samples at a temperature",
        "The unbiased estimate of pass@k (Chen et al. 2021) over the tasks that have k samples or more.",
        models,
        board.models,
        settings,
        over_repeats=False,
    )


def _fall(value: float) -> str:
    """A drop in per cent, with a minus sign where more is solved."""
    return formats.signed(value, 100).removeprefix("+")


def _drop_cell(drop: float) -> Value:
    return Value(_fall(drop), number=drop)


def _range_cell(drops: Iterable[float]) -> Value:
    """The lowest and the highest of the models' drops."""
    known = list(drops)
    if not known:
        return UNKNOWN
    low, high = min(known), max(known)
    return Value(f"{_fall(low)} to {_fall(high)}", details={"lowest": low, "highest": high})


def _mean_cell(drops: Sequence[float]) -> Value:
    if not drops:
        return UNKNOWN
    mean, models = fmean(drops), len(drops)
    return Value(_fall(mean), counted(models, "model"), mean, {"models": models})


def _drops(board: Board, analyses: analysis.Measured, models: Models) -> Iterator[Section]:
    """Relative decreases per set and model; the mean over the models first."""
    added = (name for name, entry in analyses.sets.items() if entry.user_data)
    changed = (*analysis.SEMANTIC_ALTERING, *analysis.SELF_INVOKING, *added)
    groups = {name: analyses.alike(analyses.seed_of(name), name) for name in changed if name in analyses.sets}
    sets = [name for name, group in groups.items() if group and analyses.seed_of(name) != name]
    seeds = {name: analyses.seed_of(name) for name in sets}
    order = [m for m in board.models if any(analyses.board.get(m, {}).get(s) for s in seeds.values())]
    if not sets or not order:
        return
    columns: dict[str, Cells] = {set_title(name): _drops_of(board, analyses, name) for name in sets}
    alike = [groups[name] for name in sets]
    if board.plan.family != "added" and (drops := analyses.drops):
        for title, of in zip(OVER_SETS, (drops.of_five_sets, drops.per_model), strict=True):
            columns[title] = {model: _drop_cell(drop) for model, drop in of.items()}
            alike.append(analyses.alike(analyses.seed, *analysis.SEMANTIC_ALTERING))
    known = [
        [cell.number for model, cell in of.items() if model in group and cell.number is not None]
        for of, group in zip(columns.values(), alike, strict=True)
    ]
    pairs = (analyses.pairs.get(name, {}) for name in sets)
    same_seeds = [
        [pair.drop for model, pair in of.items() if model in group and pair.drop is not None]
        for of, group in zip(pairs, alike, strict=False)
    ]
    others = "; ".join(
        f"{set_title(name)}: of {set_title(seed)}" for name, seed in seeds.items() if seed != analyses.seed
    )
    title = set_title(analyses.seed)
    against = (title if title[:1].isupper() else f"the {title}") + (f" ({others})" if others else "")
    to_average = (
        " To the average: from the seeds to the EvoEval average, which has the seeds among its six sets."
    )
    some = any(len(drops) < len(of) for drops, of in zip(known, columns.values(), strict=True))
    of_most = " Means and ranges are over the models under one protocol, that of most." if some else ""
    yield model_table(
        "Drops",
        f"How much less of each changed set a model solves than of {against}, in per cent"
        " of the latter, with a 95 % interval from five seeds on. On the same seeds: against only those that"
        f" the set’s problems were evolved from. A minus sign: solves more."
        f"{to_average if OVER_SETS[1] in columns else ''}{of_most}",
        models,
        order,
        columns,
        above=(
            (Value("Mean of the models", of_all=True), *map(_mean_cell, known)),
            (Value("Lowest to highest", of_all=True), *map(_range_cell, known)),
            (Value("On the same seeds", of_all=True), *map(_mean_cell, same_seeds)),
        ),
    )


def _drops_of(board: Board, analyses: analysis.Measured, name: str) -> dict[str, Value]:
    """By model: the relative drop from the seeds to one set, with its interval where it has one."""
    seed, order = analyses.seed_of(name), sorted(board.models)

    def of_each(entry: SuiteEntry) -> list[Sample]:
        metric = next(metric for metric in entry.metrics if metric.headline)
        # also of other protocols: a model is compared with itself alone
        sample = sample_of(entry.id, metric, own_files(board, entry.id), order)
        # one by one, so that equal models have equal intervals, whichever others there are
        return [sample.of_models([row]) for row in range(len(order))]

    drops = {}
    for model, *samples in zip(order, *(of_each(analyses.sets[each]) for each in (seed, name)), strict=True):
        scores = analyses.board.get(model, {})
        if name in scores and scores.get(seed):
            value = analysis.relative_drop(scores[seed], scores[name])
            span = ratio_interval(*samples)
            if not span.known:
                drops[model] = replace(_drop_cell(value), sure=False)
                continue
            low, high = (100 * (1 - end) for end in (span.high, span.low))
            ends = min(low, value), max(high, value)
            details = dict(zip(("low", "high"), ends, strict=True))
            sure = low > 0 or high < 0
            drops[model] = Value(_fall(value), " to ".join(map(_fall, ends)), value, details, sure=sure)
    return drops


def drops_by_model(
    rows: Mapping[str, Mapping[str, float]], titles: Mapping[str, str], models: Models
) -> Iterator[Section]:
    """Relative drops of each model of a published table, with mean and range (EvoEval, section 4.1).

    Nothing where no model has all sets.
    """
    drops = analysis.drops(rows)
    if drops is None:
        return
    columns: dict[str, Mapping[str, float]] = {
        titles[name]: {
            m: analysis.relative_drop(rows[m][analysis.SEED], rows[m][name]) for m in drops.per_model
        }
        for name in analysis.SEMANTIC_ALTERING
    }
    columns |= dict(zip(OVER_SETS, (drops.of_five_sets, drops.per_model), strict=True))
    every = columns.values()
    text = (
        f"Relative decrease of pass@1 from {titles[analysis.SEED]}, in per cent, for {drops.models} models:"
        f" {drops.overall:.1f} on the mean of the five sets, {_range_cell(drops.per_model.values()).text} to"
        " the average, which has the originals among its six sets."
    )
    yield model_table(
        "Drops",
        text,
        models,
        drops.per_model,
        {title: {m: _drop_cell(drop) for m, drop in of.items()} for title, of in columns.items()},
        above=(
            (Value("Mean of the models", of_all=True), *(_drop_cell(fmean(of.values())) for of in every)),
            (Value("Lowest to highest", of_all=True), *(_range_cell(of.values()) for of in every)),
        ),
    )


def changes_by_kind(changes: Mapping[str, Mapping[str, analysis.Change]]) -> Iterator[Section]:
    """Mean relative changes for instruct and base models apart (EvoEval, sections 4.1 and 4.3).

    `changes`: by title of a set, then by kind of model.
    """
    rows = [
        (
            Value(f"{title}, {kind} models"),
            Value(formats.signed(change.change, 100), number=change.change),
            count_cell(change.models),
        )
        for title, of_set in changes.items()
        for kind, change in of_set.items()
    ]
    text = (
        "Mean relative change of pass@1 from the seeds, for models that follow instructions and base models;"
        " of tool use, from the same problems without helper functions."
    )
    if rows:
        head = ("Set", "change, %", "models")
        yield Section("What other words and helpers change", text, head, tuple(rows))


def _pairs(board: Board, analyses: analysis.Measured, models: Models) -> Iterator[Section]:
    """Problem by problem: a seed solved and its change not, and the reverse."""
    columns: dict[str, Cells] = {}
    for name, pairs in analyses.pairs.items():
        if any(pair.first_only or pair.second_only for pair in pairs.values()):
            columns[set_title(name)] = {model: _pair_cell(pair) for model, pair in pairs.items()}
    text = (
        "Each changed problem beside the seeds that it came from: how often only the seeds were solved, and"
        " how often only the changed problem; small print: McNemar’s exact p, each by itself."
    )
    if board.plan.family == "official":  # nobody can have learnt our own problems, or a user's
        text += (
            " On sets as hard as their seeds (verbose, concise) a surplus on the left can come from seeds"
            " that the model has seen in training."
        )
    if columns:
        order = [m for m in board.models if any(m in cells for cells in columns.values())]
        yield model_table("Seed against change, problem by problem", text, models, order, columns)


def _pair_cell(paired: analysis.Paired) -> Value:
    p = "< 0.001" if paired.p_value < 0.001 else f"{paired.p_value:.2g}"
    counts = {"first only": paired.first_only, "second only": paired.second_only, "of": paired.n}
    return Value(
        f"{paired.first_only} : {paired.second_only}",
        f"of {paired.n}, p {p}",
        details={**counts, "p": paired.p_value},
        sure=paired.p_value < SIGNIFICANCE,
    )


def _compositions(board: Board, analyses: analysis.Measured, models: Models) -> Iterator[Section]:
    """Table 2 of EvoEval."""
    text = (
        "Combined problems by how many of their two parents a model solves alone, how many of each it"
        " solves combined, and the share of those with both parents solved, with a 95 % interval."
    )
    for name, by_model in analyses.compositions.items():
        found = {m: by_model[m] for m in board.models if m in by_model and by_model[m].every[0]}
        columns: dict[str, Cells] = {}
        for start, counts in (
            ("parents solved:", {m: one.every for m, one in found.items()}),
            ("combined solved, of", {m: one.solved for m, one in found.items()}),
        ):
            for place, how in enumerate(analysis.HOW_MANY):
                columns[f"{start} {how}"] = {m: count_cell(of[place]) for m, of in counts.items()}
        columns["composition, %"] = {
            m: share(one.solved[0], one.every[0], one.of_both) for m, one in found.items()
        }
        if found:
            title = "Composition" if name == "combine" else f"Composition, {set_title(name)}"
            yield model_table(title, text, models, found, columns)


def _decompositions(board: Board, analyses: analysis.Measured, models: Models) -> Iterator[Section]:
    """Table 3 of EvoEval."""
    text = (
        "Seeds cut into two halves. Of the seeds that a model solves, the share with both halves solved:"
        " who solves a whole should solve its halves. Of those that it does not solve, the share with both"
        " halves solved: the parts are there, putting them together is not."
    )
    for name, by_model in analyses.decompositions.items():
        found = {
            m: one for m in board.models if (one := by_model.get(m)) and (any(one.solved) or one.failed[0])
        }
        columns: dict[str, Cells] = {}
        for start, percentage, counts in (
            ("seed solved", "decomposition, %", {m: one.solved for m, one in found.items()}),
            ("seed failed", "recomposition, %", {m: one.failed for m, one in found.items()}),
        ):
            columns[start] = {m: count_cell(sum(of)) for m, of in counts.items()}
            for place, halves in enumerate(("both halves", "one half", "no half")):
                columns[f"{start}: {halves}"] = {m: count_cell(of[place]) for m, of in counts.items()}
            columns[percentage] = {m: share(of[0], sum(of)) for m, of in counts.items()}
        if found:
            title = "Decomposition" if name == "decompose" else f"Decomposition, {set_title(name)}"
            yield model_table(title, text, models, found, columns)


def share(part: int, whole: int, seeds: Sequence[tuple[str, ...]] = ()) -> Value:
    """A share in per cent with its counts and its interval; `seeds`: of each one, the part first."""
    if not whole:
        return Value(formats.NONE, "none to count", details={"of": 0})
    span = share_interval(part, whole, seeds)
    ends = f"{100 * span.low:.0f}–{100 * span.high:.0f}"
    details = {"count": part, "of": whole, "low": 100 * span.low, "high": 100 * span.high}
    return score_cell(100 * part / whole, 100, f"{part} of {whole}, {ends}", **details)


EVOLVED = DisciplineView(
    in_words="solving new and changed problems",
    figures_title="Set by set",
    endings="A unit is one answer to a problem, over all sets that the board shows.",
    sections=evolved_sections,
    articles={EvolvedRecord: Article("board/evolved_unit")},
    about_prompts="EvoEval words its instruction for each family of models; ours is one for all.",
)
