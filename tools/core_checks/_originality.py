"""Runs of words that two texts share, and how near two texts are to each other."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from math import log, sqrt
from typing import Final

RUN: Final = 8
"""Words in a row that no docstring may share with a public one."""


def words(text: str) -> list[str]:
    """The words of a text in small letters, its examples left out."""
    prose = "\n".join(line for line in text.splitlines() if not line.lstrip().startswith(">>>"))
    return re.findall(r"[a-z0-9]+(?:'[a-z]+)?", prose.lower())


def runs(text: str, length: int = RUN) -> set[tuple[str, ...]]:
    """All runs of so many words."""
    found = words(text)
    return {tuple(found[start : start + length]) for start in range(len(found) - length + 1)}


def shared_runs(text: str, others: Iterable[str], length: int = RUN) -> set[str]:
    """The runs of words that a text has in common with any of the others."""
    own = runs(text, length)
    return {" ".join(run) for other in others for run in own & runs(other, length)}


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
    found = {}
    for name in ours:
        own = vectors[f"ours {name}"]
        closeness = {
            other: sum(weight * vectors[other].get(word, 0.0) for word, weight in own.items())
            for other in public
        }
        found[name] = sorted(closeness, key=lambda other: (-closeness[other], other))[:number]
    return found
