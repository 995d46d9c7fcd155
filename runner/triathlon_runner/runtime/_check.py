"""Executing completed assertions, each in its program's own process."""

from collections.abc import Sequence

from triathlon_runner.runtime._sandboxed import source
from triathlon_runner.runtime._trace import Run
from triathlon_runner.sandbox import Call, Ended, Job, Limits, Returned, Sandbox, SandboxError


async def check_assertions(
    sandbox: Sandbox, program: str, asked: Sequence[tuple[Run, str]], libraries: frozenset[str]
) -> list[str]:
    """For each completed text what went wrong; empty where it holds. The program is loaded anew for each.

    Raises:
        SandboxError: the sandbox itself failed.
    """
    problems: list[str] = []
    while len(problems) < len(asked):
        rest = asked[len(problems) :]
        calls = tuple(Call("check", (program, run.plain(), completed)) for run, completed in rest)
        limits = Limits(cpu_seconds=4.0 + len(calls))
        execution = await sandbox.run(Job(source("assertion"), calls, limits=limits, libraries=libraries))
        if execution.ended is Ended.NOT_LOADED:
            raise SandboxError(f"the assertion runner could not be loaded: {execution.results}")
        for result in execution.results:
            if isinstance(result, Returned):
                problems.append(result.value if isinstance(result.value, str) else "not a verdict")
            else:
                problems.append(f"{result.type}: {result.message}")
        if len(execution.results) < len(rest):
            problems.append(f"{execution.ended.value}: {execution.detail}")
    return problems
