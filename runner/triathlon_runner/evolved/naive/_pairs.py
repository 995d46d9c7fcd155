"""The pairs that were found, kept as data: the search takes minutes, and no run should depend on it."""

import hashlib
import json
from collections.abc import Iterable, Sequence
from importlib.resources import files
from typing import Final

from pydantic import BaseModel, ConfigDict

from triathlon_runner.datasets import Problem
from triathlon_runner.evolved.naive._compose import composed
from triathlon_runner.evolved.naive._find import FoundPairs, NaivePair

HUMANEVAL_PAIRS: Final = 1074
"""As many as the paper has (EvoEval, table 2), drawn from all that match and execute."""
CORE_PAIRS: Final = 100
"""As many as the other evolved sets of EvoEval have problems."""


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


def set_hash(problems: Iterable[Problem]) -> str:
    """Short hash of a set, whatever its order."""
    lines = sorted(f"{problem.task_id} {problem_hash(problem)}" for problem in problems)
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]


def to_json(found: FoundPairs, drawn: Sequence[NaivePair], problems: Sequence[Problem]) -> str:
    """The text of a pairs file, one pair a line."""
    used = {name for pair in drawn for name in (pair.first, pair.second)}
    hashes = {problem.task_id: problem_hash(problem) for problem in problems if problem.task_id in used}
    lines = ",\n".join(json.dumps([pair.first, pair.second, list(pair.dropped)]) for pair in drawn)
    return (
        f'{{"matching": {found.matching},\n"executable": {len(found.pairs)},\n'
        f'"searched": "{set_hash(problems)}",\n'
        f'"problems": {json.dumps(hashes, indent=0)},\n"pairs": [\n{lines}\n]}}\n'
    )


def read_pairs(name: str) -> PairsFile:
    """The pairs of `humaneval` or `core`."""
    return PairsFile.model_validate_json((files(__package__) / f"{name}.json").read_bytes())


def pairs_sha256(name: str, data_sha256: str) -> str:
    """Hash of a data set made of pairs: of the set that they were found in, and of their file."""
    content = (files(__package__) / f"{name}.json").read_bytes()
    return hashlib.sha256(data_sha256.encode() + content).hexdigest()


def naive_problems(name: str, problems: Sequence[Problem]) -> tuple[Problem, ...]:
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
