"""Judging programs: comparing what they returned with what the reference returns."""

from triathlon_runner.grading._api import Grader
from triathlon_runner.grading._keys import AnswerKey, AnswerKeys, ReferenceFailedError
from triathlon_runner.grading._program import ProgramGrader
from triathlon_runner.grading._tests import TEST_LIMITS, judge_by_tests

__all__ = [
    "TEST_LIMITS",
    "AnswerKey",
    "AnswerKeys",
    "Grader",
    "ProgramGrader",
    "ReferenceFailedError",
    "judge_by_tests",
]
