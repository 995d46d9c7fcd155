"""The page of the data files."""

from collections.abc import Mapping, Sequence

from triathlon_site.exports import DATA_SCHEMA, FORMATS
from triathlon_site.load import Archived, Notice
from triathlon_site.pages._page import Draft
from triathlon_site.scores import Board, Overall


def draft(
    boards: Sequence[Board],
    overalls: Mapping[str, Overall],
    notices: Sequence[Notice],
    archived: Sequence[Archived],
) -> Draft:
    """Where the files are, what their fields mean, and what was wrong in the results."""
    context = {
        "boards": boards,
        "overalls": overalls,
        "notices": notices,
        "archived": archived,
        "data_schema": DATA_SCHEMA,
        "formats": FORMATS,
    }
    return Draft("data.html", "data", context)
