"""The page of the data files: their addresses, the meaning of their fields, and faults in the results."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from triathlon_site.exchange import EXPORTS, Archive, Export
from triathlon_site.exports import DATA_SCHEMA, FORMATS, DataFormat
from triathlon_site.published import FactSources
from triathlon_site.render import Draft, PageContext


@dataclass(frozen=True)
class DataContext(PageContext):
    """The template's data for the page of the data files."""

    template: ClassVar[str] = "data/page"
    facts: FactSources | None
    """The sources of the models' facts; None without facts."""
    data_schema: int
    formats: Sequence[DataFormat]
    archives: Mapping[str, Archive]
    """The archives that the site offers, by name of their format."""
    exports: Mapping[str, Export]
    """Every format of `triathlon export`, by its name."""
    json_ld: Mapping[str, Any]
    """The page's data as a `Dataset` of schema.org."""


def draft(facts: FactSources | None, archives: Sequence[Archive], json_ld: Mapping[str, Any]) -> Draft:
    """The page of the data files, and the archives that it links."""
    context = DataContext(
        facts=facts,
        data_schema=DATA_SCHEMA,
        formats=FORMATS,
        archives={archive.form: archive for archive in archives},
        exports=EXPORTS,
        json_ld=json_ld,
    )
    return Draft("data.html", context, tuple(archive.page for archive in archives))
