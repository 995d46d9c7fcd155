"""Evidence: what a model wrote for single tasks and what became of it, in small pages of their own."""

from triathlon_site.evidence._lists import read_attempts
from triathlon_site.evidence._pages import (
    ATTEMPTS,
    LINKS,
    Article,
    EvidenceExtractor,
    EvidenceSource,
    evidence_path,
    imported_page,
    imported_slug,
    render_evidence,
    suite_slug,
)
from triathlon_site.evidence._words import Words, changed_words

__all__ = [
    "ATTEMPTS",
    "LINKS",
    "Article",
    "EvidenceExtractor",
    "EvidenceSource",
    "Words",
    "changed_words",
    "evidence_path",
    "imported_page",
    "imported_slug",
    "read_attempts",
    "render_evidence",
    "suite_slug",
]
