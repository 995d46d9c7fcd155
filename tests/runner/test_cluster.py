"""Grading on a real Ray cluster of two nodes on this machine: the same results, also when a node is lost."""

import asyncio
import importlib
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from triathlon_runner.datasets import Problem, core
from triathlon_runner.errors import UserError
from triathlon_runner.grading import Grader
from triathlon_runner.records import Verdict
from triathlon_runner.sandbox import Call, Ended, Job, Raised, Sandbox, SandboxError, Sent

pytest.importorskip("ray", reason="needs Ray: pip install -e '.[ray]'")
pytestmark = pytest.mark.filterwarnings("ignore")
driver = importlib.import_module("triathlon_runner.cluster")
NodeDiedError: Any = importlib.import_module("ray.exceptions").NodeDiedError

PROBLEMS = core.problems("seeds")[:6]
TIMES = 20
"""How often each program is graded where a node is killed: work enough for the kill to fall into it."""


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """A head without CPUs, as large clusters keep it, and two nodes; who takes one away brings another."""
    cluster_utils = importlib.import_module("ray.cluster_utils")
    head = {"num_cpus": 0, "include_dashboard": False}
    made = cluster_utils.Cluster(initialize_head=True, head_node_args=head)
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


@pytest.mark.slow
async def test_the_same_verdicts_though_a_node_is_lost(cluster: Any, tmp_path: Path, grader: Grader) -> None:
    """Two nodes judge as this machine alone does; one that is killed in the middle loses nothing."""
    expected, said, done = await verdicts(grader), list[str](), 0
    nodes: Grader
    async with driver.open_cluster(cluster.address, keys=tmp_path / "keys", report=said.append) as nodes:
        assert await verdicts(nodes) == expected
        assert nodes.sandbox.level in ("namespaces", "lite")
        assert sum("programs at once" in line for line in said) == 2

        async def grade(program: str, problem: Problem) -> Verdict:
            nonlocal done
            verdict = await nodes.grade(program, problem)
            done += 1
            return verdict

        grading = asyncio.gather(*(grade(*one) for _ in range(TIMES) for one in programs()))
        while done < len(expected):  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        victim = random.choice(list(cluster.worker_nodes))
        await asyncio.to_thread(cluster.remove_node, victim, allow_graceful=False)
        assert await grading == expected * TIMES
    cluster.add_node(num_cpus=1)


@pytest.mark.slow
async def test_a_node_that_cannot_execute(cluster: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A node without a working sandbox is named before anything is asked, with what to do."""

    def refuse(method: str, arguments: tuple[Any, ...], keys: Path | None) -> None:
        raise SandboxError("no isolation level works")

    monkeypatch.setattr(driver, "answer", refuse)
    with pytest.raises(UserError, match=r"node [\d.]+ cannot execute programs: no isolation.*doctor"):
        async with driver.open_cluster(cluster.address, report=print):
            pass


@pytest.mark.slow
async def test_jobs_are_executed_there(cluster: Any, sandbox: Sandbox) -> None:
    """The cluster's sandbox is one: results in order, stopping, streams, as on one machine."""
    job = Job("def f(x):\n    return 10 // x", tuple(Call("f", (x,)) for x in (5, 2, 0, 1)))
    seen: list[Any] = []

    def take(_index: int, one: Sent | Raised) -> bool:
        seen.append(one.value() if isinstance(one, Sent) else one.type)
        return True

    async with driver.open_cluster(cluster.address, report=print) as grader:
        whole = await grader.sandbox.run(job)
        assert [getattr(one, "value", "raised") for one in whole.results] == [2, 5, "raised", 10]
        assert (await sandbox.run(job)).results == whole.results
        first = await grader.sandbox.stream(job, lambda _index, _result: False)
        assert first.ended is Ended.STOPPED
        assert await sandbox.stream(job, lambda _index, _result: False) == first
        await grader.sandbox.stream(job, take)
        assert seen == [2, 5, "ZeroDivisionError", 10]


@pytest.mark.parametrize(("address", "says"), [("127.0.0.1:1", "no Ray cluster"), ("ray://x", "host:port")])
async def test_no_such_cluster(address: str, says: str) -> None:
    """An address where no cluster is, or that is none, is a user's error, and at once."""
    with pytest.raises(UserError, match=says):
        async with driver.open_cluster(address, report=print):
            pass


class FakeRemote:
    """In place of the remote function: doubles numbers, refuses 13, loses the node under 77, keeps 99."""

    async def remote(self, method: str, arguments: tuple[int], keys: None) -> Any:
        (number,) = arguments
        await (asyncio.Event().wait() if number == 99 else asyncio.sleep(0))
        if number == 77:
            raise NodeDiedError("the node was killed")
        if number == 13:
            raise SandboxError("refused")
        return "lite", number * 2


async def test_tasks_that_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of requests at the same time only those at fault fail; without any CPU one fails, and does not wait."""
    grader = driver.ClusterGrader(None, levels={"namespaces"})
    monkeypatch.setattr(grader, "_answer", FakeRemote())
    monkeypatch.setattr(driver, "_CHECK_SECONDS", 0.01)
    monkeypatch.setattr(driver.ray, "cluster_resources", lambda: {"memory": 1.0})
    monkeypatch.setattr(driver.ray, "cancel", lambda reference: None)
    calls = (grader.run(number) for number in range(100))
    results = await asyncio.gather(*calls, return_exceptions=True)
    failed = {number: str(result) for number, result in enumerate(results) if result != 2 * number}
    assert failed.keys() == {13, 77, 99}
    assert failed[13] == "refused"
    assert "lost under this work 4 times" in failed[77] and "the node was killed" in failed[77]
    assert "no node of the cluster is left" in failed[99]
    assert all(isinstance(results[number], SandboxError) for number in failed)
    assert grader.level == "lite"
