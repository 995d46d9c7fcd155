"""Faults of a record or manifest, in words: what pydantic finds, and values that contradict each other."""

from collections.abc import Iterator

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from triathlon_runner.records import (
    AnswerRecord,
    EvolvedRecord,
    LoopRecord,
    Manifest,
    Outcome,
    PredictionRecord,
    RecordedLoop,
    RuntimeRecord,
    UnitRecord,
    Verdict,
)


def fault_in_words(fault: ErrorDetails) -> str:
    """Returns what pydantic found wrong with a value, and the value where it is a number."""
    got = fault["input"]
    shown = f", got {str(got)[:20]}" if isinstance(got, int | float) else ""
    return fault["msg"].removeprefix("Value error, ") + shown


def validation_fault(error: ValidationError) -> str:
    """Returns the first fault of a file, in words: the field and what is wrong with it."""
    fault = error.errors(include_url=False)[0]
    return f"{'.'.join(map(str, fault['loc'])) or 'the file'}: {fault_in_words(fault)}"


def fault_of_record(record: UnitRecord) -> str:
    """Returns the first outcome that contradicts the record, in words; empty where there is none."""
    return next(_contradictions(record), "")


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
    if (manifest.model, manifest.suite) != (model, suite):
        return f"it is that of {manifest.model!r} on {manifest.suite!r}"
    return ""
