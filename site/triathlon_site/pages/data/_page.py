"""The page of the data files: where they are, what their fields mean, and what was wrong in the results."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from triathlon_site.exports import DATA_SCHEMA, FORMATS, DataFormat
from triathlon_site.load import Archived, Notice
from triathlon_site.render import Draft, PageContext
from triathlon_site.scores import Board, Overall


@dataclass(frozen=True)
class DataContext(PageContext):
    """What the page of the data files shows."""

    template: ClassVar[str] = "data/page"
    boards: Sequence[Board]
    overalls: Mapping[str, Overall]
    notices: Sequence[Notice]
    archived: Sequence[Archived]
    """Results of an earlier protocol, put aside."""
    data_schema: int
    formats: Sequence[DataFormat]


def draft(
    boards: Sequence[Board],
    overalls: Mapping[str, Overall],
    notices: Sequence[Notice],
    archived: Sequence[Archived],
) -> Draft:
    """The page of the data files."""
    return Draft("data.html", DataContext(boards, overalls, notices, archived, DATA_SCHEMA, FORMATS))
