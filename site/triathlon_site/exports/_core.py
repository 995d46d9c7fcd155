"""Our own problems as a file, and its description in Croissant, MLCommons' format for data sets."""

import hashlib
import json
from collections.abc import Iterator
from importlib.resources import files
from typing import Any, Final

from triathlon_runner.datasets import core
from triathlon_site.render import Page

LINES: Final = "data/core/problems.jsonl"
METADATA: Final = "data/core/croissant.json"
LICENCE: Final = "https://spdx.org/licenses/Apache-2.0.html"
PUBLISHED: Final = "2026-11-22"
"""Day of the card of version 0.1; with a new version comes a new day."""
_FILE: Final = "problems.jsonl"
_RECORDS: Final = "problems"
_FIELDS: Final = {
    "task_id": ("sc:Text", "Id of the problem: core/SET/NAME."),
    "set": ("sc:Text", "The set that it belongs to."),
    "entry_point": ("sc:Text", "Name of the function to write."),
    "level": ("sc:Integer", "From 1, one line, to 5, several interacting rules."),
    "topics": ("sc:Text", "What it is about, separated by commas."),
    "parents": ("sc:Text", "Ids of the problems that it was made from, separated by commas."),
    "prompt": ("sc:Text", "Signature and docstring, with two examples or more."),
    "inputs": ("sc:Integer", "How many inputs a solution is tried on."),
    "canary": ("sc:Text", "A text by which a training set that holds the problem is found."),
}
_DESCRIPTION: Final = (
    "Programming problems in Python, written by hand for Triathlon: functions to write from signature and"
    " docstring, on five levels. Here are the prompts, each with its canary; references and inputs are in the"
    " package triathlon-leaderboard. Keep out of training data."
)


def _context() -> Any:
    """The context of Croissant 1.0, as its specification has it (section "Namespaces")."""
    return json.loads(files("triathlon_site.exports").joinpath("croissant_context.json").read_text("utf-8"))


def core_files(url: str = "") -> Iterator[Page]:
    """Yields the prompts of our own problems as JSON lines, and their Croissant metadata.

    References and inputs stay in the package: whoever collects texts for training would take them along.
    `url`: where the site will be published, with a slash at its end; empty where that is not known.
    """
    lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in _rows())
    yield Page(LINES, lines)
    yield Page(METADATA, json.dumps(_metadata(lines, url), indent=1, ensure_ascii=False) + "\n")


def _rows() -> Iterator[dict[str, str | int]]:
    for name in core.SETS:
        for problem in core.problems(name):
            yield {
                "task_id": problem.task_id,
                "set": name,
                "entry_point": problem.entry_point,
                "level": problem.level or 0,
                "topics": ", ".join(problem.topics),
                "parents": ", ".join(problem.parents),
                "prompt": problem.prompt,
                "inputs": len(problem.inputs),
                "canary": core.CANARY,
            }


def _metadata(lines: str, url: str) -> dict[str, Any]:
    return {
        "@context": _context(),
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": "triathlon-core",
        "description": _DESCRIPTION,
        "license": LICENCE,
        "url": f"{url}core.html" if url else "../../core.html",
        "version": f"{core.VERSION}.0",
        "datePublished": PUBLISHED,
        "creator": {"@type": "sc:Organization", "name": "Triathlon"},
        "distribution": [
            {
                "@type": "cr:FileObject",
                "@id": _FILE,
                "name": _FILE,
                "description": "One JSON object a problem.",
                "contentUrl": f"{url}{LINES}" if url else _FILE,
                "encodingFormat": "application/jsonlines",
                "sha256": hashlib.sha256(lines.encode()).hexdigest(),
            }
        ],
        "recordSet": [
            {
                "@type": "cr:RecordSet",
                "@id": _RECORDS,
                "name": _RECORDS,
                "description": "The problems of all sets.",
                "key": {"@id": f"{_RECORDS}/task_id"},
                "field": [_field(name, kind, about) for name, (kind, about) in _FIELDS.items()],
            }
        ],
    }


def _field(name: str, kind: str, about: str) -> dict[str, Any]:
    return {
        "@type": "cr:Field",
        "@id": f"{_RECORDS}/{name}",
        "name": name,
        "description": about,
        "dataType": kind,
        "source": {"fileObject": {"@id": _FILE}, "extract": {"column": name}},
    }
