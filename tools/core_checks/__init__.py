"""Checks of our own problems: their tests must bite, and their docstrings must be true."""

from core_checks._alive import Report
from core_checks._classes import check_class, class_findings
from core_checks._details import CoreClass, CoreProblem, class_detail, detail
from core_checks._originality import public_rows, public_texts, shared_runs
from core_checks._rules import still_findings
from core_checks._suite import check_problem, check_problems, check_translations
