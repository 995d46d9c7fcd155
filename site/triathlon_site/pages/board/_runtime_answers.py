"""The answers of one record as evidence shows them, their kinds of mistakes, and what all of a file say."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from triathlon_runner.records import AnswerRecord, Outcome, PredictionRecord, RuntimeRecord, StatementRecord
from triathlon_runner.runtime import chains
from triathlon_site.evidence import expected_and_got

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


def predicted_rows(record: PredictionRecord) -> Iterator[AnswerRow]:
    """The one answer."""
    yield AnswerRow(None, "", [Answer(record.asked, record.prediction, right_so_far=False)], "")


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
    wrong = [name for name, answer in _answers(record) if not answer.correct]
    count = f"{len(wrong)} of {3 * len(record.statements) + 1} answers wrong"
    return count if record.output.correct else f"{count}; output {_wrong(record.output)}"


def predicted_kinds(record: PredictionRecord) -> Iterator[str]:
    """What a list of predictions can be filtered by."""
    if kind := mistake(record.prediction):
        yield kind


def predicted_reason(record: PredictionRecord) -> str:
    """The answer beside the right one."""
    return _wrong(record.prediction)


def _wrong(answer: AnswerRecord) -> str:
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
    outputs = [record.output for record in records]
    lines: dict[str, list[list[int]]] = {kind: [[0, 0] for _ in STEPS] for kind in LINE_KINDS}
    seen: Counter[str] = Counter()
    for record in records:
        text = record.program.splitlines()
        for one in record.statements:
            for kind in _kinds_of(one, text):
                for place, step in enumerate(STEPS):
                    lines[kind][place][0] += getattr(one, step).correct
                    lines[kind][place][1] += 1
        seen.update(pattern(chain.right) for chain in chains(record))
    given = {"YES": "coverage", "Nil": "state", "-1": "path"}
    return {
        "statements": len(statements),
        "given": {
            answer: sum(_is(getattr(one, step).answer, answer) for one in statements)
            for answer, step in given.items()
        },
        "lines": lines,
        "chains": dict(sorted(seen.items(), reverse=True)),
        "mistakes": {
            **{step: _mistakes(getattr(one, step) for one in statements) for step in STEPS},
            "output": _mistakes(outputs),
        },
        "most_ic": _most_consistency(records),
    }


def predicted_summary(records: Sequence[PredictionRecord]) -> Mapping[str, Any]:
    """How many predictions are wrong in which way, of how many."""
    return {"answers": len(records), "mistakes": {"output": _mistakes(one.prediction for one in records)}}


def _mistakes(answers: Iterable[AnswerRecord]) -> dict[str, int]:
    return dict(Counter(kind for answer in answers if (kind := mistake(answer))))


def _is(answer: str | None, constant: str) -> bool:
    return (
        answer is not None and answer.strip().strip("`").partition(";")[0].strip().upper() == constant.upper()
    )


def _kinds_of(one: StatementRecord, text: Sequence[str]) -> Iterator[str]:
    """Whether the line is executed, and what it is."""
    executed = "YES" in one.coverage.expected
    yield "executed" if executed else "not executed"
    line = text[one.line - 1] if one.line <= len(text) else ""
    yield "return" if _RETURN.match(line) else "branch" if _BRANCH.match(line) else "other"


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
