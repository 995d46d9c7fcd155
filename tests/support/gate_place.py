"""A folder in which `triathlon gate` runs, with models of which it is known how many tasks they solve."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from support.small_run import SmallRun, served

SUITE = "evolved/core-seeds"
MODELS = "models:\n" + "".join(
    f'  - {{{{id: {name}, name: {name}, api: {{{{base_url: "{{url}}", model: {name}}}}},'
    " price: {{input: 1, output: 2}}}}\n"
    for name in ("good", "same", "worse", "half")
)


class GatePlace(SmallRun):
    """Compares models with `good`."""

    def gate(self, candidate: str, options: str = "", *, code: int, suites: str = SUITE) -> Any:
        """The JSON report of a gate."""
        return self.json(f"gate --baseline good --candidate {candidate} --suites {suites} {options}", code)


@contextmanager
def gate_place(root: Path) -> Iterator[GatePlace]:
    """A place of its own with a server of its own."""
    with served(root, "support.server_scripts:reference_unless_worse", MODELS):
        yield GatePlace(root)
