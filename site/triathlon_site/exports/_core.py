"""Our own problems as a file, and its description in Croissant, MLCommons' format for data sets."""

import hashlib
import json
from collections.abc import Iterator
from importlib.resources import files
from typing import Any, Final

from triathlon_runner.datasets import core
from triathlon_site.render import Page

LINES: Final = "data/core/problems.jsonl"


def core_files(url: str = "") -> Iterator[Page]:
    """Yields the prompts of our own problems as JSON lines, and their Croissant metadata.

    References and inputs stay in the package: whoever collects texts for training would take them along.
    `url`: where the site will be published, with a slash at its end; empty where that is not known.
    """
    lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in _rows())
    yield Page(LINES, lines)
    metadata = _metadata(lines, url)
    yield Page("data/core/croissant.json", json.dumps(metadata, indent=1, ensure_ascii=False) + "\n")


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
    """`croissant.json` beside this file, with what depends on the problems and the address filled in.

    There, `datePublished` is the day of the version's card; a new version needs a new day.
    """
    text = files("triathlon_site.exports").joinpath("croissant.json").read_text("utf-8")
    metadata: dict[str, Any] = json.loads(text)
    (file,) = metadata["distribution"]
    metadata["version"] = f"{core.VERSION}.0"
    file["sha256"] = hashlib.sha256(lines.encode()).hexdigest()
    if url:
        metadata["url"] = f"{url}core.html"
        file["contentUrl"] = f"{url}{LINES}"
    return metadata
