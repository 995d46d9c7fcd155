"""Schemas of the formats that results are exported in."""

import json
from pathlib import Path
from typing import Any

import pytest

from support.official_data import official_store


def every_eval_ever_schema(name: str) -> dict[str, Any]:
    """A JSON Schema of Every Eval Ever; the test is skipped where they are not here."""
    folder = official_store().folder
    path = folder.parent / "schemas" / "every_eval_ever" / f"{name}.schema.json" if folder else Path()
    if not path.is_file():
        pytest.skip(f"needs Every Eval Ever's schemas beside the official data: no {path}")
    found: dict[str, Any] = json.loads(path.read_text())
    return found
