"""What is open, in which order, how many at once; progress; interruption."""

from triathlon_runner.schedule._checks import Missing, check_references, what_is_missing
from triathlon_runner.schedule._manifest import differs, kept_apart, stored_lines
from triathlon_runner.schedule._models import ModelOpener, OpenModel, why_not
from triathlon_runner.schedule._plan import (
    BuiltSuite,
    RunPlan,
    Wanted,
    Work,
    all_settings,
    at_temperature,
    build_plan,
    build_suite,
    choose,
    spread,
    work_for,
)
from triathlon_runner.schedule._progress import ConsoleProgress
from triathlon_runner.schedule._run import UNITS_PER_SLOT, Runner, Summary
from triathlon_runner.schedule._stop import CTRL_C, STOP_SECONDS, Account, Control, deadline, seconds
