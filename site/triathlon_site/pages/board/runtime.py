"""The runtime discipline on the pages: its four questions, what is wrong with answers, its variants."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from triathlon_runner.metrics import Metric
from triathlon_runner.records import PredictionRecord, RuntimeRecord
from triathlon_runner.runtime import without_libraries
from triathlon_runner.suites import SuiteEntry
from triathlon_site.figures import bars
from triathlon_site.load import FileAggregate
from triathlon_site.models import Models
from triathlon_site.pages._scores import marked, share_of_maximum, why_apart
from triathlon_site.pages.board._parts import (
    UNKNOWN,
    Cells,
    DisciplineView,
    Setting,
    count_cell,
    difference_cells,
    first_of,
    model_table,
    own_files,
    score_cell,
    settings_table,
    shown_units,
    summaries_of,
)
from triathlon_site.pages.board._runtime_answers import (
    CONSTANTS,
    LINE_KINDS,
    PREDICTION_ARTICLE,
    QUESTIONS_ARTICLE,
    STEPS,
)
from triathlon_site.render import Figure, Section, Value, formats
from triathlon_site.scores import Board, ColumnScores, variant_differences, variant_title, variants_of

QUESTIONS: Final = ("coverage_accuracy", "state_accuracy", "path_accuracy", "output_accuracy")
"""Metrics that count single answers."""
AVERAGE: Final = "average_accuracy"
TABLE_III: Final = (*QUESTIONS[:1], "coverage_f1", *QUESTIONS[1:], AVERAGE, "ic")
"""The order of REval's columns."""
PLAIN: Final = "as on this board"
ALL_QUESTIONS: Final = {"runtime/dreval": 3152}  # REval, table I
MOST_BARS: Final = 12  # models whose bars fit beside each other
MISTAKES: Final = ("another value", "another form", "no answer", "cut")
Summaries = Mapping[str, Mapping[str, Any]]  # by model


def question_columns(board: Board) -> list[ColumnScores]:
    """The column of each question, in the order in which they are asked."""
    by_metric = {column.column.id.partition(":")[2]: column for column in board.shown}
    return [by_metric[metric] for metric in QUESTIONS if metric in by_metric]


def question_figures(board: Board, shown: Sequence[str], models: Models) -> Iterator[Figure]:
    """Bars of the best models by average accuracy, as REval's figure 4."""
    average = [column for column in board.shown if column.column.id.endswith(f":{AVERAGE}")]
    columns = [*question_columns(board), *average, board.headline]
    scored = {m: score for m in shown if (score := board.headline.shown(m))}
    # those of the ranking first
    best = sorted(
        scored, key=lambda m: (bool(scored[m].apart), *(-(share_of_maximum(c, m) or 0) for c in average))
    )[:MOST_BARS]
    titles = [column.column.title for column in columns[:-1]]
    rows = [
        (marked(models[m].label, scored[m]), [share_of_maximum(column, m) for column in columns])
        for m in best
    ]
    caption = "Bars: accuracy in each question, and average, in per cent. Dots: incremental consistency."
    caption += first_of(MOST_BARS, len(scored), ", by average") + why_apart(scored[m] for m in best)
    if svg := bars("The four questions and incremental consistency", titles, "IC", rows):
        yield Figure(svg, caption)


def runtime_sections(board: Board, models: Models) -> Iterator[Section]:
    """Details of the answers, questions that were not asked, chain of thought, all settings."""
    questions = {m: summary for m, summary in summaries_of(board, "chains").items() if summary["statements"]}
    if questions:
        yield _constants(board, questions, models)
    if summaries := summaries_of(board, "mistakes"):
        yield _mistaken_outputs(board, summaries, models)
    if lines := {model: summary for model, summary in questions.items() if "lines" in summary}:
        yield _lines(lines, models)
    if questions:
        yield _chains(board, questions, models)
    for suite in board.plan.suites:
        files = board.of_suite(suite.id)
        if left_out := {model: file for model, file in files.items() if left_out_programs(file)}:
            yield _not_asked(suite.id, left_out, models)
    for variant in variants_of(board, "style"):
        yield _thinking(board, variant, models)
    yield from _all_settings(board, models)


def _score(board: Board, model: str, name: str) -> Value:
    """The score of a model in a metric of the board's own suite."""
    metric = next(metric for metric in board.plan.suites[0].metrics if metric.id == name)
    return score_cell(own_files(board)[model].metrics[name].score(metric), metric.maximum)


def _constants(board: Board, summaries: Summaries, models: Models) -> Section:
    metrics = {metric.id: metric for metric in board.plan.suites[0].metrics}
    first = next(iter(summaries))
    given = {model: summary for model, summary in summaries.items() if "given" in summary}
    above: list[Value] = [Value("Always the same answer", of_all=True)]
    columns: dict[str, Cells] = {}
    for name, answer in (*((f"{step}_accuracy", answer) for step, answer in CONSTANTS.items()), ("ic", "")):
        title = metrics[name].column or metrics[name].title
        columns[title] = {model: _score(board, model, name) for model in summaries}
        above.append(_score(board, first, f"constant_{name}"))
        if answer and given:
            columns[f"answers {answer}"] = {
                model: score_cell(100 * summary["given"][answer] / summary["statements"], 100)
                for model, summary in given.items()
            }
            above.append(score_cell(100.0, 100))
    how_often = ", and how often each model gives them" if given else ""
    return model_table(
        "Constant answers",
        "What the answers YES, Nil and -1 to every question score without reading the program"
        f"{how_often}, in per cent. A model not above the first row has shown nothing there.",
        models,
        summaries,
        columns,
        above=(above,),
    )


def _mistaken_outputs(board: Board, summaries: Summaries, models: Models) -> Section:
    """Wrong outputs by the kind of mistake, and how far IC could rise without the token limit."""
    suite = board.plan.suites[0].id
    columns: dict[str, Cells] = {
        kind: {
            model: shown_units(
                models,
                model,
                suite,
                summary["mistakes"]["output"].get(kind, 0),
                kind if "answers" in summary else f"output: {kind}",
            )
            for model, summary in summaries.items()
        }
        for kind in MISTAKES
    }
    if any("most_ic" in summary for summary in summaries.values()):
        for kind in MISTAKES[2:]:
            columns[f"other questions, {kind}"] = {
                model: count_cell(sum(summary["mistakes"][step].get(kind, 0) for step in STEPS))
                for model, summary in summaries.items()
            }
        rises = {}
        for model, summary in summaries.items():
            most, now = summary["most_ic"], _score(board, model, "ic").number
            rises[model] = Value("nothing was cut")
            if most is not None and now is not None:
                rises[model] = Value(f"at most {formats.signed(most - now, 100)}", number=most - now)
        columns["IC with more tokens"] = rises
    return model_table(
        "How wrong outputs are wrong",
        "Another value than the program returned; a right or wrong value in another form than was asked for;"
        " nothing that can be read; a reply that the token limit cut.",
        models,
        summaries,
        columns,
    )


def _lines(summaries: Summaries, models: Models) -> Section:
    columns: dict[str, Cells] = {}
    for kind in LINE_KINDS:
        for place, title in enumerate(STEPS.values()):
            counts = {model: summary["lines"][kind][place] for model, summary in summaries.items()}
            columns[f"{kind}: {title}"] = {
                model: score_cell(100 * right / of, 100, f"of {of}") if of else UNKNOWN
                for model, (right, of) in counts.items()
            }
    return model_table(
        "By kind of line",
        "Right answers in per cent: about lines that the input executes and lines that it does not; about"
        " returns, branches (if, for, while, try …) and all other lines.",
        models,
        summaries,
        columns,
    )


def _chains(board: Board, summaries: Summaries, models: Models) -> Section:
    suite, files = board.plan.suites[0].id, own_files(board)
    patterns = {pattern for summary in summaries.values() for pattern in summary["chains"]}

    def count(model: str, pattern: str) -> Value:
        chains, statements = summaries[model]["chains"], summaries[model]["statements"]
        units = shown_units(models, model, suite, chains.get(pattern, 0), f"chain {pattern}", of=statements)
        return replace(units, link="") if files[model].kept else units

    columns = {
        pattern: {model: count(model, pattern) for model in summaries}
        for pattern in sorted(patterns, reverse=True)
    }
    text = (
        "How often each chain occurs: 1 for a right answer to covered, state, next line, output. Only"
        " 1111, 1110, 1100, 1000 and 0000 are consistent; in the others a right answer stands behind a wrong"
        " one, although it needs what that one needs."
    )
    if not all(files[model].kept for model in summaries):
        text += " A count opens the units that have such a chain."
    return model_table("Chains of answers", text, models, summaries, columns)


def left_out_programs(file: FileAggregate) -> Mapping[str, str]:
    """Programs whose questions were not asked, because a library is not installed, with the reason."""
    return without_libraries(_questions(file).get("left_out_programs", {}))


def _questions(file: FileAggregate) -> Mapping[str, Any]:
    """What a file's manifest says of its questions."""
    return (file.manifest.settings.get("questions") if file.manifest else None) or {}


def _not_asked(suite: str, files: Mapping[str, FileAggregate], models: Models) -> Section:
    of = f" of {ALL_QUESTIONS[suite]:,}" if suite in ALL_QUESTIONS else ""
    counts = {model: int(_questions(file).get("count", 0)) for model, file in files.items()}
    asked = {model: Value(f"{count:,}{of}", fewest=count) for model, count in counts.items()}
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


def _columns(suite: SuiteEntry) -> list[Metric]:
    return [metric for metric in suite.metrics if metric.role != "beside"]


def _thinking(board: Board, variant: SuiteEntry, models: Models) -> Section:
    metrics = [metric for metric in _columns(variant) if not metric.id.endswith("_f1")]
    differences = {metric: variant_differences(board, variant, metric) for metric in metrics}
    return model_table(
        "With a chain of thought",
        "What thinking aloud changes, in points with a 95 % interval, on the programs that both have."
        " Pale: the interval holds zero.",
        models,
        [model for model in board.models if model in differences[metrics[0]]],
        {metric.title: difference_cells(found, metric.maximum) for metric, found in differences.items()},
    )


def _all_settings(board: Board, models: Models) -> Iterator[Section]:
    """REval's table III in one piece."""
    plain = board.plan.suites[0]
    if plain.record is not RuntimeRecord:
        return
    metrics = _columns(plain)
    metrics.sort(key=lambda metric: TABLE_III.index(metric.id) if metric.id in TABLE_III else 0)
    of_plain = {model: file for model, file in board.of_suite(plain.id).items() if file.units}
    settings: dict[str, Setting] = {PLAIN: (of_plain, metrics)}
    settings |= {variant_title(v): (board.variants[v.id], metrics) for v in variants_of(board)}
    yield from settings_table(
        "All settings",
        "As REval’s table III: the mean and, over several repeats, its standard deviation, which says how"
        " much sampling moves a score; how much the choice of programs does, the intervals above say.",
        models,
        board.models,
        settings,
    )


RUNTIME = DisciplineView(
    in_words="reading a program’s run-time behaviour",
    figures_title="Question by question",
    unit="program",
    endings="A unit is a program with one input; it passes where all its answers are right.",
    models_drawn=30,
    figures=question_figures,
    sections=runtime_sections,
    articles={RuntimeRecord: QUESTIONS_ARTICLE},
)
PREDICTION = DisciplineView(
    figures_title="Program by program",
    unit="program",
    endings="A unit is one answer about a program with one input.",
    sections=runtime_sections,
    articles={PredictionRecord: PREDICTION_ARTICLE},
)
"""Of output and input prediction."""
