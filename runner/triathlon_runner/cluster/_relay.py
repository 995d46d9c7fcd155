"""An address on this machine for a server that may move."""

import asyncio
from types import TracebackType
from typing import Self

_BLOCK = 64 * 1024
_Ends = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class Relay:
    """Passes bytes on, unread, to wherever the server is now. The key that they carry is the server's affair.

    Loopback only: whoever may use it is on this machine, and needs the key all the same.
    """

    def __init__(self) -> None:
        self._listener: asyncio.Server | None = None
        self._target: tuple[str, int] | None = None
        self._connections: set[asyncio.StreamWriter] = set()

    async def __aenter__(self) -> Self:
        self._listener = await asyncio.start_server(self._connect, "127.0.0.1", 0)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._listener is not None
        self._listener.close()
        self.aim(None)
        await self._listener.wait_closed()

    @property
    def base_url(self) -> str:
        """Ends in /v1; stays as it is."""
        assert self._listener is not None, "used outside its block"
        return f"http://127.0.0.1:{self._listener.sockets[0].getsockname()[1]}/v1"

    def aim(self, target: tuple[str, int] | None) -> None:
        """From now on at this host and port; connections to an earlier one are cut, so that nobody waits."""
        self._target = target
        for writer in tuple(self._connections):
            writer.transport.abort()

    async def _connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        target = self._target
        there = await _opened(target)
        if there is None:
            writer.transport.abort()
        elif target != self._target:  # it has moved meanwhile
            writer.transport.abort()
            there[1].transport.abort()
        else:
            await self._pass_on((reader, writer), there)

    async def _pass_on(self, here: _Ends, there: _Ends) -> None:
        ends = {here[1], there[1]}
        self._connections |= ends
        try:
            await asyncio.gather(_copy(here[0], there[1]), _copy(there[0], here[1]))
        finally:
            self._connections -= ends
            for writer in ends:
                writer.transport.abort()


async def _opened(target: tuple[str, int] | None) -> _Ends | None:
    """A connection to the server; None where it does not listen."""
    if target is None:
        return None
    try:
        return await asyncio.open_connection(*target)
    except OSError:
        return None


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Until the one side has said all, or either is gone."""
    try:
        while block := await reader.read(_BLOCK):
            writer.write(block)
            await writer.drain()
        writer.write_eof()
    except OSError:
        writer.transport.abort()
