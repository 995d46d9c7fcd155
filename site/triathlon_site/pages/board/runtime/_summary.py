"""What all answers of a file say: constant answers, mistakes of form, kinds of lines, chains, cut replies."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from triathlon_runner.records import AnswerRecord, PredictionRecord, RuntimeRecord, StatementRecord
from triathlon_runner.runtime import chains
from triathlon_site.pages.board.runtime._answers import mistake, pattern

STEPS: Final = ("coverage", "state", "path")
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
    """Counts over all answers of a file; see the module."""
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


def _mistakes(answers: Iterator[AnswerRecord] | Sequence[AnswerRecord]) -> dict[str, int]:
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
