"""Evolving new problems from seeds with a strong model (EvoEval, section 2), for a person to review."""

from triathlon_runner.evolved.evolve._files import History, Workspace, summary
from triathlon_runner.evolved.evolve._job import TRANSFORMATIONS, Job, make_jobs, parameter_types
from triathlon_runner.evolved.evolve._mutants import Mutant, mutants
from triathlon_runner.evolved.evolve._pipeline import Evolved, evolve
from triathlon_runner.evolved.evolve._refine import Written
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
    "Evolved",
    "Evolver",
    "History",
    "Job",
    "Mutant",
    "Progress",
    "Workspace",
    "Written",
    "apply_decisions",
    "cost",
    "estimate",
    "evolve",
    "make_jobs",
    "mutants",
    "parameter_types",
    "read_decisions",
    "run",
    "summary",
    "write_review",
]
