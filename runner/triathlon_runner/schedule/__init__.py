"""What is open, in which order, how many at once; progress; interruption."""

from triathlon_runner.schedule._build import Wanted, build_plan, build_suite
from triathlon_runner.schedule._context import Summary
from triathlon_runner.schedule._log import JsonLog, logged_errors
from triathlon_runner.schedule._manifest import Conditions, differs
from triathlon_runner.schedule._missing import Missing, what_is_missing
from triathlon_runner.schedule._model_run import UNITS_PER_SLOT
from triathlon_runner.schedule._model_wrappers import ControlledModel, JudgeModel, OpenModel
from triathlon_runner.schedule._open import ModelOpener, why_not
from triathlon_runner.schedule._panel import ConsoleProgress
from triathlon_runner.schedule._plan import (
    BuiltSuite,
    Pace,
    RunPlan,
    Work,
    all_settings,
    at_temperature,
    choose,
    work_for,
)
from triathlon_runner.schedule._profiles import PROFILES, Profile, spread
from triathlon_runner.schedule._references import check_references
from triathlon_runner.schedule._run import STOP_SECONDS, Runner
from triathlon_runner.schedule._stop import CTRL_C, Account, Bounds, Control, deadline, span_seconds

__all__ = [
    "CTRL_C",
    "PROFILES",
    "STOP_SECONDS",
    "UNITS_PER_SLOT",
    "Account",
    "Bounds",
    "BuiltSuite",
    "Conditions",
    "ConsoleProgress",
    "Control",
    "ControlledModel",
    "JsonLog",
    "JudgeModel",
    "Missing",
    "ModelOpener",
    "OpenModel",
    "Pace",
    "Profile",
    "RunPlan",
    "Runner",
    "Summary",
    "Wanted",
    "Work",
    "all_settings",
    "at_temperature",
    "build_plan",
    "build_suite",
    "check_references",
    "choose",
    "deadline",
    "differs",
    "logged_errors",
    "span_seconds",
    "spread",
    "what_is_missing",
    "why_not",
    "work_for",
]
