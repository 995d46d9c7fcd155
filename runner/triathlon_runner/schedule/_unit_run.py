"""Runs one unit: its line is written, or it stays open with the reason."""

import logging

from triathlon_runner.endpoints import Model, ModelUnavailableError
from triathlon_runner.errors import InfrastructureError, UserError, leaves
from triathlon_runner.records import UnitRecord
from triathlon_runner.schedule._control import RunStoppedError
from triathlon_runner.schedule._models import UnitModel
from triathlon_runner.schedule._suite_run import SuiteRun
from triathlon_runner.serving import ServerLostError
from triathlon_runner.store import Unit

_ENDS_THE_MODEL = (ModelUnavailableError, ServerLostError, UserError)
_REASON_CHARACTERS = 200
_LOG = logging.getLogger(__name__)


async def run_unit(
    suite: SuiteRun, unit: Unit, model: Model, broken: set[tuple[str, Unit]]
) -> UnitRecord | None:
    """Runs one unit and appends its line; one that failed because of this program or the server stays open.

    Args:
        suite: Where the unit belongs.
        unit: Its task and sample.
        model: Is asked.
        broken: Gets the unit, with its suite, where an error in this program stopped it.

    Returns:
        What was appended; None where the unit stays open.

    Raises:
        ModelUnavailableError: the model cannot go on; likewise ServerLostError.
        UserError: a file cannot be written.
    """
    context = suite.context
    asked = UnitModel(model)
    try:
        record = await suite.work.run(*unit, asked, context.grader)
        suite.file.append(record)
    except Exception as error:
        _leave_open(suite, unit, error, broken)
        return None
    context.summary.finished += 1
    context.progress.finished(record, from_earlier_run=not asked.server_answered)
    return record


def _leave_open(suite: SuiteRun, unit: Unit, error: Exception, broken: set[tuple[str, Unit]]) -> None:
    """Notes why a unit stays open: the infrastructure or this program failed, not the model."""
    causes = list(leaves(error))
    final = next((cause for cause in causes if isinstance(cause, _ENDS_THE_MODEL)), None)
    if final is not None:
        if not isinstance(final, UserError):
            suite.failures[str(final)] += 1
        raise final
    unknown = next((cause for cause in causes if not isinstance(cause, InfrastructureError)), None)
    if unknown is None and any(isinstance(cause, RunStoppedError) for cause in causes):
        return
    reason = str(causes[0])
    if unknown is not None:
        reason = _in_a_line(unknown)
        broken.add((suite.suite, unit))
        _LOG.error("%s %s %s, sample %d", suite.model, suite.suite, *unit, exc_info=error)
    suite.failures[reason] += 1
    suite.context.progress.failed(suite.model, suite.suite, reason)


def _in_a_line(error: BaseException) -> str:
    """An unexpected exception as one short, printable line: it may quote what a model wrote."""
    text = ascii(f"{type(error).__name__}: {error}")[1:-1]
    return text if len(text) <= _REASON_CHARACTERS else f"{text[:_REASON_CHARACTERS]}…"
