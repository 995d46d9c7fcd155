"""The page that a host of static pages shows for an address that leads nowhere."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from triathlon_site.pages._site import Gathered
from triathlon_site.render import MISSING, Draft, PageContext


@dataclass(frozen=True)
class MissingContext(PageContext):
    """The template needs nothing of its own."""

    template: ClassVar[str] = "missing/page"


def drafts(_site: Gathered) -> Iterator[Draft]:
    """The page; addresses of evidence as earlier builds had them lead on from it."""
    yield Draft(MISSING, MissingContext())
