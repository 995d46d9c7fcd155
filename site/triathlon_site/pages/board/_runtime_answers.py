"""Answers of the runtime: of one record, as evidence shows them; of a file, and tables of what files say."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from triathlon_runner.metrics import Metric
from triathlon_runner.records import AnswerRecord, Outcome, RuntimeRecord
from triathlon_runner.runtime import chains
from triathlon_site.evidence import expected_and_got
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
from triathlon_site.render import Section, Value, formats
from triathlon_site.scores import Board, total

FORMS: Final = (
    "the answer is another statement",
    "the answer makes a statement",
    "the answer holds statements",
    "the answer leaves",
    "the answer states nothing",
    "the answer does not parse",
    "the answer is neither",
    "the answer is nested",
    "the answer is too large",
    "the answer has",
    "the answer reads the value",
    "what is stated is no plain value",
    "the name ",
)
"""How reasons begin that are about the form of an answer, whatever its value."""


class Answer(NamedTuple):
    """One question's answer in its chain."""

    question: str
    answer: AnswerRecord
    right_so_far: bool
    """Whether all before it in its chain are right."""


class AnswerRow(NamedTuple):
    """The answers about one line and variable; without a line, that about the output."""

    line: int | None
    variable: str
    answers: Sequence[Answer]
    chain: str
    """Which of the four answers are right: `1010`."""


def mistake(answer: AnswerRecord) -> str:
    """`cut`, `no answer`, `another form` or `another value`; empty for a right answer."""
    if answer.correct:
        return ""
    if answer.outcome == Outcome.TRUNCATED:
        return "cut"
    if answer.outcome == Outcome.NO_ANSWER or answer.answer is None:
        return "no answer"
    return "another form" if answer.why.startswith(FORMS) else "another value"


def runtime_rows(record: RuntimeRecord) -> Iterator[AnswerRow]:
    """A row for each chain, then the answer about the output."""
    all_right = True
    for one, chain in zip(record.statements, chains(record), strict=True):
        covered, state = one.coverage.correct, one.coverage.correct and one.state.correct
        answers = [
            Answer("covered", one.coverage, right_so_far=True),
            Answer("state", one.state, covered),
            Answer("next line", one.path, state),
        ]
        yield AnswerRow(one.line, one.variable, answers, pattern(chain.right))
        all_right &= state and one.path.correct
    yield AnswerRow(None, "", [Answer("output", record.output, all_right)], "")


def pattern(right: Sequence[bool]) -> str:
    """A chain as REval writes it: `1110` where the output alone is wrong."""
    return "".join(str(int(each)) for each in right)


def runtime_kinds(record: RuntimeRecord) -> Iterator[str]:
    """What a list of units can be filtered by: its chains, and the mistakes in it."""
    yield from {f"chain {pattern(chain.right)}" for chain in chains(record)}
    yield from {f"{name}: {mistake(answer)}" for name, answer in _answers(record) if not answer.correct}


def _answers(record: RuntimeRecord) -> Iterator[tuple[str, AnswerRecord]]:
    for one in record.statements:
        yield from ((title, getattr(one, step)) for step, title in STEPS.items())
    yield "output", record.output


def runtime_reason(record: RuntimeRecord) -> str:
    """How many answers are wrong, and the output where it is."""
    mistaken = [name for name, answer in _answers(record) if not answer.correct]
    count = f"{len(mistaken)} of {3 * len(record.statements) + 1} answers wrong"
    return count if record.output.correct else f"{count}; output {wrong(record.output)}"


def wrong(answer: AnswerRecord) -> str:
    """The answer beside the right one; without one the mistake."""
    if answer.answer is None:
        return mistake(answer)
    return expected_and_got(answer.expected[0] if answer.expected else "", answer.answer)


STEPS: Final = {"coverage": "covered", "state": "state", "path": "next line"}
"""The questions of one chain, by the field of the record that has the answer; the output comes last."""
LINE_KINDS: Final = {
    "executed": "lines that run",
    "not executed": "lines that do not run",
    "return": "returns",
    "branch": "branches",
    "other": "other lines",
}
"""Kinds of lines, with their names in a sentence."""
_BRANCH: Final = re.compile(r"\s*(if|elif|else|for|while|try|except|finally|match|case|with)\b")
_RETURN: Final = re.compile(r"\s*return\b")


def runtime_summary(records: Sequence[RuntimeRecord]) -> Mapping[str, Any]:
    """Counts over all answers of a file: constant answers, lines by kind, chains, mistakes, cut replies."""
    statements = [one for record in records for one in record.statements]
    lines: dict[str, list[list[int]]] = {kind: [[0, 0] for _ in STEPS] for kind in LINE_KINDS}
    seen: Counter[str] = Counter()
    for record in records:
        text = record.program.splitlines()
        for one in record.statements:
            line = text[one.line - 1] if one.line <= len(text) else ""
            for kind in (
                "executed" if "YES" in one.coverage.expected else "not executed",
                "return" if _RETURN.match(line) else "branch" if _BRANCH.match(line) else "other",
            ):
                for place, step in enumerate(STEPS):
                    lines[kind][place][0] += getattr(one, step).correct
                    lines[kind][place][1] += 1
        seen.update(pattern(chain.right) for chain in chains(record))

    def giving(constant: str, step: str) -> int:
        answers = (getattr(one, step).answer or "" for one in statements)
        plain = (answer.strip().strip("`").partition(";")[0].strip() for answer in answers)
        return sum(answer.upper() == constant.upper() for answer in plain)

    return {
        "statements": len(statements),
        "given": {
            "YES": giving("YES", "coverage"),
            "Nil": giving("Nil", "state"),
            "-1": giving("-1", "path"),
        },
        "lines": lines,
        "chains": dict(sorted(seen.items(), reverse=True)),
        "mistakes": {
            **{step: mistakes(getattr(one, step) for one in statements) for step in STEPS},
            "output": mistakes(record.output for record in records),
        },
        "most_ic": _most_consistency(records),
    }


def mistakes(answers: Iterable[AnswerRecord]) -> dict[str, int]:
    """How many are wrong in which way."""
    return dict(Counter(kind for answer in answers if (kind := mistake(answer))))


def _most_consistency(records: Sequence[RuntimeRecord]) -> float | None:
    """IC if every cut reply had been right; None where none was cut."""
    scores, cut = [], False
    for record in records:
        for one, chain in zip(record.statements, chains(record), strict=True):
            answers = [*(getattr(one, step) for step in STEPS), record.output]
            were_cut = [mistake(answer) == "cut" for answer in answers]
            cut |= any(were_cut)
            covered, state, path, output = map(any, zip(chain.right, were_cut, strict=True))
            scores.append(chain._replace(right=(covered, state, path, output)).score)
    return 100 * sum(scores) / len(scores) if cut and scores else None


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
    yield _mistaken_outputs(suite, summaries, score, models)
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


def _mistaken_outputs(suite: str, summaries: Summaries, score: Score, models: Models) -> Section:
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
        columns["IC with more tokens"] = {}
        for model, summary in summaries.items():
            most, now = summary["most_ic"], score(model, "ic").number
            columns["IC with more tokens"][model] = (
                Value("nothing was cut")
                if most is None or now is None
                else Value(f"at most {formats.signed(max(0.0, most - now), 100)}", number=most)
            )
    return model_table(
        "How wrong outputs are wrong",
        "Another value than the program returned; a right or wrong value in another form than was asked for;"
        " nothing that can be read; a reply that the token limit cut.",
        models,
        summaries,
        columns,
    )


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
