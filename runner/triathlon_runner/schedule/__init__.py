"""What is open, in which order, how many at once; progress; interruption."""

from triathlon_runner.schedule._build import Wanted, build_plan, build_suite
from triathlon_runner.schedule._control import Control, ControlledModel, RunStoppedError
from triathlon_runner.schedule._judge import JudgeModel
from triathlon_runner.schedule._log import JsonLog, logged_errors
from triathlon_runner.schedule._manifest import Conditions, differs
from triathlon_runner.schedule._model_run import UNITS_PER_SLOT
from triathlon_runner.schedule._open import ModelOpener, OpenModel, why_not
from triathlon_runner.schedule._pace import Pace
from triathlon_runner.schedule._panel import ConsoleProgress
from triathlon_runner.schedule._plan import (
    ROW_SETTINGS,
    BuiltSuite,
    RunPlan,
    Work,
    choose,
    with_row_settings,
    work_for,
)
from triathlon_runner.schedule._profiles import PROFILES, Profile, spread
from triathlon_runner.schedule._progress import Progress, Several
from triathlon_runner.schedule._run import STOP_SECONDS, Runner
from triathlon_runner.schedule._stop import Account, Bounds, deadline, span_seconds
from triathlon_runner.schedule._summary import Summary

__all__ = [
    "PROFILES",
    "ROW_SETTINGS",
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
    "ModelOpener",
    "OpenModel",
    "Pace",
    "Profile",
    "Progress",
    "RunPlan",
    "RunStoppedError",
    "Runner",
    "Several",
    "Summary",
    "Wanted",
    "Work",
    "build_plan",
    "build_suite",
    "choose",
    "deadline",
    "differs",
    "logged_errors",
    "span_seconds",
    "spread",
    "why_not",
    "with_row_settings",
    "work_for",
]
