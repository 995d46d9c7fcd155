"""A check's result as an in-toto statement, for a signature by whoever ran it."""

from typing import Any, Final

from triathlon_runner.submit._report import SubmissionReport

_STATEMENT: Final = "https://in-toto.io/Statement/v1"
_PREDICATE: Final = "https://in-toto.io/attestation/test-result/v0.1"


def statement(report: SubmissionReport) -> dict[str, Any]:
    """An unsigned in-toto Statement (version 1) with a `test-result` predicate (version 0.1).

    The subjects are the results files with their SHA-256; a suite with nothing against it is a passed test.
    """
    files = [file for file in report.files if file.sha256]
    return {
        "_type": _STATEMENT,
        "subject": [
            {"name": f"runs/{report.model}/{file.suite}.jsonl", "digest": {"sha256": file.sha256}}
            for file in files
        ],
        "predicateType": _PREDICATE,
        "predicate": {
            "result": "PASSED" if report.accepted else "FAILED",
            "configuration": [
                {"name": "triathlon-engine", "annotations": {"version": str(report.engine_version)}}
            ],
            "passedTests": [file.suite for file in files if file.accepted],
            "failedTests": [file.suite for file in files if not file.accepted],
        },
    }
