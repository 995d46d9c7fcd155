"""The page of the data files: their addresses, the meaning of their fields, and faults in the results."""

from collections.abc import Iterator
from typing import Any, Final

from triathlon_site.exchange import EXPORTS
from triathlon_site.exports import DATA_SCHEMA, core_files, data_formats
from triathlon_site.pages._site import Gathered
from triathlon_site.render import Draft, Page

_TYPES: Final = {
    "csv": "text/csv",
    "json": "application/json",
    "parquet": "application/vnd.apache.parquet",
}
_DESCRIPTION: Final = (
    "Scores of language models for code on the tasks of Triathlon, a leaderboard in three disciplines: loops"
    " of writing and summarising programs, questions about run-time behaviour, and evolved tasks. Every score"
    " has a 95 % interval and says whether its replies were asked for here or recorded by others."
)


def drafts(site: Gathered) -> Iterator[Draft | Page]:
    """The page of the data files, and the files that it alone links."""
    values = {
        "facts": site.published.fact_counts if site.published else None,
        "exports": EXPORTS,
        "json_ld": _dataset(site),
        "formats": data_formats(),
        "data_schema": DATA_SCHEMA,
    }
    yield Draft("data.html", "data/page", values)
    yield from core_files(site.url)


def _dataset(site: Gathered) -> dict[str, Any]:
    """The page's data as a `Dataset` of schema.org, in JSON-LD, so that searches for data sets find it.

    Where the site's address is not known, addresses are relative to the page.
    """
    scored = dict.fromkeys(model for board in site.boards for model in board.models)
    names = [*(f"overall-{family}" for family in site.overalls), *(board.plan.id for board in site.boards)]
    paths = [f"data/{name}.{suffix}" for name in names for suffix in ("csv", "json")]
    paths += ["data/scores.parquet"] if site.boards else []
    description: dict[str, Any] = {
        "@context": "https://schema.org/",
        "@type": "Dataset",
        "name": "Triathlon: scores of language models for code",
        "description": _DESCRIPTION,
        "url": f"{site.url}data.html",
        "version": site.version,
        "isAccessibleForFree": True,
        "creator": {"@type": "Organization", "name": "Triathlon"},
        "variableMeasured": [
            {
                "@type": "PropertyValue",
                "name": f"{plan.headline.title} ({plan.discipline}, {plan.title})",
                "description": plan.headline.source,
                "minValue": 0,
                "maxValue": plan.headline.maximum,
            }
            for plan in (board.plan for board in site.boards)
        ],
        "mentions": [{"@type": "SoftwareApplication", "name": site.models[model].name} for model in scored],
        "distribution": [
            {
                "@type": "DataDownload",
                "name": path.removeprefix("data/"),
                "encodingFormat": _TYPES[path.rpartition(".")[2]],
                "contentUrl": site.url + path,
            }
            for path in paths
        ],
    }
    return description | ({"dateModified": site.date} if site.date else {})
