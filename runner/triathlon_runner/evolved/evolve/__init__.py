"""Evolving new problems from seeds with a strong model (EvoEval, section 2), for a person to accept."""

from triathlon_runner.evolved.evolve._files import History, Workspace, summary
from triathlon_runner.evolved.evolve._job import TRANSFORMATIONS, Job, choose_seeds, make_jobs
from triathlon_runner.evolved.evolve._pipeline import evolve
from triathlon_runner.evolved.evolve._run import Evolver, Progress, cost, estimate, run

__all__ = [
    "TRANSFORMATIONS",
    "Evolver",
    "History",
    "Job",
    "Progress",
    "Workspace",
    "choose_seeds",
    "cost",
    "estimate",
    "evolve",
    "make_jobs",
    "run",
    "summary",
]
