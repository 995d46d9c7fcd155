"""Whether stored scores follow from stored evidence: all is executed and graded again, no model is asked."""

from triathlon_runner.verify._replay import NotInEvidenceError, replayed
from triathlon_runner.verify._update import Update, update_file, why_not_updated
from triathlon_runner.verify._verify import CountMismatch, FileReport, Mismatch, verify_file
from triathlon_runner.verify._work import work_of

__all__ = [
    "CountMismatch",
    "FileReport",
    "Mismatch",
    "NotInEvidenceError",
    "Update",
    "replayed",
    "update_file",
    "verify_file",
    "why_not_updated",
    "work_of",
]
