"""A loopback server that speaks the OpenAI protocol and answers what a Python function says.

In a test: ``async with ModelServer(lambda asked: f"echo {asked.prompt}") as server: ... server.base_url``.
As a process of its own: ``python -m support.model_server support.server_scripts:echo --latency 0.1``, which
prints its base URL as its first line; `model_server_process` starts and kills that.
"""

import argparse
import asyncio
import importlib
import json
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import KW_ONLY, dataclass, field
from pathlib import Path
from typing import Any, Literal

from aiohttp import web

from support.server_replies import Asked, Response, Said, Status

Script = Callable[[Asked], "str | Response | Awaitable[str | Response]"]
"""What the model says to a request: a text, a `server_replies` object, or an awaitable of one."""

PATHS: dict[str, Literal["chat", "completions"]] = {
    "/v1/chat/completions": "chat",
    "/v1/completions": "completions",
}

START_SECONDS = 120.0
"""Until which a server has said its address; it imports much, on a busy machine."""


@dataclass(eq=False)
class ModelServer:
    """Serves one scripted model on a port of 127.0.0.1, until the `async with` block ends."""

    script: Script
    _: KW_ONLY
    latency: float = 0.0
    """Seconds that every answer takes at least; time in the queue for a slot comes on top."""
    slots: int | None = None
    """How many requests are worked on at once; the others wait. None: no limit."""
    log: Path | None = None
    """A file that gets one JSON line a request, for other processes to read."""
    port: int = 0
    """0: any that is free."""
    paths: Mapping[str, Any] | None = None
    """What else there is, such as `GET /props`: a body, (status, body), a function that makes a text, or a
    list of bodies that is said one by one, its last again and again."""
    asked: list[tuple[str, Any, Mapping[str, str]]] = field(default_factory=list, init=False)
    """Every request for one of the other paths: method and path, body, headers."""
    requests: list[Asked] = field(default_factory=list, init=False)
    """Every request in the order of arrival."""
    count: int = field(default=0, init=False)
    bodies: Counter[bytes] = field(default_factory=Counter, init=False)
    """How often each body came."""
    in_flight: int = field(default=0, init=False)
    most_in_flight: int = field(default=0, init=False)
    base_url: str = field(default="", init=False)
    """Ends in /v1; known once the server runs."""

    async def __aenter__(self) -> "ModelServer":
        self._slots = asyncio.Semaphore(self.slots) if self.slots else None
        self._runner = web.ServerRunner(web.Server(self._handle, access_log=None), shutdown_timeout=0.1)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", self.port, backlog=4096)
        await site.start()
        self.base_url = f"http://127.0.0.1:{self._runner.addresses[0][1]}/v1"
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._runner.cleanup()

    async def _handle(self, http: web.BaseRequest) -> web.StreamResponse:
        if (name := f"{http.method} {http.path_qs}") in (self.paths or {}):
            return await self._say(name, http)
        if http.path not in PATHS:
            return web.json_response({"error": {"message": f"no such path {http.path}"}}, status=404)
        asked = self._note(http, await http.read())
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            async with self._slots or nullcontext():
                return await self._answer(http, asked)
        except ConnectionResetError:  # the client would not wait any longer
            return web.Response()
        finally:
            self.in_flight -= 1

    async def _say(self, name: str, http: web.BaseRequest) -> web.StreamResponse:
        raw = await http.read()
        self.asked.append((name, json.loads(raw) if raw else None, http.headers))
        said = (self.paths or {})[name]
        if isinstance(said, list):
            said = said.pop(0) if len(said) > 1 else said[0]
        if callable(said):
            return web.Response(text=said())
        status, body = said if isinstance(said, tuple) else (200, said)
        return web.json_response(body, status=status)

    def _note(self, http: web.BaseRequest, raw: bytes) -> Asked:
        body: dict[str, Any] = json.loads(raw)
        asked = Asked(PATHS[http.path], body, http.headers, self.count, self.bodies[raw])
        self.count += 1
        self.bodies[raw] += 1
        self.requests.append(asked)
        if self.log:
            with self.log.open("a") as log:
                log.write(json.dumps({"number": asked.number, "body": body}) + "\n")
        return asked

    async def _answer(self, http: web.BaseRequest, asked: Asked) -> web.StreamResponse:
        if self.latency:
            await asyncio.sleep(self.latency)
        try:
            said = self.script(asked)
            if isinstance(said, Awaitable):
                said = await said
        except LookupError as error:  # a script that knows no answer must be seen, not waited for
            said = Status(400, f"the script failed: {error!r}")
        response: Response = Said(said) if isinstance(said, str) else said
        return await response.send(http, asked)


@contextmanager
def model_server_process(script: str, *arguments: str) -> Iterator[str]:
    """Runs a server in a process of its own and yields its base URL.

    Args:
        script: `module:function`, importable with the tests folder on the path.
        arguments: Further command line options, such as `--latency`, `0.1`.
    """
    tests = str(Path(__file__).resolve().parents[1])
    command = [sys.executable, "-m", "support.model_server", script, *arguments]
    with subprocess.Popen(command, cwd=tests, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        too_late = threading.Timer(START_SECONDS, process.kill)  # else one that says nothing is waited for
        too_late.start()
        try:
            base_url = process.stdout.readline().strip()
            too_late.cancel()
            assert base_url, f"the server did not start: {command}"
            yield base_url
        finally:
            process.kill()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("script", help="module:function")
    parser.add_argument("--latency", type=float, default=0.0)
    parser.add_argument("--slots", type=int)
    parser.add_argument("--log", type=Path)
    asyncio.run(_serve(**vars(parser.parse_args())))


async def _serve(script: str, **options: Any) -> None:
    module, _, name = script.partition(":")
    server = ModelServer(getattr(importlib.import_module(module), name), **options)
    async with server:
        sys.stdout.write(server.base_url + "\n")
        sys.stdout.flush()
        await asyncio.Event().wait()


if __name__ == "__main__":
    main()
