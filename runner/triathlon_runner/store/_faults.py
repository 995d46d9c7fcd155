"""Finds values that contradict each other, or are out of range, in a record or manifest that parses."""

import math
from collections.abc import Iterator
from datetime import datetime
from typing import Final

from pydantic import ValidationError

from triathlon_runner.records import (
    SCHEMA_VERSION,
    AnswerRecord,
    EvolvedRecord,
    LoopRecord,
    Manifest,
    Outcome,
    PredictionRecord,
    RecordedLoop,
    RecordedManifest,
    RuntimeRecord,
    UnitRecord,
    Verdict,
)

MOST_TOKENS: Final = 2**53
"""Largest count that is accepted: spreadsheets and scripts cannot read larger numbers exactly."""


def validation_fault(error: ValidationError) -> str:
    """Returns the first fault of a file, in words: the field and what is wrong with it."""
    fault = error.errors(include_url=False)[0]
    return f"{'.'.join(map(str, fault['loc'])) or 'the file'}: {fault['msg']}"


def fault_of_record(record: UnitRecord) -> str:
    """Returns the first impossible number or outcome, in words; empty where there is none."""
    return impossible_number(record) or next(_contradictions(record), "")


def impossible_number(record: UnitRecord) -> str:
    """The first number that no run writes, in words; empty where there is none."""
    return next(_out_of_range(record), "")


def _out_of_range(record: UnitRecord) -> Iterator[str]:
    if not 0 <= record.seconds < math.inf:
        yield f"seconds: expected 0 or more, got {record.seconds!r}"
    if record.sample < 0:
        yield f"sample: expected 0 or more, got {record.sample}"
    for name, count in record.usage:
        if not 0 <= count <= MOST_TOKENS:
            yield f"usage.{name}: expected 0 or more, got {str(count)[:20]}"
    if isinstance(record, LoopRecord | RecordedLoop):
        yield from _loops_out_of_range(record)


def _loops_out_of_range(record: LoopRecord | RecordedLoop) -> Iterator[str]:
    if not 0 <= record.sustained_loops <= record.max_loops:
        yield f"sustained_loops: expected 0 to {record.max_loops}, got {record.sustained_loops}"
    if record.max_loops < 1:
        yield f"max_loops: expected 1 or more, got {record.max_loops}"
    if record.similarity is not None and not 0 <= record.similarity <= 1:
        yield f"similarity: expected 0 to 1, got {record.similarity!r}"


def _contradictions(record: UnitRecord) -> Iterator[str]:
    """Yields outcomes that contradict the evidence in the record: one of the two was changed."""
    if isinstance(record, EvolvedRecord):
        yield from _of_verdict("outcome", record.outcome, record.verdict)
    elif isinstance(record, LoopRecord) and record.loops:
        yield from _of_loops(record)
    elif isinstance(record, RuntimeRecord):
        yield from _of_answers(record)
    elif isinstance(record, RecordedLoop):
        passed_all = record.sustained_loops == record.max_loops
        if passed_all != (record.outcome is Outcome.PASSED):
            loops = f"{record.sustained_loops} of {record.max_loops} loops"
            yield f"outcome: {record.outcome.value!r}, but {loops} passed"
    elif isinstance(record, PredictionRecord):
        answer = record.prediction
        yield from _of_answer("prediction", answer)
        if answer.outcome is not record.outcome:
            yield f"outcome: {record.outcome.value!r}, but its answer's is {answer.outcome.value!r}"


def _of_verdict(field: str, outcome: Outcome, verdict: Verdict | None) -> Iterator[str]:
    if verdict is None and outcome is Outcome.PASSED:
        yield f"{field}: 'passed' without a verdict"
    if verdict is None:
        return
    if verdict.outcome is not outcome:
        yield f"{field}: {outcome.value!r}, but its verdict says {verdict.outcome.value!r}"
    passed = verdict.failing is None and verdict.passed == verdict.total
    if verdict.outcome is Outcome.PASSED and not passed:
        yield f"{field}: 'passed', but its verdict counts {verdict.passed} of {verdict.total} tests"


def _of_loops(record: LoopRecord) -> Iterator[str]:
    for step in record.loops:
        yield from _of_verdict(f"loops[{step.loop - 1}].outcome", step.outcome, step.verdict)
    passed, last = sum(step.outcome is Outcome.PASSED for step in record.loops), record.loops[-1].outcome
    if record.sustained_loops != passed:
        yield f"sustained_loops: {record.sustained_loops}, but {passed} of its loops passed"
    passed_all = passed == record.max_loops
    if passed_all != (record.outcome is Outcome.PASSED) or last not in (Outcome.PASSED, record.outcome):
        yield f"outcome: {record.outcome.value!r}, but {passed} of {record.max_loops} loops passed" + (
            "" if last is Outcome.PASSED else f" and the last ended as {last.value!r}"
        )


def _of_answer(field: str, answer: AnswerRecord) -> Iterator[str]:
    if answer.correct != (answer.outcome is Outcome.PASSED):
        yield f"{field}.outcome: {answer.outcome.value!r}, but `correct` says {answer.correct}"


def _of_answers(record: RuntimeRecord) -> Iterator[str]:
    answers: dict[str, AnswerRecord] = {
        f"statements[{position}].{kind}": getattr(statement, kind)
        for position, statement in enumerate(record.statements)
        for kind in ("coverage", "state", "path")
    }
    answers["output"] = record.output
    for field, answer in answers.items():
        yield from _of_answer(field, answer)
    all_right = all(answer.correct for answer in answers.values())
    if all_right != (record.outcome is Outcome.PASSED):
        verdict = "every answer is" if all_right else "not every answer is"
        yield f"outcome: {record.outcome.value!r}, but {verdict} right"


def fault_of_manifest(manifest: Manifest, model: str, suite: str) -> str:
    """Returns why a manifest does not belong to these results, in words; empty where it does."""
    if manifest.schema_version != SCHEMA_VERSION:
        return f"schema {manifest.schema_version} is unknown; this version reads schema {SCHEMA_VERSION}"
    if (manifest.model, manifest.suite) != (model, suite):
        return f"it is that of {manifest.model!r} on {manifest.suite!r}"
    for name in () if isinstance(manifest, RecordedManifest) else ("started", "ended"):
        if not _is_date(getattr(manifest, name)) and not (name == "ended" and manifest.unfinished):
            return f"{name}: expected a date (ISO 8601), got {getattr(manifest, name)[:40]!r}"
    for name in ("tasks_in_suite", "tasks_planned", "open_units", "cost_usd", "tokens_per_second"):
        value = getattr(manifest, name)
        if value is not None and not 0 <= value < math.inf:
            return f"{name}: expected 0 or more, got {value!r}"
    return ""


def _is_date(text: str) -> bool:
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True
