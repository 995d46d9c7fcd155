"""The page for choosing a model: scores against price, size, date or measured cost."""

from triathlon_site.pages.choose._candidates import Candidate, Candidates, candidates
from triathlon_site.pages.choose._page import BOARDS, PATH, ChooseContext, drafts
from triathlon_site.pages.choose._questions import Question

__all__ = ["BOARDS", "PATH", "Candidate", "Candidates", "ChooseContext", "Question", "candidates", "drafts"]
