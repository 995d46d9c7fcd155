"""Grading programs: comparing what they returned with what the reference returns."""

from triathlon_runner.grading._answer_keys import REFERENCE_LIMITS, UngradableError
from triathlon_runner.grading._caching_grader import CachingGrader
from triathlon_runner.grading._code_tests import TEST_LIMITS, CodeTestGrader, grade_by_tests
from triathlon_runner.grading._compare import agree, shown
from triathlon_runner.grading._grade_samples import (
    UNKNOWN_TASK,
    GradeReport,
    base_outcome,
    grade_samples,
)
from triathlon_runner.grading._program_grader import Fault, Grader, ProgramGrader, grade_results
from triathlon_runner.grading._samples import (
    NO_VERDICT,
    UNKNOWN,
    Agreement,
    Comparison,
    TaskNames,
    TheirVerdict,
    sample_rows,
    their_verdict,
)
