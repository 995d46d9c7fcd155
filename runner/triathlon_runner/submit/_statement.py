"""A check's result as an in-toto statement, for a signature by whoever ran it, and the one beside results."""

from collections.abc import Iterator, Mapping
from typing import Any

from triathlon_runner.engine_version import ENGINE_VERSION
from triathlon_runner.errors import UserError
from triathlon_runner.records import (
    EngineVersion,
    JudgedDigest,
    JudgedFile,
    JudgedResult,
    JudgedStatement,
    JudgingEngine,
)
from triathlon_runner.store import VERIFIED, how_to_judge_again, read_judged_again
from triathlon_runner.submit._check import Problem, Submission
from triathlon_runner.submit._report import SubmissionReport


def statement(report: SubmissionReport) -> dict[str, Any]:
    """An unsigned in-toto Statement (version 1) with a `test-result` predicate (version 0.1).

    The subjects are the results files with their SHA-256; a suite with nothing against it is a passed test.
    """
    files = [file for file in report.files if file.sha256]
    engine = EngineVersion(version=str(report.engine_version))
    found = JudgedStatement(
        subject=tuple(
            JudgedFile(
                name=f"runs/{report.model}/{file.suite}.jsonl", digest=JudgedDigest(sha256=file.sha256)
            )
            for file in files
        ),
        predicate=JudgedResult(
            result="PASSED" if report.accepted else "FAILED",
            configuration=(JudgingEngine(annotations=engine),),
            passedTests=tuple(file.suite for file in files if file.accepted),
            failedTests=tuple(file.suite for file in files if not file.accepted),
        ),
    )
    return found.model_dump(mode="json", by_alias=True)


def check_statement(submission: Submission, sha256: Mapping[str, str]) -> Iterator[Problem]:
    """What the statement beside the results says and their files do not bear out.

    Args:
        submission: the results.
        sha256: by suite, of the file as it is now.
    """
    try:
        graded = read_judged_again(submission.folder, submission.model)
    except UserError as error:
        yield Problem(VERIFIED, str(error))
        return
    if graded is None:
        return
    mend = f"leave {VERIFIED} out, or {how_to_judge_again(submission.model)}"
    if graded.engine_version != ENGINE_VERSION:
        yield Problem(VERIFIED, f"expected engine {ENGINE_VERSION}, got {graded.engine_version}; {mend}")
    for suite, stated in graded.sha256.items():
        if (now := sha256.get(suite, "no such file")) != stated:
            yield Problem(f"{VERIFIED}, {suite}", f"expected SHA-256 {now!r}, got {stated!r}; {mend}")
