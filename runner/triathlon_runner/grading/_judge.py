"""The one place where results become a verdict: each is compared as it comes, up to the first wrong one."""

from dataclasses import dataclass

from triathlon_runner.grading._text import shorten
from triathlon_runner.records import FailingCase, Outcome, Verdict
from triathlon_runner.sandbox import Ended, Execution, Job, Raised, Sandbox, Sent


@dataclass(frozen=True, slots=True)
class Fault:
    """Why a result is not the expected one."""

    outcome: Outcome
    got: str
    """The result, for a reader."""

    @classmethod
    def exception(cls, raised: Raised) -> "Fault":
        """That of a call which raised."""
        return cls(Outcome.CRASHED, _exception(raised))


class ExpectedResults:
    """What a program has to return on each input; subclasses say how results are compared."""

    def fault(self, index: int, result: Sent | Raised) -> Fault | None:
        """What is wrong with the result on this input; None where it is right, or `late_fault` will tell."""
        raise NotImplementedError

    async def late_fault(self) -> tuple[int, Fault] | None:
        """The first wrong result, with its index, among those that only all together can be compared."""
        return None

    def texts(self, index: int) -> tuple[str, str]:
        """This input and what it should give, for a reader."""
        raise NotImplementedError


async def judge_results(sandbox: Sandbox, job: Job, expected: ExpectedResults) -> Verdict:
    """Executes a job and compares its results, up to the first that is wrong.

    Raises:
        SandboxError: our machinery failed.
    """
    passed, fault = 0, None
    async with sandbox.stream(job) as results:
        async for index, result in results:
            fault = expected.fault(index, result)
            if fault is not None:
                break
            passed += 1
    late = await expected.late_fault()
    if late is not None:
        passed, fault = late
    return _verdict(results.execution, expected, passed, len(job.calls), fault)


def _verdict(
    execution: Execution, expected: ExpectedResults, passed: int, total: int, fault: Fault | None
) -> Verdict:
    if execution.ended is Ended.NOT_LOADED:
        (raised,) = execution.results
        assert isinstance(raised, Raised)
        return Verdict(outcome=Outcome.CRASHED, passed=0, total=total, detail=shorten(_exception(raised)))
    if fault is None and passed == total:
        return Verdict(outcome=Outcome.PASSED, passed=total, total=total, detail=shorten(execution.detail))
    if fault is None:
        timed_out = execution.ended is Ended.TIMED_OUT
        fault = Fault(Outcome.TIMED_OUT if timed_out else Outcome.CRASHED, execution.detail)
    given, wanted = expected.texts(passed)
    return Verdict(
        outcome=fault.outcome,
        passed=passed,
        total=total,
        failing=FailingCase(
            index=passed, input=shorten(given), expected=shorten(wanted), got=shorten(fault.got)
        ),
        detail=shorten(execution.detail or _printed(execution)),
    )


def _exception(raised: Raised) -> str:
    return f"{raised.type}: {raised.message}"


def _printed(execution: Execution) -> str:
    """The end of what a failing program printed, as evidence."""
    streams = (("stdout", execution.stdout), ("stderr", execution.stderr))
    return "; ".join(f"{name}: …{text[-200:]}" for name, text in streams if text.strip())
