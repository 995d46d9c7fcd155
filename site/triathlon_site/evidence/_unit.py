"""One unit as its article shows it: the loops, the questions about a run, or a problem beside its seeds."""

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Final, Literal, NamedTuple

from triathlon_runner.records import (
    AnswerRecord,
    EvolvedRecord,
    LoopRecord,
    LoopStep,
    PredictionRecord,
    RuntimeRecord,
    StatementRecord,
    UnitRecord,
)
from triathlon_runner.runtime import chains
from triathlon_site.evidence._words import Words, changed_words

Texts = list[tuple[str, str]]
"""Texts to be opened, each behind its label; none is empty."""
_FRACTIONS: Final = {1.0: "1", 0.5: "½", 0.25: "¼", 0.125: "⅛"}


class StepView(NamedTuple):
    """One loop: its prompt, with the words that differ from the prompt before."""

    step: LoopStep
    words: list[Words]
    texts: Texts


class LoopView(NamedTuple):
    """A unit of the loop disciplines."""

    record: LoopRecord
    steps: list[StepView]
    template: Literal["loop"] = "loop"


class AnswerView(NamedTuple):
    """One answer about a run."""

    answer: AnswerRecord
    first_wrong: bool
    """Whether it is the first wrong one of its chain."""


class StatementView(NamedTuple):
    """The answers about one statement, and what their chain scores."""

    statement: StatementRecord
    answers: list[AnswerView]
    score: str


class RuntimeView(NamedTuple):
    """A unit of the runtime discipline."""

    record: RuntimeRecord
    statements: list[StatementView]
    output: AnswerView
    replies: Texts
    """The whole reply of each wrong answer."""
    template: Literal["runtime"] = "runtime"


class PredictionView(NamedTuple):
    """A completed assertion about one call."""

    record: PredictionRecord
    answer: AnswerView
    texts: Texts
    template: Literal["prediction"] = "prediction"


class EvolvedView(NamedTuple):
    """A unit of the evolved discipline, beside what the model did with its seeds."""

    record: EvolvedRecord
    seeds: list[EvolvedRecord]
    problem: list[Words]
    """The problem with the words that differ from its seed's; empty where it has none or two."""
    texts: Texts
    template: Literal["evolved"] = "evolved"


Body = LoopView | RuntimeView | PredictionView | EvolvedView


class UnitView(NamedTuple):
    """A unit as its article shows it."""

    record: UnitRecord
    anchor: str
    body: Body | None
    """None for a record of a kind that has no article of its own."""


def unit_view(record: UnitRecord, anchor: str, parents: Mapping[str, UnitRecord]) -> UnitView:
    """What the article of a unit shows; `parents`: by task_id, the problems that it may be made from."""
    return UnitView(record, anchor, _body(record, parents))


def _texts(*labelled: tuple[str, str | None]) -> Texts:
    return [(label, text) for label, text in labelled if text]


def _body(record: UnitRecord, parents: Mapping[str, UnitRecord]) -> Body | None:
    if isinstance(record, LoopRecord):
        return LoopView(record, list(_steps(record)))
    if isinstance(record, RuntimeRecord):
        return _runtime(record)
    if isinstance(record, PredictionRecord):
        reply = record.prediction.reply
        texts = _texts(("reply", reply.text), ("reasoning", reply.reasoning))
        return PredictionView(record, AnswerView(record.prediction, first_wrong=False), texts)
    if isinstance(record, EvolvedRecord):
        return _evolved(record, [parents[name] for name in record.parents if name in parents])
    return None


def _steps(record: LoopRecord) -> Iterator[StepView]:
    before = None
    for step in record.loops:
        words = [Words("same", step.prompt)] if before is None else changed_words(before, step.prompt)
        reply = step.reply.text if step.reply.text != step.program else ""
        texts = _texts(("program", step.program), ("reply", reply), ("reasoning", step.reply.reasoning))
        yield StepView(step, words, texts)
        before = step.prompt


def _runtime(record: RuntimeRecord) -> RuntimeView:
    scores = [chain.score for chain in chains(record)]
    statements = [_statement(*pair) for pair in zip(record.statements, scores, strict=True)]
    known = all(s.coverage.correct and s.state.correct and s.path.correct for s in record.statements)
    output = AnswerView(record.output, known and not record.output.correct)
    return RuntimeView(record, statements, output, _texts(*_wrong_replies(record)))


def _statement(statement: StatementRecord, score: float) -> StatementView:
    """A chain, its first wrong step marked."""
    answers, right = [], True
    for answer in (statement.coverage, statement.state, statement.path):
        answers.append(AnswerView(answer, right and not answer.correct))
        right = right and answer.correct
    return StatementView(statement, answers, _FRACTIONS.get(score, "0"))


def _wrong_replies(record: RuntimeRecord) -> Iterator[tuple[str, str]]:
    for statement in record.statements:
        for question, answer in (
            ("covered", statement.coverage),
            ("state", statement.state),
            ("next line", statement.path),
        ):
            if not answer.correct:
                yield f"reply: line {statement.line}, {question}", answer.reply.text
    if not record.output.correct:
        yield "reply: output", record.output.reply.text


def _evolved(record: EvolvedRecord, parents: Sequence[UnitRecord]) -> EvolvedView:
    seeds = [parent for parent in parents if isinstance(parent, EvolvedRecord)]
    problem = _changed_problem(seeds[0].prompt, record.prompt) if len(seeds) == 1 else []
    reply = record.reply.text if record.reply.text != record.program else ""
    return EvolvedView(
        record, seeds, problem, _texts(("reply", reply), ("reasoning", record.reply.reasoning))
    )


@lru_cache(maxsize=4096)
def _changed_problem(seed: str, problem: str) -> list[Words]:
    """Cached, because all models are asked the same and a comparison takes milliseconds."""
    return changed_words(seed, problem)
