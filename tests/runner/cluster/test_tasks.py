"""How requests are put into Ray tasks and what becomes of tasks that fail, without a cluster."""

import asyncio
import importlib
from typing import Any

import pytest

from triathlon_runner.sandbox import SandboxError

pytest.importorskip("ray", reason="needs Ray: pip install -e '.[ray]'")
tasks = importlib.import_module("triathlon_runner.cluster._tasks")
NodeDiedError: Any = importlib.import_module("ray.exceptions").NodeDiedError


class FakeRemote:
    """In place of the remote function: doubles numbers, refuses some, and loses the node under some."""

    def __init__(self) -> None:
        self.chunks: list[list[int]] = []
        self.lost_under: set[int] = set()
        self.refused: set[int] = set()

    async def remote(self, requests: list[tuple[str, tuple[int, ...]]], keys: None) -> Any:
        numbers = [arguments[0] for _, arguments in requests]
        self.chunks.append(numbers)
        await asyncio.sleep(0)
        if self.lost_under & set(numbers):
            raise NodeDiedError("the node was killed")
        if self.refused & set(numbers):
            raise SandboxError("refused")
        return "lite", [number * 2 for number in numbers]


@pytest.fixture
def remote() -> FakeRemote:
    return FakeRemote()


@pytest.fixture
def node_tasks(remote: FakeRemote, monkeypatch: pytest.MonkeyPatch) -> Any:
    made = tasks.NodeTasks(None, cpus=4, levels={"namespaces"})
    monkeypatch.setattr(made, "_answer", remote)
    return made


async def call_all(node_tasks: Any, count: int) -> list[Any]:
    return await asyncio.gather(
        *(node_tasks.call("double", number) for number in range(count)), return_exceptions=True
    )


async def test_each_request_gets_its_own_result(node_tasks: Any, remote: FakeRemote) -> None:
    """Requests of one moment travel in chunks of 16 at most, and each gets its result, in order."""
    assert await call_all(node_tasks, 100) == [2 * number for number in range(100)]
    assert sorted(number for chunk in remote.chunks for number in chunk) == list(range(100))
    assert {len(chunk) for chunk in remote.chunks} == {16, 4}
    assert node_tasks.levels == {"namespaces", "lite"}


async def test_one_failure_is_not_its_chunks(node_tasks: Any, remote: FakeRemote) -> None:
    """Where a chunk fails each of its requests is sent alone; only the one at fault fails."""
    remote.refused, remote.lost_under = {13}, {77}
    results = await call_all(node_tasks, 100)
    failed = {number: str(result) for number, result in enumerate(results) if result != 2 * number}
    assert set(failed) == {13, 77}
    assert failed[13] == "refused"
    assert "lost under this work 4 times" in failed[77] and "the node was killed" in failed[77]
    assert all(isinstance(results[number], SandboxError) for number in failed)


async def test_cancelled_before_it_was_sent(node_tasks: Any, remote: FakeRemote) -> None:
    """A request whose caller is cancelled in the same moment is not sent."""
    calls = [asyncio.create_task(node_tasks.call("double", number)) for number in range(5)]
    asyncio.get_running_loop().call_soon(calls[4].cancel)
    await asyncio.gather(*calls, return_exceptions=True)
    assert sorted(number for chunk in remote.chunks for number in chunk) == [0, 1, 2, 3]


async def test_no_node_is_left(node_tasks: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the cluster has no CPU any more a request fails; it does not wait for ever."""

    class Silent:
        def remote(self, requests: Any, keys: None) -> Any:
            return asyncio.get_running_loop().create_future()

    monkeypatch.setattr(tasks, "_CHECK_SECONDS", 0.01)
    monkeypatch.setattr(tasks.ray, "cluster_resources", lambda: {"memory": 1.0})
    monkeypatch.setattr(tasks.ray, "cancel", lambda reference: reference.cancel())
    monkeypatch.setattr(node_tasks, "_answer", Silent())
    (error,) = await call_all(node_tasks, 1)
    assert isinstance(error, SandboxError)
    assert "no node of the cluster is left" in str(error)


@pytest.mark.parametrize(
    ("requests", "cpus", "size"), [(1, 4, 1), (4, 4, 1), (5, 4, 2), (1000, 4, 16), (3, 0, 3), (0, 4, 1)]
)
def test_chunk_size(requests: int, cpus: int, size: int) -> None:
    """A chunk leaves each CPU its share and is never larger than 16."""
    assert tasks.chunk_size(requests, cpus) == size
