"""Checks of our own problems: their tests must bite, and their docstrings must be true."""

from triathlon_runner.datasets.core.checks._alive import Report
from triathlon_runner.datasets.core.checks._classes import check_class, class_findings
from triathlon_runner.datasets.core.checks._mutants import Mutant, mutants
from triathlon_runner.datasets.core.checks._neighbours import (
    Verdict,
    judged_prompts,
    public_rows,
    public_texts,
    unjudged,
    verdicts,
)
from triathlon_runner.datasets.core.checks._originality import nearest, shared_runs
from triathlon_runner.datasets.core.checks._rules import still_findings
from triathlon_runner.datasets.core.checks._suite import check_problem, check_problems
from triathlon_runner.datasets.core.checks._translations import check_translations

__all__ = [
    "Mutant",
    "Report",
    "Verdict",
    "check_class",
    "check_problem",
    "check_problems",
    "check_translations",
    "class_findings",
    "judged_prompts",
    "mutants",
    "nearest",
    "public_rows",
    "public_texts",
    "shared_runs",
    "still_findings",
    "unjudged",
    "verdicts",
]
