"""Evolving new problems from seeds with a strong model (EvoEval, section 2), for a person to review."""

from triathlon_runner.evolved.evolve._conversation import Conversation
from triathlon_runner.evolved.evolve._draft import read_problem
from triathlon_runner.evolved.evolve._files import History, Workspace, problem_text, summary
from triathlon_runner.evolved.evolve._inputs import mutate, mutated, read_inputs
from triathlon_runner.evolved.evolve._job import (
    TRANSFORMATIONS,
    Job,
    Transformation,
    make_jobs,
    parameter_types,
)
from triathlon_runner.evolved.evolve._mutants import Mutant, mutants
from triathlon_runner.evolved.evolve._pipeline import Evolved, evolve
from triathlon_runner.evolved.evolve._refine import DroppedError, Written
from triathlon_runner.evolved.evolve._review import (
    DECISIONS,
    apply_decisions,
    read_decisions,
    write_review,
)
from triathlon_runner.evolved.evolve._run import Evolver, Progress, cost, estimate, run

__all__ = [
    "DECISIONS",
    "TRANSFORMATIONS",
    "Conversation",
    "DroppedError",
    "Evolved",
    "Evolver",
    "History",
    "Job",
    "Mutant",
    "Progress",
    "Transformation",
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
    "read_inputs",
    "read_problem",
    "run",
    "summary",
    "write_review",
]
