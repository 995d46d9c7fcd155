"""What can be evolved, and how the seeds of each job are chosen."""

import ast
import hashlib
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, get_args

from triathlon_runner.datasets import FunctionProblem, Problem
from triathlon_runner.datasets.user import Transformation, with_inputs
from triathlon_runner.errors import UserError
from triathlon_runner.evolved.evolve._draft import functions_in
from triathlon_runner.terminal import shortened

TRANSFORMATIONS: Final[tuple[Transformation, ...]] = get_args(Transformation)
PRESERVING: Final = frozenset({"verbose", "concise"})
"""The meaning stays: reference and inputs are the seed's own."""

_NO_FUNCTION: Final = (
    "the prompt has no function with parameters to rewrite; write the problem in the format of HumanEval or"
    " EvalPlus"
)
_NO_INPUTS: Final = "the tests call it with no plain values to run the reference on; add them as base_input"


@dataclass(frozen=True, slots=True)
class Job:
    """One transformation of one seed, or for combine of two."""

    transformation: Transformation
    parents: tuple[Problem, ...]

    @property
    def id(self) -> str:
        """`difficult/core-seeds-fence-posts`: names the job's history and its problem."""
        return f"{self.transformation}/{'+'.join(_slug(parent.task_id) for parent in self.parents)}"


def choose_seeds(functions: Iterable[FunctionProblem]) -> tuple[list[Problem], list[str]]:
    """The problems that can be evolved, and a line for each reason why others cannot.

    Inputs come from the problem or from the calls in its tests.
    """
    seeds: list[Problem] = []
    left_out: dict[str, list[str]] = defaultdict(list)
    for problem in map(with_inputs, functions):
        if not parameter_types(problem):
            left_out[_NO_FUNCTION].append(problem.task_id)
        elif not problem.inputs:
            left_out[_NO_INPUTS].append(problem.task_id)
        else:
            seeds.append(problem)
    return seeds, [f"left out: {shortened(', '.join(ids), 200)}: {why}" for why, ids in left_out.items()]


def make_jobs(
    seeds: Sequence[Problem], transformations: Iterable[str], limit: int | None = None
) -> tuple[Job, ...]:
    """Every transformation of every seed, or of the first `limit` of them.

    Raises:
        UserError: an unknown transformation, or seeds of which no two can be combined.
    """
    jobs: list[Job] = []
    for name in transformations:
        if name not in TRANSFORMATIONS:
            raise UserError(f"unknown transformation {name!r}; there are {', '.join(TRANSFORMATIONS)}")
        families = _pairs(seeds) if name == "combine" else [(seed,) for seed in seeds]
        if name == "combine" and not families:
            raise UserError("combine needs two seeds whose parameters have the same types; there are none")
        jobs += [Job(name, family) for family in families[:limit]]
    return tuple(jobs)


def _pairs(seeds: Sequence[Problem]) -> list[tuple[Problem, ...]]:
    """Each seed with another one whose parameters have the same types, as EvoEval chooses what to combine."""
    groups: dict[tuple[str, ...], list[Problem]] = defaultdict(list)
    for seed in seeds:
        groups[parameter_types(seed)].append(seed)
    pairs: list[tuple[Problem, ...]] = []
    for seed in seeds:
        group = groups[parameter_types(seed)]
        if len(group) > 1:
            # The partner is drawn by hash: neighbours in a set are often alike.
            partners = (partner for partner in group if partner is not seed)
            pairs.append((seed, min(partners, key=lambda partner: _pair_hash(seed, partner))))
    unique = {frozenset(problem.task_id for problem in pair): pair for pair in pairs}
    return list(unique.values())


def parameter_types(problem: Problem) -> tuple[str, ...]:
    """The annotations of the parameters as text; empty where there is none."""
    for function in functions_in(problem.prompt):
        if function.name == problem.entry_point:
            return tuple(ast.unparse(arg.annotation) if arg.annotation else "" for arg in function.args.args)
    return ()


def _pair_hash(seed: Problem, partner: Problem) -> bytes:
    names = sorted((seed.task_id, partner.task_id))
    return hashlib.sha256("+".join(names).encode()).digest()


def _slug(task_id: str) -> str:
    return re.sub(r"[^A-Za-z0-9._-]+", "-", task_id).strip("-.") or "seed"
