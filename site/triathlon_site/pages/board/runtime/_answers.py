"""The answers of one record, a row of a table for each chain of questions."""

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from triathlon_runner.records import AnswerRecord, PredictionRecord, RuntimeRecord
from triathlon_runner.runtime import chains

_CHAIN_SCORES: Final = {1.0: "1", 0.5: "½", 0.25: "¼", 0.125: "⅛"}


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
    score: str
    """Of the chain."""


def predicted_rows(record: PredictionRecord) -> Iterator[AnswerRow]:
    """The one answer."""
    yield AnswerRow(None, "", [Answer(record.asked, record.prediction, right_so_far=False)], "")


def runtime_rows(record: RuntimeRecord) -> Iterator[AnswerRow]:
    """A row for each chain, then the answer about the output."""
    all_right = True
    for one, chain in zip(record.statements, chains(record), strict=True):
        covered, state = one.coverage.correct, one.coverage.correct and one.state.correct
        answers = [
            Answer(f"line {one.line}, covered", one.coverage, right_so_far=True),
            Answer(f"line {one.line}, state", one.state, covered),
            Answer(f"line {one.line}, next line", one.path, state),
        ]
        yield AnswerRow(one.line, one.variable, answers, _CHAIN_SCORES.get(chain.score, "0"))
        all_right &= state and one.path.correct
    yield AnswerRow(None, "", [Answer("output", record.output, all_right)], "")
