"""What is open, in which order, how many at once; progress; interruption."""

from triathlon_runner.schedule._build import build_plan
from triathlon_runner.schedule._manifest import Conditions
from triathlon_runner.schedule._plan import Plan, Work
from triathlon_runner.schedule._profiles import PROFILES, Profile, spread
from triathlon_runner.schedule._progress import ConsoleProgress, Progress
from triathlon_runner.schedule._reach import Reached, Reacher, RowModel, why_not
from triathlon_runner.schedule._run import Runner, Summary

__all__ = [
    "PROFILES",
    "Conditions",
    "ConsoleProgress",
    "Plan",
    "Profile",
    "Progress",
    "Reached",
    "Reacher",
    "RowModel",
    "Runner",
    "Summary",
    "Work",
    "build_plan",
    "spread",
    "why_not",
]
