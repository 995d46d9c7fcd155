"""Checks of our own problems: their tests must bite, and their docstrings must be true."""

from core_checks._alive import Report
from core_checks._classes import check_class, class_findings
from core_checks._details import CoreClass, CoreProblem, Survivor, Wrong, class_detail, detail
from core_checks._neighbours import (
    Verdict,
    judged_prompts,
    nearest,
    public_rows,
    public_texts,
    shared_runs,
    unjudged,
    verdicts,
)
from core_checks._rules import still_findings
from core_checks._suite import check_problem, check_problems, check_translations

__all__ = [
    "CoreClass",
    "CoreProblem",
    "Report",
    "Survivor",
    "Verdict",
    "Wrong",
    "check_class",
    "check_problem",
    "check_problems",
    "check_translations",
    "class_detail",
    "class_findings",
    "detail",
    "judged_prompts",
    "nearest",
    "public_rows",
    "public_texts",
    "shared_runs",
    "still_findings",
    "unjudged",
    "verdicts",
]
