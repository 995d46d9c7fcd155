"""The runtime discipline on the pages: its four questions, and its variants."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from triathlon_runner.metrics import Metric
from triathlon_runner.records import PredictionRecord, RuntimeRecord
from triathlon_runner.runtime import without_libraries
from triathlon_runner.suites import SuiteEntry
from triathlon_site.evidence import Article
from triathlon_site.figures import DotRow, arrows, bars, dots
from triathlon_site.load import FileAggregate
from triathlon_site.models import Models
from triathlon_site.pages._scores import share_of_maximum
from triathlon_site.pages.board._parts import (
    FIGURE_ROWS,
    UNKNOWN,
    DisciplineView,
    FrontColumn,
    average_cell,
    count_cell,
    difference_cells,
    model_table,
    repeats_cell,
    repeats_of,
)
from triathlon_site.pages.board._runtime_answers import (
    Answer,
    AnswerRow,
    detail_sections,
    mistake,
    mistakes,
    runtime_kinds,
    runtime_reason,
    runtime_rows,
    runtime_summary,
    wrong,
)
from triathlon_site.render import Figure, Section, Value
from triathlon_site.scores import Board, ColumnScores, Variant, total, variant_differences, variants_of

QUESTIONS: Final = ("coverage_accuracy", "state_accuracy", "path_accuracy", "output_accuracy")
"""Metrics that count single answers."""
AVERAGE: Final = "average_accuracy"
TABLE_III: Final = {
    metric: place
    for place, metric in enumerate((*QUESTIONS[:1], "coverage_f1", *QUESTIONS[1:], AVERAGE, "ic"))
}
"""The order of REval's columns."""
PLAIN: Final = "as on this board"
ALL_QUESTIONS: Final = {"runtime/dreval": 3152}
"""REval, table I."""
MOST_BARS: Final = 12
"""Models whose bars fit beside each other."""


def question_columns(board: Board) -> list[ColumnScores]:
    """The column of each question, in the order in which they are asked."""
    by_metric = {column.column.id.partition(":")[2]: column for column in board.shown}
    return [by_metric[metric] for metric in QUESTIONS if metric in by_metric]


def question_figures(board: Board, shown: Sequence[str], models: Models) -> Iterator[Figure]:
    """Bars of the best models, and dots of all where they are many."""
    average = [column for column in board.shown if column.column.id.endswith(f":{AVERAGE}")]
    columns = [*question_columns(board), *average, board.headline]
    shown = sorted(shown, key=lambda m: [-column.scores[m].value for column in average if m in column.scores])
    titles = [column.column.title for column in columns[:-1]]
    rows = [DotRow(models[m].label, tuple(share_of_maximum(column, m) for column in columns)) for m in shown]
    title = "The four questions and incremental consistency"
    caption = "Bars: accuracy in each question, and average, in per cent. Line: incremental consistency."
    if len(rows) <= MOST_BARS:
        figures = [Figure(bars(title, titles, "IC", rows), caption)]
    else:
        best = f"the best {MOST_BARS}"
        text = "Accuracy in each question, in per cent; the upright bar: IC, what holds together."
        svg = bars(f"{title}: {best}", titles, "IC", rows[:MOST_BARS])
        figures = [
            Figure(svg, f"{caption} {best.capitalize()} models, by average."),
            Figure(dots(title, (*titles, "IC"), rows), text),
        ]
    yield from (figure for figure in figures if figure.svg)


def runtime_sections(board: Board, models: Models) -> Iterator[Section]:
    """Details of the answers, questions that were not asked, chain of thought, all settings."""
    yield from detail_sections(board, models)
    for suite in board.plan.suites:
        files = board.of_suite(suite.id)
        if left_out := {model: file for model, file in files.items() if left_out_programs(file)}:
            yield _not_asked(suite.id, left_out, models)
    for variant in variants_of(board, "style"):
        yield _thinking(board, variant, models)
    yield from _all_settings(board, models)


def left_out_programs(file: FileAggregate) -> Mapping[str, str]:
    """Programs whose questions were not asked, because a library is not installed, with the reason."""
    return without_libraries(_questions(file).get("left_out_programs", {}))


def _questions(file: FileAggregate) -> Mapping[str, Any]:
    """What a file's manifest says of its questions."""
    return (file.manifest.settings.get("questions") if file.manifest else None) or {}


def _not_asked(suite: str, files: Mapping[str, FileAggregate], models: Models) -> Section:
    of = f" of {ALL_QUESTIONS[suite]:,}" if suite in ALL_QUESTIONS else ""
    asked = {model: Value(f"{_questions(file).get('count', 0):,}{of}") for model, file in files.items()}
    reasons = {
        model: Value("; ".join(f"{task}: {why}" for task, why in left_out_programs(file).items()))
        for model, file in files.items()
    }
    return model_table(
        "Questions that were not asked",
        "Where a library that a program imports is not installed, its questions cannot be built; the extra"
        " `official` installs those that DREval and ClassEval need.",
        models,
        files,
        {"questions asked": asked, "programs left out": reasons},
    )


def _thinking(board: Board, variant: Variant, models: Models) -> Section:
    metrics = [metric for metric in _columns(variant.entry) if not metric.id.endswith("_f1")]
    differences = {metric: variant_differences(board, variant, metric) for metric in metrics}
    first = metrics[0]
    order = [model for model in board.models if model in differences[first]]
    direct, thinking = board.of_suite(variant.plain.id), board.of_suite(variant.entry.id)
    rows = [
        DotRow(models[m].label, (_ratio(direct[m], first), _ratio(thinking[m], first)))
        for m in order[:FIGURE_ROWS]
    ]
    svg = arrows(f"{first.title}, direct and with a chain of thought", ("direct", "chain of thought"), rows)
    return model_table(
        "With a chain of thought",
        "What thinking aloud changes, in points with a 95 % interval, on the programs that both have."
        " Pale: the interval holds zero.",
        models,
        order,
        {metric.title: difference_cells(found, metric.maximum) for metric, found in differences.items()},
        figures=[Figure(svg, f"{first.title}, from direct answers to answers after a chain of thought.")],
    )


def _columns(suite: SuiteEntry) -> list[Metric]:
    return [metric for metric in suite.metrics if metric.role != "beside"]


def _ratio(file: FileAggregate, metric: Metric) -> float:
    """The metric in per cent of its maximum."""
    part = total(file, metric.id)
    return 100 * metric.scale * part.numerator / (part.denominator or 1) / metric.maximum


def _all_settings(board: Board, models: Models) -> Iterator[Section]:
    """REval's table III in one piece: every setting that has results, the mean of its models first."""
    plain = board.plan.suites[0]
    if plain.record is not RuntimeRecord:
        return
    of_plain = {model: file for model, file in board.of_suite(plain.id).items() if file.units}
    settings = {PLAIN: of_plain} | {v.title: board.variants[v.entry.id] for v in variants_of(board)}
    metrics = sorted(_columns(plain), key=lambda metric: TABLE_III.get(metric.id, 0))
    rows: list[tuple[Value, ...]] = []
    for setting, files in settings.items():
        scores = {m: [repeats_of(file, metric) for metric in metrics] for m, file in files.items()}
        if len(scores) > 1:
            by_metric = zip(*scores.values(), strict=True)
            cells = [average_cell(of, metric) for of, metric in zip(by_metric, metrics, strict=True)]
            rows.append((Value("Average", of_all=True), Value(setting), *cells, UNKNOWN))
        for model in (*(m for m in board.models if m in scores), *sorted(scores.keys() - {*board.models})):
            name = Value(models[model].label, link=models[model].page)
            cells = [repeats_cell(of, metric) for of, metric in zip(scores[model], metrics, strict=True)]
            rows.append((name, Value(setting), *cells, count_cell(len(scores[model][0]))))
    text = (
        "As REval’s table III: the mean and, over several repeats, its standard deviation, which says how"
        " much sampling moves a score; how much the choice of programs does, the intervals above say."
    )
    if rows:
        head = ("Model", "asked", *(metric.title for metric in metrics), "repeats")
        yield Section("All settings", text, head, tuple(rows))


OUTPUT: Final = FrontColumn(
    id="runtime_output",
    name="Runtime: CRUXEval output",
    tasks=800,
    board="runtime-cruxeval-output",
    column="runtime/cruxeval-output:pass@1",
    small="CRUXEval output",
    about="says what a program returns",
    within="runtime (CRUXEval output)",
)
INPUT: Final = FrontColumn(
    id="runtime_input",
    name="CRUXEval input pass@1",
    tasks=800,
    board="runtime-cruxeval-input",
    column="runtime/cruxeval-input:pass@1",
    small="CRUXEval input",
    in_index=False,  # few models have it alone
)
CONSISTENCY: Final = FrontColumn(
    id="runtime_consistency",
    name="Runtime: DREval consistency",
    tasks=154,
    board="runtime-dreval",
    column="runtime/dreval:ic",
    small="DREval IC",
    optional=True,
    within="runtime (DREval)",
)
REVAL: Final = FrontColumn(
    id="reval_ic",
    name="REval’s IC, as published",
    tasks=154,
    board="runtime-dreval",
    column="",  # REval's code has other right answers than ours
    small="IC, published by REval",
    optional=True,
    in_index=False,
    published=(("reval", "ic"),),
)
RUNTIME = DisciplineView(
    figures_title="Question by question",
    unit="program",
    endings="A unit is a program with one input; it passes where all its answers are right.",
    models_drawn=30,
    figures=question_figures,
    sections=runtime_sections,
    articles={
        RuntimeRecord: Article(
            "board/runtime_unit", runtime_rows, runtime_kinds, runtime_reason, summary=runtime_summary
        )
    },
    front=(OUTPUT, INPUT, CONSISTENCY, REVAL),
)

PREDICTION = DisciplineView(
    figures_title="Program by program",
    unit="program",
    endings="A unit is one answer about a program with one input.",
    sections=runtime_sections,
    articles={
        PredictionRecord: Article(
            "board/runtime_unit",
            rows=lambda record: [
                AnswerRow(None, "", [Answer(record.asked, record.prediction, right_so_far=False)], "")
            ],
            kinds=lambda record: filter(None, [mistake(record.prediction)]),
            reason=lambda record: wrong(record.prediction),
            alike=lambda record: (
                record.prediction.answer,
                record.prediction.outcome,
                record.prediction.why,
            ),
            summary=lambda records: {
                "answers": len(records),
                "mistakes": {"output": mistakes(one.prediction for one in records)},
            },
        )
    },
)
"""Of output and input prediction."""
