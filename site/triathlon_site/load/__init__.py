"""Reading `results/runs/`: one pass over each file, an aggregate kept by content, a notice for each fault."""

from triathlon_site.load._aggregate import Extracts, FileAggregate, Notice, Parts
from triathlon_site.load._archived import Archived, read_archived
from triathlon_site.load._cache import AggregateCache, code_fingerprint
from triathlon_site.load._files import suite_ids
from triathlon_site.load._results import Extractor, Results, Skipped, read_results, reading
from triathlon_site.load._tasks import TaskResult, Tasks

__all__ = [
    "AggregateCache",
    "Archived",
    "Extractor",
    "Extracts",
    "FileAggregate",
    "Notice",
    "Parts",
    "Results",
    "Skipped",
    "TaskResult",
    "Tasks",
    "code_fingerprint",
    "read_archived",
    "read_results",
    "reading",
    "suite_ids",
]
