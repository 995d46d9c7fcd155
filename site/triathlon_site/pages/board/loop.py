"""The loop on the pages: what it keeps, other prompts and temperatures, attacks; and the translation loop."""

from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean
from typing import Final

from triathlon_runner.records import LoopRecord
from triathlon_runner.suites import SuiteEntry
from triathlon_runner.terminal import counted
from triathlon_runner.translation import STEPS, TARGETS
from triathlon_runner.translation import TITLES as LANGUAGES
from triathlon_site.agreement import Comparison, compare
from triathlon_site.figures import arrows
from triathlon_site.models import Models
from triathlon_site.pages.board._film import ARTICLE, lost_sections
from triathlon_site.pages.board._parts import (
    FIGURE_ROWS,
    Cells,
    DisciplineView,
    average_cell,
    count_cell,
    curve_figures,
    difference_cells,
    first_of,
    mean_of,
    model_table,
    range_cell,
    repeats_cell,
    repeats_of,
    settings_table,
    shift_sentences,
)
from triathlon_site.ranking import FEWEST_RANKED
from triathlon_site.render import Figure, Section, Value, formats
from triathlon_site.scores import Board, task_scores, variant_differences, variant_title, variants_of

TITLES: Final = {"upper": "upper case"}  # of settings whose short name says too little
SENSITIVITY: Final = {"prompts": "Other summary prompts", "temperatures": "Other temperatures"}
AS_ASKED: Final = "as asked"
OWN_PROMPTS: Final = "own-prompts"
OWN_METRICS: Final = ("pass_at_1", "asl_low", "asl_high")
LOOPS: Final = "loops"
LOOP_METRICS: Final = {
    "loops a task": LOOPS,
    "ASL, s = 1": "asl_same",
    "ASL over solved tasks, s = 1": "asl_solved",
}
OUR_WORDING: Final[Mapping[str | None, str]] = {
    "prompts": "The prompts are our wording of the paper’s listing 3.2.",
    "attacks": "The attacks are our wording of the paper’s listing 3.1.",
}
"""Of variants whose prompts have no file of the authors."""
STEPS_PASSED: Final = ("pass_at_1", *(f"sustain_{step}" for step in range(2, STEPS + 1)))
"""The ids of the suite's metrics that say whether a task passed step 1 … M of a translation."""


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
    metrics = [metric for metric in board.plan.suites[0].metrics if metric.id in OWN_METRICS]
    own = (suite for suite in variants_of(board) if (suite.variant_kind or "").split("+")[0] == OWN_PROMPTS)
    yield from settings_table(
        "With our prompts",
        "Our own prompts in place of the authors’: another protocol, in no ranking and no tier.",
        models,
        board.models,
        {
            suite.id.partition("@")[2].replace(OWN_PROMPTS, "ours"): (board.variants[suite.id], metrics)
            for suite in own
        },
    )


def _shifts(board: Board) -> Iterator[Section]:
    """How the order by the headline differs from that by pass@1, by two rules."""
    base = next((column for column in board.columns if column.column.role == "baseline"), None)
    if base is None:
        return
    scores, baseline = ({m: s.middle for m, s in c.scores.items()} for c in (board.headline, base))
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
    loops = by_id[LOOPS]
    scores = {
        title: {m: repeats_of(files[m], by_id[metric]) for m in order}
        for title, metric in LOOP_METRICS.items()
        if metric in by_id
    }
    figures = []
    for variant in variants_of(board, "temperatures"):
        sampled = {m: file for m, file in board.of_suite(variant.id).items() if file.units}
        title = f"loops a task at {variant_title(variant).replace('-', ' ')}"
        scores[title] = {m: repeats_of(file, loops) for m, file in sampled.items()}
        rows = [
            (models[m].label, mean_of(scores["loops a task"][m]), mean_of(scores[title][m]))
            for m in order
            if m in sampled
        ]
        svg = arrows(title, ("greedy", "sampled"), rows[:FIGURE_ROWS], maximum=loops.maximum)
        caption = f"Mean loops sustained a task, greedy and at {variant_title(variant)}."
        figures.append(Figure(svg, caption + first_of(FIGURE_ROWS, len(rows))))
    means = [average_cell(of.values(), loops) for of in scores.values()]
    cells = {title: {m: repeats_cell(of[m], loops) for m in of} for title, of in scores.items()}
    yield model_table(
        "Loops sustained",
        "Loops that a task sustains on average, as asked and at each temperature that a column names (mean"
        " and standard deviation over repeats); ASL where every similarity is 1; and that over the tasks"
        " alone that the model solves at first.",
        models,
        order,
        cells,
        above=((Value("Mean of the models", of_all=True), *means),) if len(order) > 1 else (),
        figures=figures,
    )


def _titled(variant: SuiteEntry) -> str:
    title = variant_title(variant)
    return TITLES.get(title, title)


def _sensitivity(board: Board, variants: Sequence[SuiteEntry], title: str, models: Models) -> Section:
    """The headline as asked and under each setting, on the tasks that all models have, with the ranks."""
    headline = board.plan.headline
    ends = [headline.parts[0][1].id, *(metric.id for _, metric in headline.upper)]
    of_ends = [_compared(board, variants, end) for end in ends]
    lower, upper = ({AS_ASKED: one.baseline, **one.variants} for one in (of_ends[0], of_ends[-1]))
    columns: dict[str, Cells] = {
        name: {model: range_cell(value, upper[name][model], headline.maximum) for model, value in of.items()}
        for name, of in lower.items()
    }
    comparison = of_ends[0] if len(ends) == 1 else _compared(board, variants, *ends)
    sensitivity = comparison.sensitivity
    if len(comparison.baseline) >= FEWEST_RANKED:
        for name, ranks in (
            ("rank as asked", sensitivity.baseline_ranks),
            ("mean rank", sensitivity.mean_ranks),
        ):
            columns[name] = {model: Value(f"{rank:g}", number=rank) for model, rank in ranks.items()}
    about = f"{_about(comparison, models)} {OUR_WORDING.get(variants[0].variant_kind, '')}".strip()
    return model_table(title, about, models, comparison.baseline, columns)


def _compared(board: Board, variants: Sequence[SuiteEntry], *metrics: str) -> Comparison:
    """The models as asked and under each setting, by the mean of some metrics."""

    def scores(suite: str) -> dict[str, dict[str, float]]:
        first, *others = (task_scores(board.of_suite(suite), metric) for metric in metrics)
        return {
            model: {task: fmean([score, *(of[model][task] for of in others)]) for task, score in own.items()}
            for model, own in first.items()
        }

    settings = {_titled(variant): scores(variant.id) for variant in variants}
    return compare(scores(variants[0].variant_of or ""), settings)


def _about(comparison: Comparison, models: Models) -> str:
    parts = [
        f"{counted(len(comparison.baseline), 'model')}, on {counted(comparison.tasks, 'task')} that every one"
        " has under each setting."
    ]
    if (found := comparison.sensitivity.correlation).n > 2:
        ends = (formats.coefficient(end) for end in (found.spearman_low, found.spearman_high))
        span = f" ({' to '.join(ends)})" if found.n >= 5 else ""
        parts.append(
            "Spearman between the ranks as asked and the mean ranks under the settings:"
            f" {formats.coefficient(found.spearman)}{span}."
            " Near 1, the order of the models does not hang on this setting."
        )
    else:
        parts.append("Fewer than three models say nothing about how well an order holds.")
    if comparison.left_out:
        left_out = ", ".join(models[model].label for model in comparison.left_out)
        parts.append(f"Not run under every setting, so left out: {left_out}.")
    return " ".join(parts)


def _attacks(board: Board, attacks: Sequence[SuiteEntry], models: Models) -> Section:
    metric = attacks[0].metrics[0]
    plain = task_scores(board.of_suite(attacks[0].variant_of or ""), metric.id)
    differences = {_titled(attack): variant_differences(board, attack, metric) for attack in attacks}
    order = [model for model in plain if any(model in found for found in differences.values())]
    tasks = {m: max(found[m].tasks for found in differences.values() if m in found) for m in order}
    figures = []
    for attack, title in zip(attacks, differences, strict=True):
        attacked = task_scores(board.of_suite(attack.id), metric.id)
        rows = []
        for model in order:
            if both := plain[model].keys() & attacked.get(model, {}).keys():
                ends = [100 * fmean(of[model][task] for task in both) for of in (plain, attacked)]
                rows.append((models[model].label, ends[0], ends[1]))
        svg = arrows(f"pass@1 before and after: {title}", (AS_ASKED, title), rows[:FIGURE_ROWS])
        caption = f"pass@1 in per cent, from the prompt as it is to the attacked one: {title}."
        figures.append(Figure(svg, caption + first_of(FIGURE_ROWS, len(rows))))
    columns: dict[str, Cells] = {
        title: difference_cells(found, metric.maximum) for title, found in differences.items()
    }
    columns["tasks"] = {model: count_cell(count) for model, count in tasks.items()}
    return model_table(
        "Attacks on the first prompt",
        "What a rewritten first prompt does to pass@1, in points with a 95 % interval, on the tasks that"
        f" both sides have. Pale: the interval holds zero. {OUR_WORDING['attacks']}",
        models,
        order,
        columns,
        figures=figures,
    )


def translation_sections(board: Board, models: Models) -> Iterator[Section]:
    """The share of right programs whose translation passes, language by language."""
    text = "Of the programs that were right so far, the share whose translation passes its own tests."
    for entry in board.plan.suites:
        columns: dict[str, dict[str, Value]] = {}
        files = board.of_suite(entry.id)
        for model, file in files.items():
            parts = [file.metrics[metric] for metric in STEPS_PASSED]
            passed = [round(part.numerators.sum()) for part in parts]
            reached = [round(parts[0].denominators.sum()), *passed]
            for language, tried, passing in zip(TARGETS, reached, passed, strict=False):
                cell = Value(formats.NONE, "none reached it", details={"reached": 0})
                if tried:
                    share, details = passing / tried, {"passed": passing, "reached": tried}
                    cell = Value(formats.percent(share), f"{passing} of {tried}", 100 * share, details)
                columns.setdefault(f"into {LANGUAGES[language]}", {})[model] = cell
        if files:
            yield model_table("Where the chain breaks", text, models, files, columns)


LOOP = DisciplineView(
    in_words="rewriting its own work in a loop",
    figures_title="Loop by loop",
    about_prompts="Attacks are our wording of EVALOOOP’s listing 3.1,"
    " the summary prompts of its listing 3.2.",
    endings="A task passes where all its loops do; else it ends as its first lost loop did.",
    figures=curve_figures,
    sections=loop_sections,
    articles={LoopRecord: ARTICLE},
)
TRANSLATION = DisciplineView(
    figures_title="Language by language",
    about_prompts="Our wording of the prompt in EVALOOOP’s section 5.",
    endings="A task passes where all its translations do; else it ends as the first lost one did.",
    figures=curve_figures,
    sections=translation_sections,
)
