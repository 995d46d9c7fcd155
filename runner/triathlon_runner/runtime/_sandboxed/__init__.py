"""Programs that run inside the sandbox: read as text here, never executed by the runner.

They use the standard library alone, as nothing else is installed in the sandbox. A program is sent as one
text, which contains the files that it imports from this folder.
"""

import functools
from collections.abc import Sequence
from importlib.resources import files
from typing import Final, Literal

from triathlon_runner.sandbox import (
    Call,
    Ended,
    Execution,
    Job,
    Limits,
    Raised,
    Returned,
    Sandbox,
    SandboxError,
)

_FILES: Final = {
    "tracer": ("literal", "programs", "select", "variables", "tracer"),
    "programs": ("literal", "programs"),
}
_LOADER: Final = """
import sys
from types import ModuleType

for _name, _text in {parts!r}:
    sys.modules[_name] = _module = ModuleType(_name)
    exec(compile(_text, _name, "exec", dont_inherit=True), _module.__dict__)
globals().update(_module.__dict__)
"""


@functools.cache
def _source(name: str) -> str:
    """The text of a program of this folder, complete."""
    folder = files(__name__)
    parts = [(f"{__name__}.{part}", (folder / f"{part}.py").read_text("utf-8")) for part in _FILES[name]]
    return _LOADER.format(parts=parts)


async def run_calls(
    sandbox: Sandbox,
    name: Literal["tracer", "programs"],
    calls: Sequence[Call],
    libraries: frozenset[str],
    *,
    cpu_seconds: tuple[float, float] = (4.0, 1.0),
    restart: bool = True,
) -> list[Returned | Raised | Execution]:
    """The result of each call of a program of this folder; of one that ended its child, the execution.

    A child gets `cpu_seconds`, the second number for each of its calls. Where a call ends its child, those
    behind it are made in another child; without `restart` they are not made.
    """
    results: list[Returned | Raised | Execution] = []
    while len(results) < len(calls):
        rest = tuple(calls[len(results) :])
        limits = Limits(cpu_seconds=cpu_seconds[0] + cpu_seconds[1] * len(rest))
        execution = await sandbox.run(Job(_source(name), rest, limits=limits, libraries=libraries))
        if execution.ended is Ended.NOT_LOADED:
            raise SandboxError(f"{name!r} could not be loaded: {execution.results} {execution.detail}")
        results += execution.results
        if len(execution.results) < len(rest):
            results.append(execution)
            if not restart:
                break
    return results
