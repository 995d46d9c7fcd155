"""Smaller tables of a runtime board, from what each file says of all its answers."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from triathlon_runner.metrics import Metric
from triathlon_site.models import Models
from triathlon_site.pages.board._parts import (
    UNKNOWN,
    count_cell,
    model_table,
    own_files,
    score_cell,
    shown_units,
    summaries_of,
)
from triathlon_site.pages.board._runtime_answers import LINE_KINDS, STEPS
from triathlon_site.render import Section, Value, formats
from triathlon_site.scores import Board, total

CONSTANTS: Final = (
    ("coverage_accuracy", "YES"),
    ("state_accuracy", "Nil"),
    ("path_accuracy", "-1"),
    ("ic", "YES"),
)
"""Metrics that have the score of a constant answer beside them, and that answer."""
MISTAKES: Final = ("another value", "another form", "no answer", "cut")
MOST_MODELS: Final = 6
"""Columns of the table of chains."""
Summaries = Mapping[str, Mapping[str, Any]]
"""By model."""
Score = Callable[[str, str], Value]
"""The score of a model by a metric's id."""


def detail_sections(board: Board, models: Models) -> Iterator[Section]:
    """The tables of the board's own suite; none where no file with texts is there."""
    summaries = summaries_of(board, "mistakes")
    if not summaries:
        return
    suite, files = board.plan.suites[0].id, own_files(board)
    metrics = {metric.id: metric for metric in board.plan.suites[0].metrics}

    def score(model: str, name: str) -> Value:
        part, metric = total(files[model], name), metrics[name]
        return score_cell(metric.scale * part.numerator / part.denominator, metric.maximum)

    questions = {model: summary for model, summary in summaries.items() if summary.get("statements")}
    if questions:
        yield _constants(questions, metrics, score, models)
    yield _mistakes(suite, summaries, score, models)
    if questions:
        yield _lines(questions, models)
        yield _chains(suite, questions, models)


def _constants(summaries: Summaries, metrics: Mapping[str, Metric], score: Score, models: Models) -> Section:
    """What a model scores beside what the same answer to every question would score."""
    first = next(iter(summaries))
    above: list[Value] = [Value("Always the same answer", of_all=True)]
    columns: dict[str, dict[str, Value]] = {}
    for name, answer in CONSTANTS:
        title = metrics[name].column or metrics[name].title
        columns[title] = {model: score(model, name) for model in summaries}
        above.append(score(first, f"constant_{name}"))
        if name != "ic":
            columns[f"answers {answer}"] = {
                model: score_cell(100 * summary["given"][answer] / summary["statements"], 100)
                for model, summary in summaries.items()
            }
            above.append(score_cell(100.0, 100))
    return model_table(
        "Constant answers",
        "What the answers YES, Nil and -1 to every question score without reading the program, and how often"
        " each model gives them, in per cent. A model not above the first row has shown nothing there.",
        models,
        summaries,
        columns,
        above=(above,),
    )


def _mistakes(suite: str, summaries: Summaries, score: Score, models: Models) -> Section:
    """Wrong outputs by the kind of mistake, and how far IC could rise without the token limit."""
    columns: dict[str, dict[str, Value]] = {
        kind: {
            model: shown_units(models, model, suite, summary["mistakes"]["output"].get(kind, 0), kind_of)
            for model, summary in summaries.items()
            for kind_of in [kind if "answers" in summary else f"output: {kind}"]
        }
        for kind in MISTAKES
    }
    if any("most_ic" in summary for summary in summaries.values()):
        for kind in MISTAKES[2:]:
            columns[f"other questions, {kind}"] = {
                model: count_cell(sum(summary["mistakes"][step].get(kind, 0) for step in STEPS))
                for model, summary in summaries.items()
            }
        columns["IC with more tokens"] = {
            model: _most(score(model, "ic"), summary["most_ic"]) for model, summary in summaries.items()
        }
    return model_table(
        "How wrong outputs are wrong",
        "Another value than the program returned; a right or wrong value in another form than was asked for;"
        " nothing that can be read; a reply that the token limit cut.",
        models,
        summaries,
        columns,
    )


def _most(score: Value, most: float | None) -> Value:
    if most is None or score.number is None:
        return Value("nothing was cut", number=None)
    return Value(f"at most {formats.signed(max(0.0, most - score.number), 100)}", number=most)


def _lines(summaries: Summaries, models: Models) -> Section:
    """The share of right answers by kind of line."""
    columns: dict[str, dict[str, Value]] = {}
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


def _chains(suite: str, summaries: Summaries, models: Models) -> Section:
    """How often each pattern of right and wrong answers occurs."""
    shown = list(summaries)[:MOST_MODELS]
    patterns = sorted({pattern for model in shown for pattern in summaries[model]["chains"]}, reverse=True)
    rows = [
        (
            Value(pattern),
            *(
                shown_units(
                    models,
                    model,
                    suite,
                    summaries[model]["chains"].get(pattern, 0),
                    f"chain {pattern}",
                    of=summaries[model]["statements"],
                )
                for model in shown
            ),
        )
        for pattern in patterns
    ]
    consistent = "1111, 1110, 1100, 1000 and 0000"
    text = (
        "How often each chain occurs: 1 for a right answer to covered, state, next line, output. Only"
        f" {consistent} are consistent; in the others a right answer stands behind a wrong one, although it"
        " needs what that one needs. A count opens the units that have such a chain."
    )
    return Section(
        "Chains of answers", text, ("chain", *(models[model].label for model in shown)), tuple(rows)
    )
