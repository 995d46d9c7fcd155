"""Grading programs: comparing what they returned with what the reference returns."""

from triathlon_runner.grading._answer_keys import AnswerKey, AnswerKeys, ReferenceFailedError
from triathlon_runner.grading._classes import CLASS_LIMITS, ClassGrader
from triathlon_runner.grading._code_tests import (
    TEST_LIMITS,
    CodeTestGrader,
    UngradableError,
    grade_by_tests,
)
from triathlon_runner.grading._compare import agree
from triathlon_runner.grading._grade_results import ExpectedResults, Fault, grade_results, shown
from triathlon_runner.grading._grade_samples import GradeOptions, grade_samples
from triathlon_runner.grading._program import Grader, ProgramGrader
from triathlon_runner.grading._report import UNKNOWN_TASK, GradeReport

__all__ = [
    "CLASS_LIMITS",
    "TEST_LIMITS",
    "UNKNOWN_TASK",
    "AnswerKey",
    "AnswerKeys",
    "ClassGrader",
    "CodeTestGrader",
    "ExpectedResults",
    "Fault",
    "GradeOptions",
    "GradeReport",
    "Grader",
    "ProgramGrader",
    "ReferenceFailedError",
    "UngradableError",
    "agree",
    "grade_by_tests",
    "grade_results",
    "grade_samples",
    "shown",
]
