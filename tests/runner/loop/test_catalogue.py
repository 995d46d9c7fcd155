"""The loop's suite on our own problems."""

from pathlib import Path

from triathlon_runner import loop
from triathlon_runner.datasets import DataStore


def test_core_needs_no_data() -> None:
    (entry,) = (entry for entry in loop.catalogue() if entry.id == "loop/core")
    suite = entry.build(DataStore(cache=Path("nowhere"), fetch=False))
    assert isinstance(suite, loop.LoopSuite) and suite.id == "loop/core"
    assert len(suite.tasks()) >= 20 and all(task.level for task in suite.tasks())
    assert all(problem.assertion.startswith("assert ") for problem in suite.problems)
