"""combine_naive: problems in sequence, B(A(x)), built by matching types."""

from triathlon_runner.evolved.naive._compose import composed
from triathlon_runner.evolved.naive._find import FoundPairs, NaivePair, draw, find_pairs
from triathlon_runner.evolved.naive._pairs import (
    CORE_PAIRS,
    HUMANEVAL_PAIRS,
    PairsFile,
    naive_problems,
    pairs_sha256,
    problem_hash,
    read_pairs,
    set_hash,
    to_json,
)

__all__ = [
    "CORE_PAIRS",
    "HUMANEVAL_PAIRS",
    "FoundPairs",
    "NaivePair",
    "PairsFile",
    "composed",
    "draw",
    "find_pairs",
    "naive_problems",
    "pairs_sha256",
    "problem_hash",
    "read_pairs",
    "set_hash",
    "to_json",
]
