"""A folder in which `triathlon gate` runs, with models of which it is known how many tasks they solve."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from support.model_server import model_server_process
from support.small_run import SmallRun

MODELS = ("good", "same", "worse", "half")
SUITE = "evolved/core-seeds"


class GatePlace(SmallRun):
    """Compares models with `good`, and knows how many requests the server got."""

    def gate(self, candidate: str, options: str = "", *, code: int, suites: str = SUITE) -> Any:
        """The JSON report of a gate."""
        return self.json(f"gate --baseline good --candidate {candidate} --suites {suites} {options}", code)

    @property
    def requests(self) -> int:
        log = self.root / "requests.jsonl"
        return len(log.read_text().splitlines()) if log.exists() else 0


@contextmanager
def gate_place(root: Path) -> Iterator[GatePlace]:
    """A place of its own with a server of its own."""
    log = str(root / "requests.jsonl")
    with model_server_process("support.server_scripts:reference_unless_worse", "--log", log) as url:
        rows = (
            f'  - {{id: {model}, name: {model}, api: {{base_url: "{url}", model: {model}}},'
            " price: {input: 1, output: 2}}\n"
            for model in MODELS
        )
        (root / "models.yaml").write_text("models:\n" + "".join(rows))
        yield GatePlace(root)
