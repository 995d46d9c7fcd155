"""How far a gate asks ahead, and when it stops a run."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import cast

from support.fake_suite import FakeSuite, entry_of
from support.hashes import hashes
from triathlon_runner.gate import AHEAD, Cluster, Comparison, GatePace
from triathlon_runner.metrics import Contribution, Metric
from triathlon_runner.records import Outcome, UnitRecord
from triathlon_runner.schedule import Control, RunPlan, Work
from triathlon_runner.suites import SuiteEntry

SUITE = "evolved/fake"
COUNT = 60


def _passed(records: Sequence[UnitRecord]) -> list[Contribution]:
    return [Contribution(record.task_id, record.outcome is Outcome.PASSED, 1) for record in records]


def work_of(model: str, entry: SuiteEntry, served: Sequence[str]) -> Work:
    row = SimpleNamespace(id=model, serve="vllm" if model in served else None)
    return cast(Work, SimpleNamespace(row=row, suite_id=SUITE, built=SimpleNamespace(entry=entry)))


class Gate:
    """A pace over single tasks of the models a and b."""

    def __init__(self, *served: str) -> None:
        clusters = [Cluster(f"{number}", ((SUITE, f"{number}"),)) for number in range(COUNT)]
        self.comparison = Comparison(clusters, clusters, ("a", "b"))
        self.control = Control()
        metric = Metric("pass@1", "pass@1", "a test", _passed, role="headline")
        entry = replace(entry_of(FakeSuite(SUITE)), metrics=(metric,))
        plan = RunPlan({model: [work_of(model, entry, served)] for model in ("a", "b")})
        self.pace = GatePace(self.comparison, plan, self.control)

    def finish(self, model: str, number: int, outcome: Outcome = Outcome.PASSED) -> None:
        record = UnitRecord(
            suite=SUITE, model=model, task_id=f"{number}", sample=0, protocol=hashes("p"), outcome=outcome
        )
        self.pace.finished(model, SUITE, (f"{number}", 0), record)

    def wait(self, model: str) -> list[asyncio.Task[None]]:
        """A task for each unit, which is done once that may be asked."""
        ready = self.pace.ready
        return [asyncio.create_task(ready(model, SUITE, (f"{number}", 0))) for number in range(COUNT)]


async def begun(tasks: list[asyncio.Task[None]]) -> int:
    """How many may begin, once everything that can go on has gone on."""
    for _ in range(5):
        await asyncio.sleep(0)
    return sum(task.done() for task in tasks)


async def end(*waiting: list[asyncio.Task[None]]) -> None:
    for task in (task for tasks in waiting for task in tasks):
        task.cancel()
    await asyncio.gather(*(task for tasks in waiting for task in tasks), return_exceptions=True)


async def test_neither_model_is_asked_far_ahead() -> None:
    """Only the next clusters are asked; each that both have finished lets one more begin."""
    gate = Gate()
    first, second = gate.wait("a"), gate.wait("b")
    assert await begun(first) == await begun(second) == AHEAD
    for number in range(3):
        gate.finish("a", number)
    assert await begun(first) == AHEAD
    for number in range(3):
        gate.finish("b", number)
    assert await begun(first) == await begun(second) == AHEAD + 3
    await end(first, second)


async def test_a_served_model_does_not_wait_for_one_that_waits_for_its_place() -> None:
    """Where both do not fit on the machine, the first is asked all, and the second only what it takes."""
    gate = Gate("a", "b")
    first = gate.wait("a")
    assert await begun(first) == COUNT
    for number in range(COUNT):
        gate.finish("a", number)
    gate.pace.ended("a")
    assert not gate.control.stopped
    second = gate.wait("b")
    assert await begun(second) == AHEAD
    await end(second)


async def test_the_run_stops_with_the_verdict() -> None:
    """Once the test is decided nothing more begins, and what waits for its turn goes on to see that."""
    gate = Gate()
    first, second = gate.wait("a"), gate.wait("b")
    for number in range(COUNT):
        if not gate.control.stopped:
            gate.finish("a", number)
            gate.finish("b", number, Outcome.FAILED)
    assert gate.comparison.verdict == "worse" and gate.comparison.tasks < COUNT
    assert await begun(first) == await begun(second) == COUNT, "none of them waits any longer"
    assert not gate.control.may_send()


async def test_the_run_stops_where_one_model_ends_early() -> None:
    """Answers of the other one would have no pair."""
    gate = Gate()
    gate.finish("a", 0)
    gate.pace.ended("a")
    assert gate.control.stopped and "a is not asked any more" in gate.control.stopped


async def test_what_a_stop_interrupts_is_no_failure() -> None:
    """A unit that stays open because the run stops does not take its cluster out of the comparison."""
    gate = Gate()
    gate.control.stop("Ctrl-C")
    gate.pace.finished("a", SUITE, ("0", 0), None)
    gate.finish("b", 0)
    assert gate.comparison.left_out == 0
