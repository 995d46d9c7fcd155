"""Judging programs: comparing what they returned with what the reference returns."""

from triathlon_runner.grading._api import Grader
from triathlon_runner.grading._keys import AnswerKey, AnswerKeys, ReferenceFailedError
from triathlon_runner.grading._program import ProgramGrader

__all__ = ["AnswerKey", "AnswerKeys", "Grader", "ProgramGrader", "ReferenceFailedError"]
