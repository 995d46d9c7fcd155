"""The text of a pairs file, which `triathlon_runner.evolved.problem_pairs` reads."""

import hashlib
import json
from collections.abc import Iterable, Sequence
from typing import Final

from pair_search._find import FoundPairs, ProblemPair
from triathlon_runner.datasets import Problem
from triathlon_runner.evolved.problem_pairs import problem_hash

HUMANEVAL_PAIRS: Final = 1074
"""As many as the paper has (EvoEval, table 2), drawn from all that match and execute."""
CORE_PAIRS: Final = 100
"""As many as the other evolved sets of EvoEval have problems."""


def set_hash(problems: Iterable[Problem]) -> str:
    """Short hash of a set, whatever its order."""
    lines = sorted(f"{problem.task_id} {problem_hash(problem)}" for problem in problems)
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]


def to_json(pairs: FoundPairs, drawn: Sequence[ProblemPair], problems: Sequence[Problem]) -> str:
    """The text of a pairs file, one pair a line."""
    used = {name for pair in drawn for name in (pair.first, pair.second)}
    hashes = {problem.task_id: problem_hash(problem) for problem in problems if problem.task_id in used}
    lines = ",\n".join(json.dumps([pair.first, pair.second, list(pair.dropped)]) for pair in drawn)
    return (
        f'{{"matching": {pairs.matching},\n"executable": {len(pairs.pairs)},\n'
        f'"searched": "{set_hash(problems)}",\n'
        f'"problems": {json.dumps(hashes, indent=0)},\n"pairs": [\n{lines}\n]}}\n'
    )
