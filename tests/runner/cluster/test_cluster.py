"""Grading on a real Ray cluster of two nodes on this machine: the same results, also when a node is lost."""

import asyncio
import importlib
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from triathlon_runner.cluster import ClusterError, open_cluster
from triathlon_runner.datasets import Problem, core
from triathlon_runner.errors import UserError
from triathlon_runner.grading import Grader, ProgramGrader
from triathlon_runner.records import Verdict
from triathlon_runner.sandbox import (
    Call,
    Ended,
    Execution,
    Job,
    Raised,
    Returned,
    Sandbox,
    SandboxError,
    Sent,
    open_sandbox,
)

pytest.importorskip("ray", reason="needs Ray: pip install -e '.[ray]'")
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]

PROBLEMS = core.problems("seeds")[:6]
TIMES = 20
"""How often each program is graded where a node is killed: work enough for the kill to fall into it."""


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """A head without CPUs, as large clusters keep it, and two nodes; who takes one away brings another."""
    cluster_utils = importlib.import_module("ray.cluster_utils")
    made = cluster_utils.Cluster(
        initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False}
    )
    made.add_node(num_cpus=1)
    made.add_node(num_cpus=1)
    yield made
    made.shutdown()


def programs() -> list[tuple[str, Problem]]:
    """Right, wrong, crashing, endless and empty ones."""
    found = []
    for problem in PROBLEMS:
        head = f"def {problem.entry_point}(*arguments):\n    "
        bodies = ("return 'wrong'", "raise ValueError('x')", "import os; os._exit(3)")
        found += [(problem.reference, problem), *((head + body, problem) for body in bodies), ("", problem)]
    return found


async def verdicts(grader: Grader) -> list[Verdict]:
    return await asyncio.gather(*(grader.grade(program, problem) for program, problem in programs()))


async def local(keys: Path) -> list[Verdict]:
    async with open_sandbox(jobs=2) as sandbox:
        return await verdicts(ProgramGrader(sandbox, keys))


async def test_the_same_verdicts(cluster: Any, tmp_path: Path) -> None:
    """Two nodes judge as this machine alone does, and both have a part in it."""
    said: list[str] = []
    async with open_cluster(cluster.address, keys=tmp_path / "keys", report=said.append) as grader:
        assert await verdicts(grader) == await local(tmp_path / "local")
        assert grader.sandbox.level in ("namespaces", "lite")
    assert sum("programs at once" in line for line in said) == 2


async def test_a_node_is_lost(cluster: Any, tmp_path: Path) -> None:
    """A node that is killed in the middle loses nothing: its work is done again on the other."""
    expected = await local(tmp_path / "local")
    done = 0
    async with open_cluster(cluster.address, keys=tmp_path / "keys", report=print) as grader:

        async def grade(program: str, problem: Problem) -> Verdict:
            nonlocal done
            verdict = await grader.grade(program, problem)
            done += 1
            return verdict

        grading = asyncio.gather(*(grade(*one) for _ in range(TIMES) for one in programs()))
        while done < len(expected):  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        victim = random.choice(list(cluster.worker_nodes))
        await asyncio.to_thread(cluster.remove_node, victim, allow_graceful=False)
        assert await grading == expected * TIMES
    cluster.add_node(num_cpus=1)


async def test_a_node_that_cannot_execute(cluster: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A node without a working sandbox is named before anything is asked, with what to do."""

    def refuse(method: str, arguments: tuple[Any, ...], keys: Path | None) -> None:
        raise SandboxError("no isolation level works")

    monkeypatch.setattr("triathlon_runner.cluster._driver.answer", refuse)
    with pytest.raises(ClusterError, match=r"node [\d.]+ cannot execute programs: no isolation.*doctor"):
        async with open_cluster(cluster.address, report=print):
            pass


async def _first_result(sandbox: Sandbox, job: Job) -> Execution:
    """How a job ends of which only the first result is read."""
    return await sandbox.stream(job, lambda _index, _result: False)


async def test_jobs_are_executed_there(cluster: Any) -> None:
    """The cluster's sandbox is one: results in order, stopping, streams, as on one machine."""
    job = Job("def f(x):\n    return 10 // x", tuple(Call("f", (x,)) for x in (5, 2, 0, 1)))
    async with open_cluster(cluster.address, report=print) as grader:
        sandbox = grader.sandbox
        whole = await sandbox.run(job)
        assert [getattr(one, "value", "raised") for one in whole.results] == [2, 5, "raised", 10]
        first = await _first_result(sandbox, job)
        assert first.ended is Ended.STOPPED
        seen: list[Any] = []

        def take(_index: int, one: Sent | Raised) -> bool:
            seen.append(one.value() if isinstance(one, Sent) else one.type)
            return True

        await sandbox.stream(job, take)
        assert seen == [2, 5, "ZeroDivisionError", 10]
    async with open_sandbox(jobs=1) as alone:
        assert (await alone.run(job)).results == whole.results
        assert await _first_result(alone, job) == first
    assert all(isinstance(one, Returned | Raised) for one in whole.results)


@pytest.mark.parametrize(("address", "says"), [("127.0.0.1:1", "no Ray cluster"), ("ray://x", "host:port")])
async def test_no_such_cluster(address: str, says: str) -> None:
    """An address where no cluster is, or that is none, is a user's error, and at once."""
    with pytest.raises(ClusterError, match=says):
        async with open_cluster(address, report=print):
            pass
    assert issubclass(ClusterError, UserError)
