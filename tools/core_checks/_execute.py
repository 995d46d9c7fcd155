"""Running many programs on one problem's inputs, in few sandboxed processes."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from triathlon_runner.sandbox import Call, Ended, Job, Limits, Raised, Returned, Sandbox

SECONDS_AN_INPUT: Final = 0.25
"""CPU time after which a call counts as endless."""
SECONDS_OF_A_REFERENCE: Final = 0.05
"""A reference must be so much quicker that no machine takes it for endless."""

_HARNESS: Final = """
import signal


class _Endless(BaseException):
    pass


def _stop(number, frame):
    raise _Endless


signal.signal(signal.SIGVTALRM, _stop)


def _call(function, text, namespace, seconds):
    try:
        signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
        value = function(*eval(text, namespace))
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        return ["value", value]
    except _Endless:
        return ["endless", ""]
    except Exception as error:
        return ["raised", type(error).__name__]
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)


def shown(source, expression):
    namespace = {"__name__": "program"}
    exec(compile(source, "program", "exec"), namespace)
    return repr(eval(expression, namespace))


def _first_failure():
    # A test result that stops at the first failure and names it, without the cost of a traceback.
    import unittest

    class FirstFailure(unittest.TestResult):
        failed = ""

        def addError(self, test, error):
            self.failed = f"{test}: {error[1]!r}"
            self.stop()

        addFailure = addError

    return FirstFailure()


def tested(source, test, seconds):
    import types, unittest

    module = types.ModuleType("program")
    result = _first_failure()
    try:
        exec(compile(source, "program", "exec"), module.__dict__)
        exec(compile(test, "test", "exec"), module.__dict__)
        suite = unittest.defaultTestLoader.loadTestsFromModule(module)
        signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
        suite.run(result)
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    except (_Endless, Exception) as error:
        return [["raised", type(error).__name__]]
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    return [["raised", result.failed] if result.failed else ["value", result.testsRun]]


def outcomes(source, entry, seconds):
    namespace = {"__name__": "program"}
    try:
        exec(compile(source, "program", "exec"), namespace)
        function = namespace[entry]
    except Exception as error:
        return [["raised", type(error).__name__]]
    seen = []
    for text in _INPUTS:
        seen.append(_call(function, text, dict(namespace), seconds))
        if seen[-1][0] == "endless":
            break
    return seen
"""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one input gave: a value, the name of an exception, or `endless`."""

    kind: str
    value: Any


DIED: Final = (Outcome("died", ""),)
"""What a program that takes the whole process down gave."""


def outcomes(source: str, entry_point: str, seconds: float = SECONDS_AN_INPUT) -> Call:
    """Calls a program with every input of the problem."""
    return Call("outcomes", (source, entry_point, seconds))


def tested(source: str, test: str, seconds: float = SECONDS_AN_INPUT) -> Call:
    """Runs a class's unittest tests; the outcome is how many of them ran, where all passed."""
    return Call("tested", (source, test, seconds))


def shown(source: str, expression: str) -> Call:
    """Evaluates an expression beside a program; the outcome is the value's `repr`."""
    return Call("shown", (source, expression))


def _read(result: Returned | Raised) -> tuple[Outcome, ...]:
    match result:
        case Returned(value=str() as text):
            return (Outcome("value", text),)
        case Returned(value=list() as pairs):
            return tuple(Outcome(kind, value) for kind, value in pairs)
        case Raised(type=name, message=message):
            return (Outcome("raised", f"{name}: {message}"),)
    return DIED


async def run_batch(
    sandbox: Sandbox, inputs: Sequence[str], questions: Sequence[Call]
) -> list[tuple[Outcome, ...]]:
    """What each question gave: a program one outcome an input, ending where it is endless.

    Raises:
        SandboxError: our machinery failed.
    """
    harness = f"_INPUTS = {list(inputs)!r}\n{_HARNESS}"
    gathered: list[tuple[Outcome, ...]] = []
    while len(gathered) < len(questions):
        calls = tuple(questions[len(gathered) :])
        limits = Limits(cpu_seconds=5.0 + len(calls) * 2 * SECONDS_AN_INPUT, wall_seconds=300.0)
        execution = await sandbox.run(Job(program=harness, calls=calls, limits=limits))
        gathered.extend(_read(result) for result in execution.results)
        if len(gathered) < len(questions) and execution.ended is not Ended.FINISHED:
            gathered.append(DIED)
    return gathered
