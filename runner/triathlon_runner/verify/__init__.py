"""Whether stored scores follow from stored evidence: all is executed and graded again, no model is asked."""

from triathlon_runner.verify._replay import NotInEvidenceError, replayed, work_of
from triathlon_runner.verify._update import compact_file, update_file
from triathlon_runner.verify._verify import COUNTS_DIFFER, FileReport, verify_file
