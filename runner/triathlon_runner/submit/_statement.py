"""The result of a check as an in-toto statement to be signed, and checks of the statement beside results."""

from collections.abc import Iterator, Mapping
from typing import Any

from triathlon_runner.engine_version import ENGINE_VERSION
from triathlon_runner.errors import UserError
from triathlon_runner.records import (
    EngineVersion,
    GradedDigest,
    GradedFile,
    GradedResult,
    GradedStatement,
    GradingEngine,
)
from triathlon_runner.store import VERIFIED, how_to_grade_again, read_graded_again
from triathlon_runner.submit._check import Problem, Submission
from triathlon_runner.submit._report import SubmissionReport


def statement(report: SubmissionReport) -> dict[str, Any]:
    """Returns an unsigned in-toto Statement (version 1) with a `test-result` predicate (version 0.1).

    The subjects are the results files with their SHA-256; a suite without problems is a passed test.
    """
    files = [file for file in report.files if file.sha256]
    engine = EngineVersion(version=str(report.engine_version))
    document = GradedStatement(
        subject=tuple(
            GradedFile(
                name=f"runs/{report.model}/{file.suite}.jsonl", digest=GradedDigest(sha256=file.sha256)
            )
            for file in files
        ),
        predicate=GradedResult(
            result="PASSED" if report.accepted else "FAILED",
            configuration=(GradingEngine(annotations=engine),),
            passedTests=tuple(file.suite for file in files if file.accepted),
            failedTests=tuple(file.suite for file in files if not file.accepted),
        ),
    )
    return document.model_dump(mode="json", by_alias=True)


def check_statement(submission: Submission, sha256: Mapping[str, str]) -> Iterator[Problem]:
    """Yields problems of a statement that the files beside it contradict.

    Args:
        submission: the results.
        sha256: of each suite's file as it is now.
    """
    try:
        graded = read_graded_again(submission.folder, submission.model)
    except UserError as error:
        yield Problem(VERIFIED, str(error))
        return
    if graded is None:
        return
    remedy = f"leave {VERIFIED} out, or {how_to_grade_again(submission.model)}"
    if graded.engine_version != ENGINE_VERSION:
        yield Problem(VERIFIED, f"expected engine {ENGINE_VERSION}, got {graded.engine_version}; {remedy}")
    for suite, stated in graded.sha256.items():
        if (actual := sha256.get(suite, "no such file")) != stated:
            yield Problem(f"{VERIFIED}, {suite}", f"expected SHA-256 {actual!r}, got {stated!r}; {remedy}")
