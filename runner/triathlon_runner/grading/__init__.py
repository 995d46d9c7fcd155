"""Judging programs: comparing what they returned with what the reference returns."""

from triathlon_runner.grading._api import Grader

__all__ = ["Grader"]
