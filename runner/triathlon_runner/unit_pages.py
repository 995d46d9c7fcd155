"""Addresses of the site that commands of the runner name, too: the page that lists every unit of a model."""

import hashlib
import re
from typing import Final
from urllib.parse import quote

SITE_FOLDER: Final = "_site"
"""Where `triathlon build` writes the site, unless it is told another folder."""
_PLAIN: Final = re.compile(r"[a-z0-9][a-z0-9._-]*")


def model_slug(model: str) -> str:
    """Returns a file name for any id of a model, even one that somebody else's results bring along.

    `<slug>-tasks` is the name of another page of the model, so no other model is called so.
    """
    if len(model) <= 100 and _PLAIN.fullmatch(model) and not model.endswith("-tasks"):
        return model
    plain = re.sub(r"[^a-z0-9]+", "-", model.lower()).strip("-")[:60]
    return f"{plain}-{hashlib.sha256(model.encode()).hexdigest()[:8]}".lstrip("-")


def units_page(model: str) -> str:
    """Returns the page that lists every unit of a model, from the site's root."""
    return f"models/{model_slug(model)}-tasks.html"


def unit_anchor(suite: str, task_id: str) -> str:
    """Returns the id of a task's first unit on that page, quoted as it stands in an address."""
    return quote(f"{suite}/{task_id}", safe="/")


def unit_address(site: str, model: str, suite: str, task_id: str) -> str:
    """Returns the address of a task on that page, below a folder or a web address."""
    return f"{site.rstrip('/')}/{units_page(model)}#{unit_anchor(suite, task_id)}"
