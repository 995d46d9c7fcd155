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
