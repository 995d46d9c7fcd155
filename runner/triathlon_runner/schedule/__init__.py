"""What is open, in which order, how many at once; progress; interruption."""

from triathlon_runner.schedule._build import Wanted, build_plan, build_suite
from triathlon_runner.schedule._log import JsonLog
from triathlon_runner.schedule._manifest import Conditions, differs
from triathlon_runner.schedule._panel import ConsoleProgress
from triathlon_runner.schedule._plan import BuiltSuite, Plan, Work, work_for
from triathlon_runner.schedule._profiles import PROFILES, Profile, spread
from triathlon_runner.schedule._progress import Progress, Several
from triathlon_runner.schedule._reach import Reached, Reacher, RowModel, why_not
from triathlon_runner.schedule._run import Runner, Summary
from triathlon_runner.schedule._stop import Account, Bounds, deadline

__all__ = [
    "PROFILES",
    "Account",
    "Bounds",
    "BuiltSuite",
    "Conditions",
    "ConsoleProgress",
    "JsonLog",
    "Plan",
    "Profile",
    "Progress",
    "Reached",
    "Reacher",
    "RowModel",
    "Runner",
    "Several",
    "Summary",
    "Wanted",
    "Work",
    "build_plan",
    "build_suite",
    "deadline",
    "differs",
    "spread",
    "why_not",
    "work_for",
]
