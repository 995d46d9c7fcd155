"""Answers every POST after about the same time, at little cost: prints its base URL.

    python fixed_server.py SECONDS VARY

Each reply takes a time of its own, at random between (1 - VARY) and (1 + VARY) times SECONDS. Bare asyncio: a
web framework would be the bottleneck of what is measured. Every reply is the same bytes.
"""

import asyncio
import json
import random
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def fixed_server(seconds: float, vary: float = 0.0) -> Iterator[str]:
    """The base URL of such a server, in a process of its own."""
    command = [sys.executable, __file__, str(seconds), str(vary)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.terminate()


def response(text: str) -> bytes:
    """A whole reply that holds this text."""
    choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}
    body = json.dumps(
        {
            "id": "x",
            "object": "chat.completion",
            "created": 0,
            "model": "scripted",
            "choices": [choice],
            "usage": {"prompt_tokens": 200, "completion_tokens": 150, "total_tokens": 350},
        }
    ).encode()
    head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


class Fixed(asyncio.Protocol):
    """One connection; its requests come one after another."""

    def __init__(self, seconds: Callable[[], float], reply: bytes) -> None:
        """`seconds` says how long the next reply takes."""
        self._seconds, self._reply = seconds, reply
        self._taken = b""
        self._transport: asyncio.Transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keeps the way back."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        """Answers when a request is whole."""
        self._taken += data
        head, separator, body = self._taken.partition(b"\r\n\r\n")
        if not separator:
            return
        if head.startswith(b"GET "):  # who is served here: this server does not say
            self._taken = body
            self._transport.write(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")
            return
        length = int(head.lower().partition(b"content-length:")[2].split(b"\r\n", 1)[0])
        if len(body) >= length:
            self._taken = body[length:]
            asyncio.get_running_loop().call_later(self._seconds(), self._say)

    def _say(self) -> None:
        if not self._transport.is_closing():
            self._transport.write(self._reply)


async def main(mean: float, vary: float) -> None:
    """Serves until it is terminated."""
    reply = response("```python\ndef second(numbers):\n" + "    pass\n" * 40)

    def seconds() -> float:
        return random.uniform(mean * (1 - vary), mean * (1 + vary))

    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Fixed(seconds, reply), "127.0.0.1", 0, backlog=4096)
    print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1", flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main(float(sys.argv[1]), float(sys.argv[2])))
