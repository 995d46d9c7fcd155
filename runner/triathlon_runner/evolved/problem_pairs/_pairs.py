"""Reads the lists of pairs. `tools/pair_search` writes them: the search takes minutes."""

import hashlib
from collections.abc import Sequence
from importlib.resources import files

from pydantic import BaseModel, ConfigDict

from triathlon_runner.datasets import Problem
from triathlon_runner.evolved.problem_pairs._compose import composed


class PairsFile(BaseModel):
    """`<name>.json` in this package."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    matching: int
    """Pairs whose types match."""
    executable: int
    """Of these, pairs that execute within their contracts; the file's pairs are drawn from them."""
    searched: str
    """Hash of the whole set that was searched: one more problem, and there are other pairs to draw from."""
    problems: dict[str, str]
    """Hash of each problem that a pair uses: pairs of a problem that has changed since are not taken."""
    pairs: list[tuple[str, str, list[int]]]
    """A, B, positions of A's base inputs that are left out."""


def problem_hash(problem: Problem) -> str:
    """Short hash of what a pair depends on."""
    parts = (problem.prompt, problem.reference, *problem.inputs[: problem.base_inputs])
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def read_pairs(name: str) -> PairsFile:
    """The pairs of `humaneval` or `core`."""
    return PairsFile.model_validate_json(_content(name))


def pairs_sha256(name: str, data_sha256: str) -> str:
    """Hash of a data set made of pairs: of the set that they were found in, and of their file."""
    return hashlib.sha256(data_sha256.encode() + _content(name)).hexdigest()


def pair_problems(name: str, problems: Sequence[Problem]) -> tuple[Problem, ...]:
    """The problems in sequence, made of those of a set.

    Args:
        name: `humaneval` or `core`.
        problems: the set that the pairs were found in.
    """
    known = read_pairs(name)
    current = {p.task_id: p for p in problems if known.problems.get(p.task_id) == problem_hash(p)}
    return tuple(
        composed(current[first], current[second], frozenset(dropped))
        for first, second, dropped in known.pairs
        if first in current and second in current
    )


def _content(name: str) -> bytes:
    return (files(__package__) / f"{name}.json").read_bytes()
