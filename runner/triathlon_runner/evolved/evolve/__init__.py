"""Evolving new problems from seeds with a strong model (EvoEval, section 2), for a person to review."""

from triathlon_runner.evolved.evolve._conversation import Conversation
from triathlon_runner.evolved.evolve._draft import Draft, UnusableReplyError, read_halves, read_problem
from triathlon_runner.evolved.evolve._files import Workspace, problem_text, summary
from triathlon_runner.evolved.evolve._history import History, Step
from triathlon_runner.evolved.evolve._inputs import mutate, mutated, read_inputs
from triathlon_runner.evolved.evolve._job import (
    PRESERVING,
    TRANSFORMATIONS,
    Job,
    Transformation,
    make_jobs,
    parameter_types,
)
from triathlon_runner.evolved.evolve._mutants import Mutant, mutants
from triathlon_runner.evolved.evolve._pipeline import Evolved, evolve
from triathlon_runner.evolved.evolve._refine import DroppedError, Written, refine
from triathlon_runner.evolved.evolve._review import (
    DECISIONS,
    Applied,
    Decision,
    apply_decisions,
    read_decisions,
    write_review,
)
from triathlon_runner.evolved.evolve._run import Estimate, Evolver, Progress, cost, estimate, run

__all__ = [
    "DECISIONS",
    "PRESERVING",
    "TRANSFORMATIONS",
    "Applied",
    "Conversation",
    "Decision",
    "Draft",
    "DroppedError",
    "Estimate",
    "Evolved",
    "Evolver",
    "History",
    "Job",
    "Mutant",
    "Progress",
    "Step",
    "Transformation",
    "UnusableReplyError",
    "Workspace",
    "Written",
    "apply_decisions",
    "cost",
    "estimate",
    "evolve",
    "make_jobs",
    "mutants",
    "mutate",
    "mutated",
    "parameter_types",
    "problem_text",
    "read_decisions",
    "read_halves",
    "read_inputs",
    "read_problem",
    "refine",
    "run",
    "summary",
    "write_review",
]
