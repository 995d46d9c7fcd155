"""How work travels to the nodes, without any."""

import asyncio
import importlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import Any, cast

import pytest

from triathlon_runner.sandbox import SandboxError

pytest.importorskip("ray", reason="needs Ray: pip install -e '.[ray]'")
batches = importlib.import_module("triathlon_runner.cluster._batches")
ActorError: Any = importlib.import_module("ray.exceptions").ActorDiedError

Pieces = list[tuple[str, tuple[int, ...]]]


class FakeNodes:
    """One node with two places, whose worker doubles numbers, refuses some, and dies of some."""

    def __init__(self) -> None:
        self.places = 2
        self.free = asyncio.Semaphore(2)
        self.calls: list[list[int]] = []
        self.dies_with: set[int] = set()
        self.refused: set[int] = set()
        self.gone = False

    @asynccontextmanager
    async def place(self) -> AsyncIterator[Any]:
        async with self.free:
            if self.gone:
                raise SandboxError("every node is lost")
            yield SimpleNamespace(address="here", actor=SimpleNamespace(work=self))

    async def remote(self, pieces: Pieces) -> list[Any]:
        numbers = [arguments[0] for _, arguments in pieces]
        self.calls.append(numbers)
        await asyncio.sleep(0.001)
        if self.dies_with & set(numbers):
            raise ActorError
        return [SandboxError("no") if number in self.refused else number * 2 for number in numbers]

    async def lose(self, node: Any, error: Exception) -> None:
        """The next one takes its place."""


@pytest.fixture
def nodes() -> FakeNodes:
    return FakeNodes()


async def test_each_gets_its_own(nodes: FakeNodes) -> None:
    """In whatever batches they travel, results are in order, and one's failure is nobody else's."""
    nodes.refused = {13}
    sent = batches.Batches(cast(Any, nodes))
    found = await asyncio.gather(*(sent.call("double", n) for n in range(200)), return_exceptions=True)
    assert [one for n, one in enumerate(found) if n != 13] == [2 * n for n in range(200) if n != 13]
    assert str(found[13]) == "node here: no"
    assert sorted(n for call in nodes.calls for n in call) == list(range(200))
    assert max(map(len, nodes.calls)) > 10
    assert await sent.call("double", 4) == 8


async def test_a_lost_batch_is_done_again(nodes: FakeNodes) -> None:
    """Of a batch that is lost with its node all is done again, and what takes nodes along fails alone."""
    nodes.dies_with = {77}
    sent = batches.Batches(cast(Any, nodes))
    found = await asyncio.gather(*(sent.call("double", n) for n in range(100)), return_exceptions=True)
    assert [one for n, one in enumerate(found) if n != 77] == [2 * n for n in range(100) if n != 77]
    assert isinstance(found[77], SandboxError)
    assert "4 nodes of the cluster were lost" in str(found[77])
    assert sum(77 in call for call in nodes.calls) == 4


async def test_no_node_left(nodes: FakeNodes) -> None:
    """Where every node is lost, whoever waits is told, and so is whoever comes later."""
    nodes.gone, nodes.places = True, 0
    sent = batches.Batches(cast(Any, nodes))
    for _ in range(2):
        found = await asyncio.gather(*(sent.call("double", n) for n in range(5)), return_exceptions=True)
        assert [str(one) for one in found] == ["every node is lost"] * 5


async def test_given_up_before_it_was_sent(nodes: FakeNodes) -> None:
    """Work that nobody waits for any more is not sent."""
    sent = batches.Batches(cast(Any, nodes))
    calls = [asyncio.create_task(sent.call("double", n)) for n in range(5)]
    await asyncio.sleep(0)
    calls[4].cancel()
    await asyncio.gather(*calls, return_exceptions=True)
    assert sorted(n for call in nodes.calls for n in call) == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("seconds", "waiting", "best"),
    [(None, 1000, 1), (0.001, 1000, 64), (0.01, 1000, 25), (0.01, 20, 5), (3.0, 1000, 1), (0.001, 1, 1)],
)
def test_size(seconds: float | None, waiting: int, best: int) -> None:
    """A call carries about a quarter of a second of work, and leaves the other places theirs."""
    size = batches._Size(seconds)
    assert size.best(waiting, places=4) == best
