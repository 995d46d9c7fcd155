"""Evolving new problems from seeds with a strong model (EvoEval, section 2), for a person to accept."""

from triathlon_runner.evolved.evolve._pipeline import Job
from triathlon_runner.evolved.evolve._run import (
    TRANSFORMATIONS,
    Progress,
    Workspace,
    carry_out,
    choose_seeds,
    estimate,
    make_jobs,
    summary,
)
