"""Answers of the runtime: of one record, as evidence shows them; counts over all answers of a file."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import product
from typing import Any, Final, NamedTuple

from triathlon_runner.records import AnswerRecord, Outcome, RuntimeRecord
from triathlon_runner.runtime import chains, consistency
from triathlon_runner.syntax import program_lines
from triathlon_site.evidence import Article, expected_and_got
from triathlon_site.render.formats import cut, words

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
STEPS: Final = {"coverage": "covered", "state": "state", "path": "next line"}
"""The questions of one chain, by the field of the record that has the answer; the output comes last."""
CONSTANTS: Final = {"coverage": "YES", "state": "Nil", "path": "-1"}
"""The answer that a model may give to each without reading the program."""
LINE_KINDS: Final = {
    "executed": "lines that run",
    "not executed": "lines that do not run",
    "return": "returns",
    "branch": "branches",
    "other": "other lines",
}
"""Kinds of lines, with their names in a sentence."""
MOST_EXPECTED: Final = 3  # right answers that are shown beside a wrong one
_BRANCH: Final = re.compile(r"\s*(if|elif|else|for|while|try|except|finally|match|case|with)\b")
_RETURN: Final = re.compile(r"\s*return\b")


class Answer(NamedTuple):
    """One question's answer in its chain, in texts as the evidence shows them."""

    question: str  # as it was asked; its title where that is not kept
    correct: bool
    is_first_wrong: bool  # of its chain
    text: str  # without an answer, how it ended
    why: str
    expected: Sequence[str]
    reply: str
    reasoning: str


class AnswerRow(NamedTuple):
    """The answers about one line and variable; without a line, that about the output."""

    line: int | None
    variable: str
    answers: Sequence[Answer]
    chain: str  # which of the four answers are right: `1010`


def _shown(title: str, answer: AnswerRecord, *, right_so_far: bool) -> Answer:
    """`right_so_far`: whether all answers before it in its chain are right."""
    reply, question = answer.reply, cut(answer.question) or title
    words_of_model = cut(reply.text), cut(reply.reasoning)
    if answer.correct:  # what would be right is only shown beside a wrong one
        return Answer(question, True, False, cut(answer.answer or ""), "", (), *words_of_model)
    text = words(answer.outcome) if answer.answer is None else cut(answer.answer)
    why = answer.why.rstrip(": ")
    why = "" if why == "AssertionError" else cut(why)
    expected = [cut(one) for one in answer.expected[:MOST_EXPECTED]]
    return Answer(question, False, right_so_far, text, why, expected, *words_of_model)


def mistake(answer: AnswerRecord) -> str:
    """`cut`, `no answer`, `another form` or `another value`; empty for a right answer."""
    if answer.correct:
        return ""
    if answer.outcome == Outcome.TRUNCATED:
        return "cut"
    if answer.outcome == Outcome.NO_ANSWER or answer.answer is None:
        return "no answer"
    return "another form" if answer.why.startswith(FORMS) else "another value"


def _mistakes(answers: Iterable[AnswerRecord]) -> dict[str, int]:
    return dict(Counter(mistake(answer) for answer in answers if not answer.correct))


def _wrong(answer: AnswerRecord) -> str:
    """The answer beside the right one; without one the mistake."""
    if answer.answer is None:
        return mistake(answer)
    return expected_and_got(answer.expected[0] if answer.expected else "", answer.answer)


@cache
def _pattern(chain: tuple[bool, ...]) -> str:
    """A chain as REval writes it: `1110` where the output alone is wrong."""
    return "".join("1" if each else "0" for each in chain)


def _answers(record: RuntimeRecord) -> Iterator[tuple[str, AnswerRecord]]:
    for one in record.statements:
        yield from ((title, getattr(one, step)) for step, title in STEPS.items())
    yield "output", record.output


def _rows(record: RuntimeRecord) -> Iterator[AnswerRow]:
    """A row for each chain, then the answer about the output."""
    all_right = True
    for one, chain in zip(record.statements, chains(record), strict=True):
        answers, right_so_far = [], True
        for step, title in STEPS.items():
            answer = getattr(one, step)
            answers.append(_shown(title, answer, right_so_far=right_so_far))
            right_so_far &= answer.correct
        yield AnswerRow(one.line, one.variable, answers, _pattern(chain))
        all_right &= right_so_far
    yield AnswerRow(None, "", [_shown("output", record.output, right_so_far=all_right)], "")


def _kinds(record: RuntimeRecord) -> Iterator[str]:
    """What a list of units can be filtered by: its chains, and the mistakes in it."""
    yield from {f"chain {_pattern(chain)}" for chain in chains(record)}
    yield from {f"{name}: {mistake(answer)}" for name, answer in _answers(record) if not answer.correct}


def _reason(record: RuntimeRecord) -> str:
    """How many answers are wrong, and the output where it is."""
    mistaken = [name for name, answer in _answers(record) if not answer.correct]
    count = f"{len(mistaken)} of {3 * len(record.statements) + 1} answers wrong"
    return count if record.output.correct else f"{count}; output {_wrong(record.output)}"


def _count_chains(records: Sequence[RuntimeRecord]) -> Mapping[str, Any]:
    patterns = Counter(_pattern(chain) for record in records for chain in chains(record))
    return {"statements": patterns.total(), "chains": dict(sorted(patterns.items(), reverse=True))}


def _summary(records: Sequence[RuntimeRecord]) -> Mapping[str, Any]:
    """Counts over all answers of a file: constant answers, lines by kind, chains, mistakes, cut replies."""
    statements = [one for record in records for one in record.statements]
    answers = {step: [getattr(one, step) for one in statements] for step in STEPS}
    given = {step: Counter(answer.answer or "" for answer in of_step) for step, of_step in answers.items()}
    lines: dict[str, list[list[int]]] = {kind: [[0, 0] for _ in STEPS] for kind in LINE_KINDS}
    for (*kinds, right), count in Counter(_kinds_of_lines(records)).items():
        for kind in kinds:
            for counts, is_right in zip(lines[kind], right, strict=True):
                counts[0] += count * is_right
                counts[1] += count

    def giving(step: str, constant: str) -> int:
        return sum(count for answer, count in given[step].items() if _is(answer, constant))

    mistakes = {
        **{step: _mistakes(of_step) for step, of_step in answers.items()},
        "output": _mistakes(record.output for record in records),
    }
    was_cut = any("cut" in of_step for of_step in mistakes.values())
    return {
        **_count_chains(records),
        "given": {constant: giving(step, constant) for step, constant in CONSTANTS.items()},
        "lines": lines,
        "mistakes": mistakes,
        "most_ic": _most_consistency(records) if was_cut else None,
    }


def _kinds_of_lines(records: Sequence[RuntimeRecord]) -> Iterator[tuple[str, str, tuple[bool, ...]]]:
    """Of each line that was asked about two of its kinds, and which answers about it are right."""
    for record in records:
        text = program_lines(record.program)
        for one in record.statements:
            line = text[one.line - 1] if one.line <= len(text) else ""
            executed = "executed" if "YES" in one.coverage.expected else "not executed"
            form = "return" if _RETURN.match(line) else "branch" if _BRANCH.match(line) else "other"
            yield executed, form, (one.coverage.correct, one.state.correct, one.path.correct)


def _is(answer: str, constant: str) -> bool:
    """Whether an answer is the constant one, in whatever letters, with or without a type behind it."""
    return answer.strip().strip("`").partition(";")[0].strip().upper() == constant.upper()


def _most_consistency(records: Sequence[RuntimeRecord]) -> float | None:
    """The highest IC that whole answers in place of cut ones could give; None without statements.

    Not all of them have to be right: a right answer behind a wrong one makes a chain inconsistent.
    """
    scores = 0.0
    for record in records:
        lines = [[_could_be(getattr(one, step)) for step in STEPS] for one in record.statements]
        scores += max(
            sum(max(consistency((a, b, c, output)) for a, b, c in product(*line)) for line in lines)
            for output in _could_be(record.output)
        )
    statements = sum(len(record.statements) for record in records)
    return 100 * scores / statements if statements else None


def _could_be(answer: AnswerRecord) -> Sequence[bool]:
    """Whether an answer is right; both where it was cut."""
    return (False, True) if mistake(answer) == "cut" else (answer.correct,)


QUESTIONS_ARTICLE: Final = Article(
    "board/runtime_unit", _rows, _kinds, _reason, summary=_summary, summary_of_outcomes=_count_chains
)
"""How four questions about a program are shown."""
PREDICTION_ARTICLE: Final = Article(
    "board/runtime_unit",
    rows=lambda record: [
        AnswerRow(None, "", [_shown(record.asked, record.prediction, right_so_far=False)], "")
    ],
    kinds=lambda record: filter(None, [mistake(record.prediction)]),
    reason=lambda record: _wrong(record.prediction),
    alike=lambda record: (record.prediction.answer, record.prediction.outcome, record.prediction.why),
    summary=lambda records: {
        "answers": len(records),
        "mistakes": {"output": _mistakes(one.prediction for one in records)},
    },
)
"""How one answer about a program is shown."""
