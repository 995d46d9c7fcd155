"""The evolved discipline on the pages: the analyses of its sets (EvoEval, section 4)."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from statistics import fmean
from typing import Final

import numpy as np

from triathlon_runner.llm import ModelKind
from triathlon_runner.metrics import Metric
from triathlon_runner.records import EvolvedRecord
from triathlon_runner.terminal import counted
from triathlon_site import analysis
from triathlon_site.evidence import Article
from triathlon_site.figures import DotRow, arrows
from triathlon_site.load import FileAggregate
from triathlon_site.models import Models
from triathlon_site.pages.board._evolved_analyses import (
    changes_by_kind,
    fall,
    fall_cell,
    old_against_new,
    range_cell,
)
from triathlon_site.pages.board._parts import (
    FIGURE_ROWS,
    UNKNOWN,
    DisciplineView,
    FrontColumn,
    count_cell,
    curve_and_radar,
    model_table,
    score_cell,
)
from triathlon_site.render import Figure, Section, Value, formats
from triathlon_site.scores import Board, set_title, total, variants_of
from triathlon_site.uncertainty import central, draw, share_interval

SIGNIFICANCE: Final = 0.05
HOW_MANY: Final = ("both", "one", "none")


def evolved_sections(board: Board, models: Models) -> Iterator[Section]:
    """A section for each analysis that has results."""
    units = {m: {file.suite: file.tasks for file in board.files[m] if file.units} for m in board.models}
    kinds: dict[str, ModelKind] = {
        m: "base" if models[m].kind == "base" else "instruct" for m in board.models
    }
    analyses = analysis.measured(board.plan.suites, units, kinds)
    for make in (_drops, _old_and_new, _pairs, _changes, _compositions, _decompositions, _tools):
        yield from make(board, analyses, models)
    yield from _sampled(board, models)


def _drops(board: Board, analyses: analysis.Measured, models: Models) -> Iterator[Section]:
    """Relative decreases per set and model; the mean over the models first."""
    added = (name for name, entry in analyses.sets.items() if entry.user_data)
    changed = (*analysis.SEMANTIC_ALTERING, *analysis.SELF_INVOKING, *added)
    sets = [name for name in changed if name in analyses.changes]
    seeds = dict.fromkeys(analyses.seed_of(name) for name in sets)
    order = [m for m in board.models if any(analyses.board.get(m, {}).get(seed) for seed in seeds)]
    if not sets or not order:
        return
    means = [_mean_cell(-analyses.changes[name].change, analyses.changes[name].models) for name in sets]
    columns = {set_title(name): _drops_of(board, analyses, name) for name in sets}
    over_sets: dict[str, Mapping[str, float]] = {}
    if board.plan.family != "added":
        over_sets = {"mean of the five": {}, "to the average": {}}
    if drops := analyses.drops:
        over_sets = {"mean of the five": drops.of_five_sets, "to the average": drops.per_model}
        means += [_mean_cell(drop, drops.models) for drop in (drops.overall, fmean(drops.per_model.values()))]
    columns |= {title: {m: fall_cell(drop) for m, drop in of.items()} for title, of in over_sets.items()}
    falls = [[c.number for c in of.values() if c.number is not None] for of in columns.values()]
    ranges = [range_cell(of) if of else UNKNOWN for of in falls]
    same_seeds = [_mean_drop(analyses.same_seeds.get(name, {}).values()) for name in sets]
    yield model_table(
        "Drops",
        f"How much less of each changed set a model solves than of {_seeds(analyses, sets)}, in per cent"
        " of the latter, with a 95 % interval. On the same seeds: against only those that the set’s problems"
        " were evolved from. A minus sign: solves more."
        + (
            " To the average: from the seeds to the EvoEval average, which has the seeds among its six sets."
            if over_sets
            else ""
        ),
        models,
        order,
        columns,
        above=(
            (Value("Mean of the models", of_all=True), *means),
            (Value("Lowest to highest", of_all=True), *ranges),
            (Value("On the same seeds"), *same_seeds),
        ),
    )


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


def _mean_drop(models: Iterable[analysis.SameSeeds]) -> Value:
    """The mean over the models whose drop against the seeds of the set's own problems is known."""
    known = [model.drop for model in models if model.seeds and not np.isnan(model.drop)]
    return _mean_cell(float(np.mean(known)), len(known)) if known else UNKNOWN


def _mean_cell(drop: float, models: int) -> Value:
    return Value(fall(drop), counted(models, "model"), drop, {"models": models})


def _drops_of(board: Board, analyses: analysis.Measured, name: str) -> dict[str, Value]:
    """By model: the relative drop from the seeds to one set, with its interval."""
    suites, seed = {entry.set_name: entry.id for entry in board.plan.suites}, analyses.seed_of(name)
    before, after = (
        draw(
            next(c for c in board.columns if c.column.parts[0][0] == suite and not c.column.headline).samples[
                0
            ]
        )
        for suite in (suites[seed], suites[name])
    )
    low, high = central(100 * (before - after) / before)
    drops = {}
    for place, model in enumerate(sorted(board.models)):
        scores = analyses.board.get(model, {})
        if name in scores and scores.get(seed):
            value = analysis.relative_drop(scores[seed], scores[name])
            ends = min(float(low[place]), value), max(float(high[place]), value)
            sure = bool(low[place] > 0 or high[place] < 0)
            details = dict(zip(("low", "high"), ends, strict=True))
            drops[model] = Value(fall(value), " to ".join(map(fall, ends)), value, details, sure=sure)
    return drops


def _old_and_new(board: Board, analyses: analysis.Measured, models: Models) -> Iterator[Section]:
    """Figure 2 of EvoEval."""
    old = analysis.column(analyses.board, analyses.old)
    title = formats.sentence(set_title(analyses.old))
    yield from old_against_new(old, analyses.averages, title, {m: models[m].label for m in board.models})


def _pairs(board: Board, analyses: analysis.Measured, models: Models) -> Iterator[Section]:
    """Problem by problem: a seed solved and its change not, and the reverse."""
    columns = {}
    models_with_pairs: set[str] = set()
    for entry in board.plan.suites:
        name = entry.set_name
        if name != analyses.seed_of(name):
            seed = analyses.seed_of(name)
            pairs = {m: pair for m in board.models if (pair := analyses.paired(m, seed, name))}
            models_with_pairs |= pairs.keys()
            if any(pair.first_only or pair.second_only for pair in pairs.values()):
                columns[set_title(name)] = {model: _pair(pair) for model, pair in pairs.items()}
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
        order = [model for model in board.models if model in models_with_pairs]
        yield model_table("Seed against change, problem by problem", text, models, order, columns)


def _pair(paired: analysis.Paired) -> Value:
    p = "< 0.001" if paired.p_value < 0.001 else f"{paired.p_value:.2g}"
    sure = paired.p_value < SIGNIFICANCE
    counts = {"first only": paired.first_only, "second only": paired.second_only, "of": paired.n}
    return Value(
        f"{paired.first_only} : {paired.second_only}",
        f"of {paired.n}, p {p}",
        details={**counts, "p": paired.p_value},
        sure=sure,
    )


def _changes(board: Board, analyses: analysis.Measured, models: Models) -> Iterator[Section]:
    """The same problems in other words, and with helper functions, by kind of model."""
    figures = []
    for name in analyses.made_by(*analysis.SEMANTIC_PRESERVING):
        seed, title = analyses.seed_of(name), set_title(name)
        dots = _dots(board, analyses, seed, name, models)
        svg = arrows(f"{set_title(seed)} and {title}", (set_title(seed), title), dots)
        figures.append(Figure(svg, f"pass@1 in per cent, from {_set(seed)} to the same told {title}."))
    yield from changes_by_kind(
        {set_title(name): changes for name, changes in analyses.by_kind.items()}, figures
    )


def _dots(board: Board, analyses: analysis.Measured, old: str, new: str, models: Models) -> list[DotRow]:
    """pass@1 of the first models that have both sets."""
    rows = {m: row for m in board.models if {old, new} <= (row := analyses.board.get(m, {})).keys()}
    return [DotRow(models[m].label, (row[old], row[new])) for m, row in list(rows.items())[:FIGURE_ROWS]]


def _compositions(board: Board, analyses: analysis.Measured, models: Models) -> Iterator[Section]:
    """Table 2 of EvoEval."""
    for name, by_model in analyses.compositions.items():
        order = [m for m in board.models if m in by_model and by_model[m].both]
        columns = {
            f"{start} {how}": {m: count_cell(getattr(by_model[m], f"{field}{how}")) for m in order}
            for start, field in (("parents solved:", ""), ("combined solved, of", "solved_"))
            for how in HOW_MANY
        }
        columns["composition, %"] = {m: share(by_model[m].solved_both, by_model[m].both) for m in order}
        text = (
            "Combined problems by how many of their two parents a model solves alone, how many of each it"
            " solves combined, and the share of those with both parents solved, with a 95 % interval."
        )
        if order:
            title = "Composition" if name == "combine" else f"Composition, {set_title(name)}"
            yield model_table(title, text, models, order, columns)


def _decompositions(board: Board, analyses: analysis.Measured, models: Models) -> Iterator[Section]:
    """Table 3 of EvoEval."""
    text = (
        "Seeds cut into two halves. Of the seeds that a model solves, the share with both halves solved:"
        " who solves a whole should solve its halves. Of those that it does not solve, the share with both"
        " halves solved: the parts are there, putting them together is not."
    )
    for name, by_model in analyses.decompositions.items():
        solved = {m: c for m in board.models if (c := by_model.get(m)) and (c.passed or c.failed_both)}
        if solved:
            title = "Decomposition" if name == "decompose" else f"Decomposition, {set_title(name)}"
            yield model_table(title, text, models, solved, _decomposition_columns(solved))


def _decomposition_columns(by_model: Mapping[str, analysis.Decomposition]) -> dict[str, dict[str, Value]]:
    columns: dict[str, dict[str, Value]] = {}
    for start, field, percentage in (
        ("seed solved", "passed", "decomposition, %"),
        ("seed failed", "failed", "recomposition, %"),
    ):
        columns[start] = {m: count_cell(getattr(c, field)) for m, c in by_model.items()}
        for how in HOW_MANY:
            cells = {m: count_cell(getattr(c, f"{field}_{how}")) for m, c in by_model.items()}
            columns[f"{start}: {how} halves"] = cells
        columns[percentage] = {
            m: share(getattr(c, f"{field}_both"), getattr(c, field)) for m, c in by_model.items()
        }
    return columns


def share(part: int, whole: int) -> Value:
    """A share in per cent with its counts and its interval."""
    if not whole:
        return Value(formats.NONE, "none to count", details={"of": 0})
    span = share_interval(part, whole)
    ends = f"{100 * span.low:.0f}–{100 * span.high:.0f}"
    details = {"count": part, "of": whole, "low": 100 * span.low, "high": 100 * span.high}
    return score_cell(100 * part / whole, 100, f"{part} of {whole}, {ends}", **details)


def _tools(board: Board, analyses: analysis.Measured, models: Models) -> Iterator[Section]:
    """tool_use beside the same problems without helper functions."""
    without, with_helpers = "tool_use-main_only", "tool_use"
    rows = {m: analyses.board.get(m, {}) for m in board.models}
    order = [m for m, row in rows.items() if {without, with_helpers} <= row.keys()]
    if not any(rows[m][without] or rows[m][with_helpers] for m in order):
        return
    dotted = _dots(board, analyses, without, with_helpers, models)
    svg = arrows("Without and with helper functions", ("without helpers", "with"), dotted)
    text = "The same problems without and with helper functions; last column: solved only without, only with."
    if (change := analyses.helped_by_tools) and change.models > 1:
        text += f" Mean relative change over {change.models} models: {formats.change(change.change)} %."
    pairs = {m: pair for m in order if (pair := analyses.paired(m, without, with_helpers))}
    columns = {
        "without": {m: score_cell(rows[m][without], 100) for m in order},
        "with": {m: score_cell(rows[m][with_helpers], 100) for m in order},
        "only without : only with": {model: _pair(pair) for model, pair in pairs.items()},
    }
    figures = [Figure(svg, "pass@1 in per cent.")]
    yield model_table("What helper functions change", text, models, order, columns, figures=figures)


def _sampled(board: Board, models: Models) -> Iterator[Section]:
    """pass@k by model and set, where one was asked several times at a temperature."""
    found: list[tuple[list[Value], dict[str, Value]]] = []
    for variant in variants_of(board, "temperatures"):
        setting = f"{set_title(variant.entry.set_name)} at {variant.title}"
        for model, file in board.of_suite(variant.entry.id).items():
            samples = count_cell(int(file.frame["sample"].max()) + 1)
            name = Value(models[model].label, link=models[model].page)
            cells = {metric.title: _pass_at(file, metric) for metric in variant.entry.metrics}
            known = {title: cell for title, cell in cells.items() if cell}
            found.append(([name, Value(setting), samples], known))
    titles = list(dict.fromkeys(title for _, cells in found for title in cells))
    rows = tuple((*start, *(cells.get(title, UNKNOWN) for title in titles)) for start, cells in found)
    text = "The unbiased estimate of pass@k (Chen et al. 2021) over the tasks that have k samples or more."
    if rows:
        head = ("Model", "set and temperature", "samples", *titles)
        yield Section("Several samples at a temperature", text, head, rows)


def _pass_at(file: FileAggregate, metric: Metric) -> Value | None:
    """The cell of one pass@k; None where no task has k samples."""
    part = total(file, metric.id)
    if not part.denominator:
        return None
    score = metric.scale * part.numerator / part.denominator
    tasks = round(part.denominator)
    return score_cell(score, metric.maximum, f"{tasks} tasks", tasks=tasks)


FRONT: Final = (
    FrontColumn(
        id="evolved",
        name="Evolved: EvoEval mean",
        tasks=164,
        board="evolved-official",
        column="evolved:average",
        small="EvoEval mean",
        about="solves changed problems",
        within="evolved",
    ),
    FrontColumn(
        "humaneval_plus",
        "HumanEval+ pass@1",
        164,
        "evolved-official",
        "evolved/humaneval-plus:pass@1",
        small="pass@1",
        head="HumanEval+",
        about="solves 164 short tasks at once",
        within="HumanEval+",
        published=(  # the newest board first
            ("evalplus", "humaneval_plus"),
            ("qwen_coder", "humaneval_plus"),
            ("evoeval", "humaneval_plus"),
        ),
    ),
    FrontColumn(
        "mbpp_plus",
        "MBPP+ pass@1",
        378,
        "evolved-official",
        "evolved/mbpp-plus:pass@1",
        small="pass@1",
        head="MBPP+",
        about="solves 378 short tasks at once",
        within="MBPP+",
    ),
)
EVOLVED = DisciplineView(
    figures_title="Set by set",
    endings="One unit a problem, over all sets that the board shows.",
    figures=curve_and_radar,
    sections=evolved_sections,
    articles={EvolvedRecord: Article("board/evolved_unit")},
    about_prompts="EvoEval words its instruction for each family of models; ours is one for all.",
    front=FRONT,
)
