"""The verdict that a log has of a unit, beside ours."""

from triathlon_runner.grading import Comparison, base_outcome
from triathlon_runner.imports._foreign import Foreign, ForeignAnswers, ForeignLoop
from triathlon_runner.records import EvolvedRecord, LoopRecord, Outcome, UnitRecord
from triathlon_runner.schedule import Work
from triathlon_runner.suites import Programs
from triathlon_runner.terminal import counted


def compare(unit: Foreign, work: Work, outcome: Outcome, record: UnitRecord | None) -> Comparison | None:
    """Returns both verdicts on a unit, on the same inputs; None where the log has none.

    Args:
        unit: Of the log.
        work: Its suite.
        outcome: Ours.
        record: Ours, where the unit was graded as one of a run.
    """
    if isinstance(unit, ForeignLoop):
        if unit.sustained_loops is None or not isinstance(record, LoopRecord):
            return None
        theirs, ours = unit.sustained_loops, record.sustained_loops
        return Comparison(counted(theirs, "loop"), counted(ours, "loop"), theirs == ours)
    if isinstance(unit, ForeignAnswers):
        return None
    passed, suite, ours_there = unit.theirs.base, work.built.suite, str(outcome)
    if isinstance(suite, Programs) and suite.inputs == "all":
        if unit.theirs.plus is not None:
            passed = unit.theirs.plus
        elif isinstance(record, EvolvedRecord) and record.verdict is not None:
            problem = next(problem for problem in suite.functions() if problem.task_id == unit.task_id)
            ours_there = base_outcome(record.verdict, problem)
    return None if passed is None else Comparison.of(ours_there, passed=passed)
