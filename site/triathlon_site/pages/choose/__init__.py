"""The page for choosing a model: scores against price, size, date or measured cost."""

from triathlon_site.pages.choose._page import PATH, ChooseContext, drafts
from triathlon_site.pages.choose._questions import Question
from triathlon_site.pages.choose._scores import Candidate, Candidates, candidates

__all__ = ["PATH", "Candidate", "Candidates", "ChooseContext", "Question", "candidates", "drafts"]
