"""Answers of the runtime: of one record, as evidence shows them; counts over all answers of a file."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from triathlon_runner.records import AnswerRecord, Outcome, RuntimeRecord
from triathlon_runner.runtime import chains
from triathlon_site.evidence import Article, expected_and_got

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
_BRANCH: Final = re.compile(r"\s*(if|elif|else|for|while|try|except|finally|match|case|with)\b")
_RETURN: Final = re.compile(r"\s*return\b")


class Answer(NamedTuple):
    """One question's answer in its chain."""

    question: str
    answer: AnswerRecord
    right_so_far: bool  # whether all before it in its chain are right


class AnswerRow(NamedTuple):
    """The answers about one line and variable; without a line, that about the output."""

    line: int | None
    variable: str
    answers: Sequence[Answer]
    chain: str  # which of the four answers are right: `1010`


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
    return dict(Counter(kind for answer in answers if (kind := mistake(answer))))


def _wrong(answer: AnswerRecord) -> str:
    """The answer beside the right one; without one the mistake."""
    if answer.answer is None:
        return mistake(answer)
    return expected_and_got(answer.expected[0] if answer.expected else "", answer.answer)


def _pattern(right: Sequence[bool]) -> str:
    """A chain as REval writes it: `1110` where the output alone is wrong."""
    return "".join(str(int(each)) for each in right)


def _answers(record: RuntimeRecord) -> Iterator[tuple[str, AnswerRecord]]:
    for one in record.statements:
        yield from ((title, getattr(one, step)) for step, title in STEPS.items())
    yield "output", record.output


def _rows(record: RuntimeRecord) -> Iterator[AnswerRow]:
    """A row for each chain, then the answer about the output."""
    all_right = True
    for one, chain in zip(record.statements, chains(record), strict=True):
        covered, state = one.coverage.correct, one.coverage.correct and one.state.correct
        answers = [
            Answer("covered", one.coverage, right_so_far=True),
            Answer("state", one.state, covered),
            Answer("next line", one.path, state),
        ]
        yield AnswerRow(one.line, one.variable, answers, _pattern(chain.right))
        all_right &= state and one.path.correct
    yield AnswerRow(None, "", [Answer("output", record.output, all_right)], "")


def _kinds(record: RuntimeRecord) -> Iterator[str]:
    """What a list of units can be filtered by: its chains, and the mistakes in it."""
    yield from {f"chain {_pattern(chain.right)}" for chain in chains(record)}
    yield from {f"{name}: {mistake(answer)}" for name, answer in _answers(record) if not answer.correct}


def _reason(record: RuntimeRecord) -> str:
    """How many answers are wrong, and the output where it is."""
    mistaken = [name for name, answer in _answers(record) if not answer.correct]
    count = f"{len(mistaken)} of {3 * len(record.statements) + 1} answers wrong"
    return count if record.output.correct else f"{count}; output {_wrong(record.output)}"


def _summary(records: Sequence[RuntimeRecord]) -> Mapping[str, Any]:
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
        seen.update(_pattern(chain.right) for chain in chains(record))

    def giving(step: str, constant: str) -> int:
        answers = (getattr(one, step).answer or "" for one in statements)
        plain = (answer.strip().strip("`").partition(";")[0].strip() for answer in answers)
        return sum(answer.upper() == constant.upper() for answer in plain)

    return {
        "statements": len(statements),
        "given": {constant: giving(step, constant) for step, constant in CONSTANTS.items()},
        "lines": lines,
        "chains": dict(sorted(seen.items(), reverse=True)),
        "mistakes": {
            **{step: _mistakes(getattr(one, step) for one in statements) for step in STEPS},
            "output": _mistakes(record.output for record in records),
        },
        "most_ic": _most_consistency(records),
    }


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


QUESTIONS_ARTICLE: Final = Article("board/runtime_unit", _rows, _kinds, _reason, summary=_summary)
"""How four questions about a program are shown."""
PREDICTION_ARTICLE: Final = Article(
    "board/runtime_unit",
    rows=lambda record: [
        AnswerRow(None, "", [Answer(record.asked, record.prediction, right_so_far=False)], "")
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
