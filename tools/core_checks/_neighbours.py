"""The nearest public problems of each of ours, and what a reviewer said who did not write them.

`make check-core WHAT="--neighbours DATA"` prints what is to be judged: every problem
without a verdict, or changed since, with its ten nearest neighbours out of the public files in DATA.
"""

import gzip
import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from math import log, sqrt
from pathlib import Path
from typing import Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from triathlon_runner.datasets.core import _load

RUN: Final = 8
"""Words in a row that no docstring may share with a public one."""
VERDICTS: Final = Path(__file__).with_name("neighbours.json")
PUBLIC: Final = ("HumanEval*", "Mbpp*", "EvoEval_*", "ClassEval_*", "mb*_release_*")
_TEXTS: Final = ("prompt", "description", "main", "skeleton", "helpers")
_NAMES: Final = ("task_id", "entry_point", "class_name")
_SAME_TASKS: Final = (
    "HumanEval:",
    "MbppPlus",
    "mbphp",
    "mbrbp",
    "mbjsp",
    "mbplp",
    "EvoEval_verbose",
    "EvoEval_concise",
)
"""Files whose tasks another file tells as well; ten neighbours are to be ten tasks."""
_RETOLD: Final = frozenset({"verbose", "concise", "tool_use-main_only"})
"""Sets that ask again what another set asks: its verdict is theirs."""


class Verdict(BaseModel):
    """What a reviewer said of one problem beside its nearest public neighbours."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    prompt: str
    """The first 16 hexadecimal digits of the SHA-256 of the prompt that was judged."""
    nearest: tuple[str, ...] = Field(min_length=10, max_length=10)
    """The neighbours that it was compared with, the nearest first."""
    verdict: Literal["original", "related"]
    """related: the same well-known operation as a neighbour, asked in another way; a problem that is a
    neighbour's task in other clothes is not kept."""
    note: str = ""


_STORED: Final = TypeAdapter(dict[str, Verdict])


def verdicts() -> dict[str, Verdict]:
    """The stored verdicts by task_id."""
    return _STORED.validate_json(VERDICTS.read_bytes()) if VERDICTS.exists() else {}


def digest(prompt: str) -> str:
    """What tells one wording of a problem from another."""
    return hashlib.sha256(prompt.encode()).hexdigest()[:16]


def judged_prompts() -> dict[str, str]:
    """The texts that need a verdict, by task_id: all but those that ask the same again."""
    told = [problem for name in _load.SETS if name not in _RETOLD for problem in _load.problems(name)]
    return {problem.task_id: problem.prompt for problem in told} | {
        shown.task_id: shown.reference for shown in _load.classes()
    }


def unjudged(ours: Mapping[str, str]) -> list[str]:
    """The task_ids whose present wording nobody has judged."""
    stored = verdicts()
    return [
        task_id
        for task_id, prompt in ours.items()
        if task_id not in stored or stored[task_id].prompt != digest(prompt)
    ]


def public_rows(folder: Path) -> dict[str, dict[str, Any]]:
    """The rows of the public data files in a folder, by file and name."""
    files = sorted(file for pattern in PUBLIC for file in folder.glob(f"{pattern}.gz"))
    rows: dict[str, dict[str, Any]] = {}
    for file in files:
        if "NoExtreme" in file.name or "Mini" in file.name:
            continue
        for row in _rows(file):
            name = "/".join(str(row[key]) for key in _NAMES if key in row)
            rows[f"{file.name.split('.')[0]}: {name}"] = row
    return rows


def public_texts(row: Mapping[str, Any]) -> list[str]:
    """The texts of one public row in which a task is told."""
    return [row[key] for key in _TEXTS if isinstance(row.get(key), str)]


def _rows(file: Path) -> list[dict[str, Any]]:
    with gzip.open(file, "rt", encoding="utf-8") as opened:
        text = opened.read()
    whole: list[dict[str, Any]] = (
        json.loads(text) if ".json." in file.name else [json.loads(line) for line in text.splitlines()]
    )
    return whole


def dossiers(data: Path) -> Iterator[dict[str, Any]]:
    """Every problem that waits for a verdict beside its ten nearest neighbours."""
    ours = judged_prompts()
    public = {
        name: "\n".join(public_texts(row))
        for name, row in public_rows(data).items()
        if not name.startswith(_SAME_TASKS)
    }
    waiting = {task_id: ours[task_id] for task_id in unjudged(ours)}
    for task_id, names in nearest(waiting, public).items():
        yield {
            "task_id": task_id,
            "digest": digest(ours[task_id]),
            "prompt": ours[task_id],
            "nearest": {name: public[name] for name in names},
        }


def words(text: str) -> list[str]:
    """The words of a text in small letters, its examples left out."""
    prose = "\n".join(line for line in text.splitlines() if not line.lstrip().startswith(">>>"))
    return re.findall(r"[a-z0-9]+(?:'[a-z]+)?", prose.lower())


def runs(text: str, length: int = RUN) -> set[tuple[str, ...]]:
    """All runs of so many words."""
    all_words = words(text)
    return {tuple(all_words[start : start + length]) for start in range(len(all_words) - length + 1)}


def shared_runs(text: str, texts: Iterable[str], length: int = RUN) -> set[str]:
    """The runs of words that a text has in common with any of the others."""
    runs_of_text = runs(text, length)
    return {" ".join(run) for public_text in texts for run in runs_of_text & runs(public_text, length)}


def _weights(texts: Mapping[str, str]) -> dict[str, dict[str, float]]:
    """Term frequency times inverse document frequency, each vector of length 1."""
    counts = {name: Counter(words(text)) for name, text in texts.items()}
    documents = Counter(word for count in counts.values() for word in count)
    vectors = {}
    for name, count in counts.items():
        vector = {word: number * log(len(texts) / documents[word]) for word, number in count.items()}
        size = sqrt(sum(weight * weight for weight in vector.values())) or 1.0
        vectors[name] = {word: weight / size for word, weight in vector.items()}
    return vectors


def nearest(ours: Mapping[str, str], public: Mapping[str, str], number: int = 10) -> dict[str, list[str]]:
    """For each of our texts the names of the nearest public ones, by the cosine of their word vectors."""
    vectors = _weights({**{f"ours {name}": text for name, text in ours.items()}, **public})
    names = {}
    for name in ours:
        weights = vectors[f"ours {name}"]
        closeness = {
            there: sum(weight * vectors[there].get(word, 0.0) for word, weight in weights.items())
            for there in public
        }
        names[name] = sorted(closeness, key=lambda there: (-closeness[there], there))[:number]
    return names
