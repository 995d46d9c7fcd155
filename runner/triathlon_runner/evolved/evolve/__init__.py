"""Evolving new problems from seeds with a strong model (EvoEval, section 2), for a person to accept."""

from triathlon_runner.evolved.evolve._job import TRANSFORMATIONS, Job, choose_seeds, make_jobs
from triathlon_runner.evolved.evolve._run import Evolver, History, Progress, Workspace, estimate, summary

__all__ = [
    "TRANSFORMATIONS",
    "Evolver",
    "History",
    "Job",
    "Progress",
    "Workspace",
    "choose_seeds",
    "estimate",
    "make_jobs",
    "summary",
]
