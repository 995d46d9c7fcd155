"""The result of a check as an in-toto statement to be signed."""

from typing import Any

from triathlon_runner.records import (
    EngineVersion,
    GradedDigest,
    GradedFile,
    GradedResult,
    GradedStatement,
    GradingEngine,
)
from triathlon_runner.submit._report import SubmissionReport


def statement(report: SubmissionReport) -> dict[str, Any]:
    """Returns an unsigned in-toto Statement (version 1) with a `test-result` predicate (version 0.1).

    The subjects are the results files with their SHA-256; a suite is a passed test
    where it is whole and has no problem.
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
            result="PASSED" if report.marked else "FAILED",
            configuration=(GradingEngine(annotations=engine),),
            passedTests=tuple(file.suite for file in files if file.marked),
            failedTests=tuple(file.suite for file in files if not file.marked),
        ),
    )
    return document.model_dump(mode="json", by_alias=True)
