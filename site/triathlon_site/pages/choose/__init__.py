"""The page for choosing a model: scores against price, size, date or measured cost."""

from triathlon_site.pages.choose._candidates import Candidate, Candidates, candidates
from triathlon_site.pages.choose._page import PATH, ChooseContext, drafts

__all__ = ["PATH", "Candidate", "Candidates", "ChooseContext", "candidates", "drafts"]
