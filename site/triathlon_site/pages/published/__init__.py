"""The pages of published results."""

from triathlon_site.pages.published._analyses import analyses, remarks
from triathlon_site.pages.published._page import drafts
from triathlon_site.pages.published._reproduced import reproduced_page

__all__ = ["analyses", "drafts", "remarks", "reproduced_page"]
