"""Addresses of the site's pages of a model's units, from the site's root."""

import hashlib
import re
from typing import Final
from urllib.parse import quote

_PLAIN: Final = re.compile(r"[a-z0-9][a-z0-9._-]*")


def model_slug(model: str) -> str:
    """Returns a file name for any id of a model, even one that somebody else's results bring along.

    `<slug>-tasks` is the name of another page of the model, so no other model is called so.
    """
    if len(model) <= 100 and _PLAIN.fullmatch(model) and not model.endswith("-tasks"):
        return model
    plain = re.sub(r"[^a-z0-9]+", "-", model.lower()).strip("-")[:60]
    return f"{plain}-{hashlib.sha256(model.encode()).hexdigest()[:8]}".lstrip("-")


def suite_slug(suite: str) -> str:
    """Returns the suite's id as a part of a file's name, in lower case; no two suites have the same.

    `loop/core` is `loop-core`. An id that differs from its name in more than the slash gets a hash, so that
    `runtime/Mine` and `runtime/mine` are two files on a disk that does not tell upper from lower case.
    """
    name = re.sub(r"[^a-z0-9.+_-]", "-", suite.lower())
    plain = name == suite.replace("/", "-")
    return name if plain else f"{name}-{hashlib.sha256(suite.encode()).hexdigest()[:6]}"


def evidence_page(slug: str, suite: str) -> str:
    """Returns the page of a model's units of one suite, from the site's root; `slug` is the model's."""
    return f"evidence/{slug}/{suite_slug(suite)}.html"


def lines_page(slug: str, suite: str) -> str:
    """Returns where the packed lines of a results file can be downloaded, from the site's root."""
    return f"data/runs/{slug}/{suite_slug(suite)}.jsonl.gz"


def units_page(model: str) -> str:
    """Returns the page that lists every unit of a model, from the site's root."""
    return f"models/{model_slug(model)}-tasks.html"


def unit_anchor(task_id: str, sample: int = 0) -> str:
    """Returns the anchor of a unit on that page: its task, quoted, and `@2` for the second sample."""
    return quote(task_id, safe="/") + (f"@{sample + 1}" if sample else "")
