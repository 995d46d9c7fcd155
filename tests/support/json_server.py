"""A loopback server whose replies are looked up by method and path."""

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web


@dataclass
class JsonServer:
    """What it says and what it was asked."""

    replies: Mapping[str, Any]
    """`GET /path?query` to the reply's body; a list is said one by one, its last again and again."""
    root: str = ""
    asked: list[str] = field(default_factory=list)
    bodies: list[Any] = field(default_factory=list)
    headers: list[Mapping[str, str]] = field(default_factory=list)

    async def answer(self, http: web.BaseRequest) -> web.StreamResponse:
        name = f"{http.method} {http.path_qs}"
        raw = await http.read()
        self.asked.append(name)
        self.headers.append(http.headers)
        self.bodies.append(json.loads(raw) if raw else None)
        if name not in self.replies:
            return web.json_response({"error": "not found"}, status=404)
        said = self.replies[name]
        if isinstance(said, list):
            said = said.pop(0) if len(said) > 1 else said[0]
        status, body = said if isinstance(said, tuple) else (200, said)
        return web.json_response(body, status=status)


@asynccontextmanager
async def json_server(replies: Mapping[str, Any]) -> AsyncIterator[JsonServer]:
    """Serves until the block ends; `root` is its address."""
    server = JsonServer(replies)
    runner = web.ServerRunner(web.Server(server.answer, access_log=None), shutdown_timeout=0.1)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        server.root = f"http://127.0.0.1:{runner.addresses[0][1]}"
        yield server
    finally:
        await runner.cleanup()
