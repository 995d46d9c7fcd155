"""The data page in the vocabulary of schema.org, so that searches for data sets find its files."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from triathlon_site.exchange import Archive
from triathlon_site.models import ModelInfo
from triathlon_site.scores import Board, Overall

_TYPES: Final = {
    "csv": "text/csv",
    "json": "application/json",
    "parquet": "application/vnd.apache.parquet",
    "zip": "application/zip",
}
_DESCRIPTION: Final = (
    "Scores of language models for code on the tasks of Triathlon, a leaderboard in three disciplines: loops"
    " of writing and summarising programs, questions about run-time behaviour, and evolved tasks. Every score"
    " has a 95 % interval and says whether its replies were asked for here or recorded by others."
)


def dataset(
    boards: Sequence[Board],
    overalls: Mapping[str, Overall],
    archives: Sequence[Archive],
    models: Mapping[str, ModelInfo],
    *,
    url: str,
    date: str,
    version: str,
) -> dict[str, Any]:
    """The page's data as a `Dataset` of schema.org, in JSON-LD.

    Args:
        boards: the boards whose files the page offers.
        overalls: the orders over all disciplines whose files it offers, by family of data.
        archives: the scores in other programs' formats.
        models: by id; those that have a score are named.
        url: where the site will be published, with a slash at its end; empty where that is not known:
            addresses are then relative to the page.
        date: of the newest result; empty where there is none.
        version: of the program that built the site.
    """
    scored = dict.fromkeys(model for board in boards for model in board.models)
    paths = [*_paths(boards, overalls), *(archive.page.path for archive in archives)]
    description: dict[str, Any] = {
        "@context": "https://schema.org/",
        "@type": "Dataset",
        "name": "Triathlon: scores of language models for code",
        "description": _DESCRIPTION,
        "url": f"{url}data.html",
        "version": version,
        "isAccessibleForFree": True,
        "creator": {"@type": "Organization", "name": "Triathlon"},
        "variableMeasured": [_variable(board) for board in boards],
        "mentions": [{"@type": "SoftwareApplication", "name": models[model].name} for model in scored],
        "distribution": [_download(path, url) for path in paths],
    }
    return description | ({"dateModified": date} if date else {})


def _paths(boards: Sequence[Board], overalls: Mapping[str, Overall]) -> Iterator[str]:
    for name in (*(f"overall-{family}" for family in overalls), *(board.plan.id for board in boards)):
        yield f"data/{name}.csv"
        yield f"data/{name}.json"
    if boards:
        yield "data/scores.parquet"


def _variable(board: Board) -> dict[str, Any]:
    column = board.plan.headline
    return {
        "@type": "PropertyValue",
        "name": f"{column.title} ({board.plan.discipline}, {board.plan.title})",
        "description": column.source,
        "minValue": 0,
        "maxValue": column.maximum,
    }


def _download(path: str, url: str) -> dict[str, str]:
    return {
        "@type": "DataDownload",
        "name": path.removeprefix("data/"),
        "encodingFormat": _TYPES[path.rpartition(".")[2]],
        "contentUrl": url + path,
    }
