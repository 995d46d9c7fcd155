"""A server of one function over bare streams, for what no HTTP library would say."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@asynccontextmanager
async def listening(serve: Serve, context: ssl.SSLContext | None = None) -> AsyncIterator[int]:
    """Its port on 127.0.0.1, until the block ends; then every connection is over."""
    served: set[asyncio.Task[None]] = set()

    async def one(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        served.add(task)
        try:
            await serve(reader, writer)
        except (asyncio.IncompleteReadError, OSError):  # the client went away
            pass
        finally:
            writer.transport.abort()
            await asyncio.sleep(0)

    server = await asyncio.start_server(one, "127.0.0.1", 0, ssl=context)
    async with server:
        yield server.sockets[0].getsockname()[1]
    if served:
        await asyncio.wait(served, timeout=5)
