"""Evidence: what a model wrote for single tasks and what became of it, in small pages of their own."""

from triathlon_site.evidence._pages import EvidenceSource, evidence_path, render_evidence
from triathlon_site.evidence._words import Words, changed_words

__all__ = ["EvidenceSource", "Words", "changed_words", "evidence_path", "render_evidence"]
