"""The page of the data files: their addresses, the meaning of their fields, and faults in the results."""

from collections.abc import Iterator

from triathlon_site.exchange import EXPORTS
from triathlon_site.exports import DATA_SCHEMA, core_files, data_formats
from triathlon_site.pages._site import Gathered
from triathlon_site.render import Draft, Page


def drafts(site: Gathered) -> Iterator[Draft | Page]:
    """The page of the data files, and the files that it alone links."""
    values = {
        "facts": site.published.fact_counts if site.published else None,
        "exports": EXPORTS,
        "formats": data_formats(),
        "data_schema": DATA_SCHEMA,
    }
    yield Draft("data.html", "data/page", values)
    yield from core_files(site.url)
