"""The page for choosing a model: scores against price, size, date or measured cost."""

from triathlon_site.pages.choose._candidates import Candidate, Candidates, candidates
from triathlon_site.pages.choose._page import BOARDS, PATH, ChooseContext, drafts

__all__ = ["BOARDS", "PATH", "Candidate", "Candidates", "ChooseContext", "candidates", "drafts"]
