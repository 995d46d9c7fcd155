"""Checks of results that somebody hands in: may they join the committed ones?"""

from triathlon_runner.submit._check import (
    Problem,
    Submission,
    check_plan,
    check_protocol,
    check_statement,
    check_texts,
    read_submission,
    submission_at,
)
from triathlon_runner.submit._report import SHOWN, FileCheck, SubmissionReport
from triathlon_runner.submit._statement import statement

__all__ = [
    "SHOWN",
    "FileCheck",
    "Problem",
    "Submission",
    "SubmissionReport",
    "check_plan",
    "check_protocol",
    "check_statement",
    "check_texts",
    "read_submission",
    "statement",
    "submission_at",
]
