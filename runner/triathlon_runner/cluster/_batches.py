"""Work for the nodes, several pieces a call: a call costs milliseconds, and so may a piece."""

import asyncio
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from ray.exceptions import RayActorError, RayError

from triathlon_runner.cluster._nodes import Node, Nodes
from triathlon_runner.sandbox import SandboxError

_TRIES = 4
"""Nodes that may be lost under one piece of work before it is taken for the cause."""
_CALL_SECONDS = 0.25
"""Work that a call should carry: a hundred times what the call itself takes."""
_LARGEST = 64
"""Pieces in one call, at most: they are lost together."""
_RECENT = 0.2
"""Weight of the newest call in the mean time of a piece."""


@dataclass(slots=True)
class _Piece:
    method: str
    arguments: tuple[Any, ...]
    done: asyncio.Future[Any]
    lost: int = 0
    """Nodes that were lost under it."""


@dataclass(slots=True)
class _Size:
    """How many pieces a call should carry, learnt from how long they take."""

    seconds: float | None = None
    """Of a piece, lately."""

    def learn(self, seconds: float, pieces: int) -> None:
        mean = seconds / pieces
        self.seconds = mean if self.seconds is None else self.seconds + _RECENT * (mean - self.seconds)

    def best(self, waiting: int, places: int) -> int:
        """Never so many that another place would have nothing left to do."""
        if not self.seconds:
            return 1
        fair = -(-waiting // max(1, places))
        return max(1, min(round(_CALL_SECONDS / self.seconds), fair, _LARGEST))


@dataclass(slots=True)
class Batches:
    """Takes pieces of work one by one and gives each its own result, in whatever batch it travelled."""

    nodes: Nodes
    _waiting: deque[_Piece] = field(default_factory=deque)
    _senders: set[asyncio.Task[None]] = field(default_factory=set)
    _size: _Size = field(default_factory=_Size)

    async def call(self, method: str, *arguments: Any) -> Any:
        """Calls a worker's method, on another node where one is lost.

        Raises:
            SandboxError: the node's sandbox failed, or node after node was lost.
        """
        piece = _Piece(method, arguments, asyncio.get_running_loop().create_future())
        self._waiting.append(piece)
        if len(self._senders) < max(1, self.nodes.places):
            self._senders.add(asyncio.create_task(self._send_all()))
        return await piece.done

    async def close(self) -> None:
        """Nothing is sent any more."""
        for sender in tuple(self._senders):
            sender.cancel()
        await asyncio.gather(*self._senders, return_exceptions=True)

    async def _send_all(self) -> None:
        """Batches are made when a node is free for one, so that nothing waits for a batch to fill."""
        try:
            while self._waiting:
                async with self.nodes.place() as node:
                    if batch := self._take():
                        await self._send(batch, node)
        except SandboxError as error:
            _fail([self._waiting.popleft() for _ in range(len(self._waiting))], error)
        finally:  # in the step that found nothing waiting: what comes next starts a sender of its own
            if (me := asyncio.current_task()) is not None:
                self._senders.discard(me)

    def _take(self) -> list[_Piece]:
        """The next pieces in order; one that has lost a node travels alone, lest it take others along."""
        batch: list[_Piece] = []
        most = self._size.best(len(self._waiting), self.nodes.places)
        while self._waiting and len(batch) < most:
            if self._waiting[0].lost and batch:
                break
            piece = self._waiting.popleft()
            if not piece.done.done():
                batch.append(piece)
            if piece.lost:
                break
        return batch

    async def _send(self, batch: list[_Piece], node: Node) -> None:
        started = asyncio.get_running_loop().time()
        try:
            results = await node.actor.work.remote([(piece.method, piece.arguments) for piece in batch])
        except RayActorError as error:
            self._send_again(batch)
            await self.nodes.lose(node, error)
        except RayError as error:
            _fail(batch, error)
        else:
            self._size.learn(asyncio.get_running_loop().time() - started, len(batch))
            _deliver(batch, results, node)

    def _send_again(self, batch: Sequence[_Piece]) -> None:
        """What was lost with its node goes first."""
        for piece in reversed(batch):
            piece.lost += 1
            if piece.lost < _TRIES:
                self._waiting.appendleft(piece)
            else:
                lost = f"{_TRIES} nodes of the cluster were lost one after another under this work"
                _fail([piece], SandboxError(lost))


def _deliver(batch: Sequence[_Piece], results: Sequence[Any], node: Node) -> None:
    for piece, result in zip(batch, results, strict=True):
        if isinstance(result, SandboxError):
            _fail([piece], SandboxError(f"node {node.address}: {result}"))
        elif not piece.done.done():
            piece.done.set_result(result)


def _fail(pieces: Sequence[_Piece], error: Exception) -> None:
    for piece in pieces:
        if not piece.done.done():
            piece.done.set_exception(error)
