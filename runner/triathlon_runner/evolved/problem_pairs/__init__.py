"""EvoEval's combine_naive: two problems in sequence, B(A(x)), from lists of pairs whose types match."""

from triathlon_runner.evolved.problem_pairs._pairs import (
    composed,
    composed_reference,
    pair_problems,
    pairs_sha256,
    problem_hash,
    prompt_parts,
    read_pairs,
)

__all__ = [
    "composed",
    "composed_reference",
    "pair_problems",
    "pairs_sha256",
    "problem_hash",
    "prompt_parts",
    "read_pairs",
]
