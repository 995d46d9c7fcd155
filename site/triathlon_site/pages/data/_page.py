"""The page of the data files: where they are, what their fields mean, and what was wrong in the results."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from triathlon_site.exports import DATA_SCHEMA, FORMATS, DataFormat
from triathlon_site.load import Archived, Notice
from triathlon_site.published import FactSources
from triathlon_site.recordings import Recordings
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
    recordings: Recordings
    facts: FactSources | None
    """What the facts of models rest on; None where there are none."""
    data_schema: int
    formats: Sequence[DataFormat]


def draft(
    boards: Sequence[Board],
    overalls: Mapping[str, Overall],
    notices: Sequence[Notice],
    archived: Sequence[Archived],
    recordings: Recordings,
    facts: FactSources | None = None,
) -> Draft:
    """The page of the data files.

    Args:
        boards: all boards.
        overalls: the orders over all disciplines.
        notices: what was wrong in the results.
        archived: results that were put aside.
        recordings: the sources of recorded results.
        facts: what the facts of models rest on.
    """
    context = DataContext(boards, overalls, notices, archived, recordings, facts, DATA_SCHEMA, FORMATS)
    return Draft("data.html", context)
