"""The texts of public problems, and runs of words that two texts share."""

import gzip
import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

RUN: Final = 8
"""Words in a row that no docstring may share with a public one."""
PUBLIC: Final = ("HumanEval*", "Mbpp*", "EvoEval_*", "ClassEval_*", "mb*_release_*")
_TEXTS: Final = ("prompt", "description", "main", "skeleton", "helpers")


def public_rows(folder: Path) -> list[dict[str, Any]]:
    """The rows of the public data files in a folder."""
    files = sorted(file for pattern in PUBLIC for file in folder.glob(f"{pattern}.gz"))
    rows: list[dict[str, Any]] = []
    for file in files:
        if "NoExtreme" not in file.name and "Mini" not in file.name:
            with gzip.open(file, "rt", encoding="utf-8") as opened:
                text = opened.read()
            rows += json.loads(text) if ".json." in file.name else map(json.loads, text.splitlines())
    return rows


def public_texts(row: Mapping[str, Any]) -> list[str]:
    """The texts of one public row in which a task is told."""
    return [row[key] for key in _TEXTS if isinstance(row.get(key), str)]


def shared_runs(text: str, texts: Iterable[str], length: int = RUN) -> set[str]:
    """The runs of words that a text has in common with any of the others."""
    runs_of_text = _runs(text, length)
    return {" ".join(run) for public_text in texts for run in runs_of_text & _runs(public_text, length)}


def _runs(text: str, length: int) -> set[tuple[str, ...]]:
    """All runs of so many words, in small letters, examples left out."""
    prose = "\n".join(line for line in text.splitlines() if not line.lstrip().startswith(">>>"))
    words = re.findall(r"[a-z0-9]+(?:'[a-z]+)?", prose.lower())
    return {tuple(words[start : start + length]) for start in range(len(words) - length + 1)}
