"""Evidence: what a model wrote for single tasks and what became of it, in packs for one page a suite."""

from triathlon_site.evidence._article import (
    Article,
    Articles,
    Words,
    changed_words,
    expected_and_got,
    reason,
    render_tasks,
)
from triathlon_site.evidence._extractor import (
    ATTEMPTS,
    INDEX,
    LINES,
    LINKS,
    SUMMARY,
    EvidenceExtractor,
    imported_page,
    imported_slug,
    read_attempts,
    read_summary,
)

__all__ = [
    "ATTEMPTS",
    "INDEX",
    "LINES",
    "LINKS",
    "SUMMARY",
    "Article",
    "Articles",
    "EvidenceExtractor",
    "Words",
    "changed_words",
    "expected_and_got",
    "imported_page",
    "imported_slug",
    "read_attempts",
    "read_summary",
    "reason",
    "render_tasks",
]
