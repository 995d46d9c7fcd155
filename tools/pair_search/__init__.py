"""Finds the pairs of problems that `evolved/combine_naive` and `evolved/core-combine_naive` are made of."""

from pair_search._file import CORE_PAIRS, HUMANEVAL_PAIRS, set_hash, to_json
from pair_search._find import FoundPairs, ProblemPair, draw, find_pairs
from pair_search._types import MIXED, common_type, fits, type_of

__all__ = [
    "CORE_PAIRS",
    "HUMANEVAL_PAIRS",
    "MIXED",
    "FoundPairs",
    "ProblemPair",
    "common_type",
    "draw",
    "find_pairs",
    "fits",
    "set_hash",
    "to_json",
    "type_of",
]
