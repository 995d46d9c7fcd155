"""The loop on the pages: what it keeps, other prompts and temperatures, attacks; and the translation loop."""

from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean
from typing import Final

import numpy as np

from triathlon_runner.records import LoopRecord
from triathlon_runner.translation import STEPS, TARGETS
from triathlon_runner.translation import TITLES as LANGUAGES
from triathlon_site.agreement import Comparison, compare, correlate, scores_before_and_after
from triathlon_site.evidence import Article
from triathlon_site.figures import DotRow, arrows, dots
from triathlon_site.models import Models
from triathlon_site.pages.board._film import film, loop_kinds, loop_reason, loop_summary, lost_sections
from triathlon_site.pages.board._parts import (
    FIGURE_ROWS,
    DisciplineView,
    FrontColumn,
    average_cell,
    count_cell,
    curve_and_radar,
    difference_cells,
    mean_of,
    model_table,
    repeats_cell,
    repeats_of,
    shift_sentences,
)
from triathlon_site.render import Figure, Section, Value, formats
from triathlon_site.scores import Board, Variant, task_scores, total, variant_differences, variants_of

TITLES: Final = {"upper": "upper case"}
"""Of settings whose short name says too little."""
SENSITIVITY: Final = {"prompts": "Other summary prompts", "temperatures": "Other temperatures"}
AS_ASKED: Final = "as asked"
OWN_PROMPTS: Final = "own-prompts"
LOOPS: Final = "loops"
OUR_WORDING: Final = {
    "prompts": "The prompts are our wording of the paper’s listing 3.2.",
    "attacks": "The attacks are our wording of the paper’s listing 3.1.",
}
"""Of variants whose prompts have no file of the authors."""


def loop_sections(board: Board, models: Models) -> Iterator[Section]:
    """Rank shifts, other averages, sensitivity to prompts and temperatures, attacks; those with results."""
    yield from _shifts(board)
    yield from lost_sections(board, models)
    yield from _loops(board, models)
    for kind, title in SENSITIVITY.items():
        if variants := variants_of(board, kind):
            yield _sensitivity(board, variants, title, models)
    if attacks := variants_of(board, "attacks"):
        yield _attacks(board, attacks, models)
    if own := [variant for variant in variants_of(board) if variant.kind.split("+")[0] == OWN_PROMPTS]:
        yield _own_prompts(board, own, models)


def _shifts(board: Board) -> Iterator[Section]:
    """How the order by the headline differs from that by pass@1, by two rules."""
    base = next((column for column in board.columns if column.column.role == "baseline"), None)
    if base is None:
        return
    scores, baseline = ({m: s.value for m, s in c.scores.items()} for c in (board.headline, base))
    titles = board.headline.column.title, base.column.title
    rule = f"ties in {titles[1]} broken by {titles[0]}, as in EVALOOOP’s table 2"
    sentences = [*shift_sentences(scores, baseline, titles), *shift_sentences(scores, baseline, titles, rule)]
    if sentences:
        yield Section("Rank shifts", " ".join(sentences))


def _loops(board: Board, models: Models) -> Iterator[Section]:
    """Figure 3 of EVALOOOP: loops that a task sustains, greedy and sampled; and other forms of ASL."""
    plain = board.plan.suites[0]
    by_id = {metric.id: metric for metric in plain.metrics}
    files = {m: file for m, file in board.of_suite(plain.id).items() if file.units}
    order = [model for model in board.models if model in files]
    if not order or LOOPS not in by_id:
        return
    named = {"loops a task": LOOPS, "ASL, s = 1": "asl_high", "ASL over solved tasks, s = 1": "asl_solved"}
    scores = {
        title: {m: repeats_of(files[m], by_id[metric]) for m in order}
        for title, metric in named.items()
        if metric in by_id
    }
    figures = []
    for variant in variants_of(board, "temperatures"):
        sampled = {m: file for m, file in board.of_suite(variant.entry.id).items() if file.units}
        title = f"loops a task at {variant.title.replace('-', ' ')}"
        scores[title] = {m: repeats_of(file, by_id[LOOPS]) for m, file in sampled.items()}
        rows = [
            DotRow(models[m].label, tuple(mean_of(scores[name][m]) for name in ("loops a task", title)))
            for m in order[:FIGURE_ROWS]
            if m in sampled
        ]
        svg = arrows(title, ("greedy", "sampled"), rows, maximum=by_id[LOOPS].maximum)
        figures.append(Figure(svg, f"Mean loops sustained a task, greedy and at {variant.title}."))
    means = [average_cell(of.values(), by_id[LOOPS]) for of in scores.values()]
    cells = {
        title: {m: repeats_cell(repeats, by_id[LOOPS]) for m, repeats in of.items()}
        for title, of in scores.items()
    }
    yield model_table(
        "Loops sustained",
        "Loops that a task sustains on average, as asked and sampled at other temperatures (mean and standard"
        " deviation over repeats); ASL where every similarity is 1; and that over the tasks alone that the"
        " model solves at first.",
        models,
        order,
        cells,
        above=((Value("Mean of the models", of_all=True), *means),),
        figures=figures,
    )


def _titled(variant: Variant) -> str:
    return TITLES.get(variant.title, variant.title)


def _sensitivity(board: Board, variants: Sequence[Variant], title: str, models: Models) -> Section:
    headline = board.plan.headline
    maximum = headline.maximum
    comparison, values = _compared(board, variants, headline.parts[0][1].id)
    upper = _compared(board, variants, headline.upper[0][1].id)[1] if headline.upper else {}
    cells = {
        name: {
            model: _range_cell(value, upper[name][model] if upper else value, maximum)
            for model, value in scores.items()
        }
        for name, scores in values.items()
    }
    ranks = {
        "rank as asked": comparison.sensitivity.baseline_ranks,
        "mean rank": comparison.sensitivity.mean_ranks,
    }
    order = list(comparison.baseline)
    rows = [DotRow(models[m].label, tuple(of[m] for of in values.values())) for m in order[:FIGURE_ROWS]]
    svg = dots(title, tuple(values), rows, maximum=maximum)
    about = f"{_about(comparison, models)} {OUR_WORDING.get(variants[0].kind, '')}".strip()
    rank_cells = {
        name: {m: Value(f"{rank:g}", number=rank) for m, rank in of.items()} for name, of in ranks.items()
    }
    figures = [Figure(svg, f"{headline.title} as asked and under each setting.")]
    return model_table(title, about, models, order, cells | rank_cells, figures=figures)


def _range_cell(value: float, upper: float, maximum: float) -> Value:
    """A score; where it is only known as a range, its upper end in a column of its own in the CSV."""
    details = {} if upper == value else {"upper end": formats.in_unit(upper, maximum)}
    text = formats.known_range(value, upper, maximum)
    return Value(text, number=formats.in_unit(value, maximum), details=details)


def _compared(
    board: Board, variants: Sequence[Variant], metric: str
) -> tuple[Comparison, dict[str, Mapping[str, float]]]:
    """The comparison, and the scores as asked and under each setting, by model."""
    settings = {_titled(v): task_scores(board.of_suite(v.entry.id), metric) for v in variants}
    comparison = compare(task_scores(board.of_suite(variants[0].plain.id), metric), settings)
    return comparison, {AS_ASKED: comparison.baseline, **{n: comparison.variants[n] for n in settings}}


def _about(comparison: Comparison, models: Models) -> str:
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
        *names, last = (models[model].label for model in comparison.left_out)
        left_out = f"{', '.join(names)} and {last}" if names else last
        parts.append(f"Not run under every setting, so left out: {left_out}.")
    return " ".join(parts)


def _attacks(board: Board, attacks: Sequence[Variant], models: Models) -> Section:
    metric = attacks[0].entry.metrics[0]
    by_attack = {_titled(attack): variant_differences(board, attack, metric) for attack in attacks}
    plain = task_scores(board.of_suite(attacks[0].plain.id), metric.id)
    order = [model for model in plain if any(model in differences for differences in by_attack.values())]
    tasks = {m: max(found[m].tasks for found in by_attack.values() if m in found) for m in order}
    columns = {title: difference_cells(found, metric.maximum) for title, found in by_attack.items()}
    figures = []
    for attack, title in zip(attacks, by_attack, strict=True):
        attacked = task_scores(board.of_suite(attack.entry.id), metric.id)
        scores = scores_before_and_after(plain, attacked)
        rows = [
            DotRow(
                models[m].label, tuple(100 * fmean(side) for side in zip(*scores[m].values(), strict=True))
            )
            for m in order[:FIGURE_ROWS]
            if m in scores
        ]
        svg = arrows(f"pass@1 before and after: {title}", (AS_ASKED, title), rows)
        caption = f"pass@1 in per cent, from the prompt as it is to the attacked one: {title}."
        figures.append(Figure(svg, caption))
    return model_table(
        "Attacks on the first prompt",
        "What a rewritten first prompt does to pass@1, in points with a 95 % interval, on the tasks that"
        f" both sides have. Pale: the interval holds zero. {OUR_WORDING['attacks']}",
        models,
        order,
        {**columns, "tasks": {model: count_cell(count) for model, count in tasks.items()}},
        figures=figures,
    )


def _own_prompts(board: Board, variants: Sequence[Variant], models: Models) -> Section:
    """Every variant with our prompts, with models that have nothing else; the difference to the authors'."""
    order = [*board.models]
    order += sorted({m for v in variants for m in board.variants[v.entry.id]} - {*order})
    columns: dict[str, dict[str, Value]] = {}
    for variant in variants:
        metrics = {metric.id: metric for metric in variant.entry.metrics}
        first, files = variant.entry.metrics[0], board.variants[variant.entry.id]
        name = variant.entry.id.partition("@")[2].replace(OWN_PROMPTS, "ours")
        title = f"{name}, {first.column or first.title}"
        columns[title] = {
            m: _range_cell(
                mean_of(repeats_of(file, first)),
                mean_of(repeats_of(file, metrics[first.upper] if first.upper else first)),
                first.maximum,
            )
            for m, file in files.items()
        }
        if variant.kind == OWN_PROMPTS:
            found = variant_differences(board, variant, first)
            columns["ours less the authors’"] = difference_cells(found, first.maximum)
    return model_table(
        "With our prompts",
        "Our own prompts in place of the authors’: another protocol, in no ranking and no tier. The"
        " difference is that of the lower ends of ASL, with a 95 % interval, on the tasks that both have.",
        models,
        [model for model in order if any(model in cells for cells in columns.values())],
        columns,
    )


FRONT: Final = FrontColumn(
    id="loop",
    name="Loop: ASL on MBPP+",
    tasks=378,
    board="loop-mbpp-plus",
    column="loop/mbpp-plus:asl_low",
    small="ASL, MBPP+",
    about="keeps code right, ten rewrites",
    within="loop",
    maximum=10.0,
)
LOOP = DisciplineView(
    figures_title="Loop by loop",
    about_prompts="Attacks are our wording of EVALOOOP’s listing 3.1,"
    " the summary prompts of its listing 3.2.",
    endings="A task passes where all its loops do; else it ends as its first lost loop did.",
    figures=curve_and_radar,
    sections=loop_sections,
    articles={
        LoopRecord: Article("board/loop_unit", film, loop_kinds, loop_reason, summary=loop_summary),
    },
    front=(FRONT,),
)


STEPS_PASSED: Final = ("pass_at_1", *(f"sustain_{step}" for step in range(2, STEPS + 1)))
"""The ids of the suite's metrics that say whether a task passed step 1 … M of a translation."""


def translation_sections(board: Board, models: Models) -> Iterator[Section]:
    """The share of right programs whose translation passes, language by language."""
    text = "Of the programs that were right so far, the share whose translation passes its own tests."
    for entry in board.plan.suites:
        columns: dict[str, dict[str, Value]] = {}
        files = board.of_suite(entry.id)
        for model, file in files.items():
            totals = [total(file, metric) for metric in STEPS_PASSED]
            passed = [round(part.numerator) for part in totals]
            reached = [round(totals[0].denominator), *passed]
            for language, tried, passing in zip(TARGETS, reached, passed, strict=False):
                columns.setdefault(f"into {LANGUAGES[language]}", {})[model] = (
                    Value(
                        formats.percent(passing / tried),
                        f"{passing} of {tried}",
                        100 * passing / tried,
                        {"passed": passing, "reached": tried},
                    )
                    if tried
                    else Value(formats.NONE, "none reached it", details={"reached": 0})
                )
        if files:
            yield model_table("Where the chain breaks", text, models, files, columns)


TRANSLATION = DisciplineView(
    figures_title="Language by language",
    about_prompts="Our wording of the prompt in EVALOOOP’s section 5.",
    endings="A task passes where all its translations do; else it ends as the first lost one did.",
    figures=curve_and_radar,
    sections=translation_sections,
)
