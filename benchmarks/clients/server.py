"""Answers every POST after about the same time, at little cost: prints its base URL.

    python server.py SECONDS VARY [MODULE:FUNCTION]

Each reply takes a time of its own, at random between (1 - VARY) and (1 + VARY) times SECONDS. Bare asyncio: a
web framework would be the bottleneck of what is measured. Without a function every reply is the same bytes;
with one it is what the function says to the prompt and the number of the request.
"""

import asyncio
import importlib
import json
import random
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count

Script = Callable[[str, int], str]


@contextmanager
def fixed_server(seconds: float, script: str = "", vary: float = 0.0) -> Iterator[str]:
    """The base URL of such a server, in a process of its own."""
    command = [sys.executable, __file__, str(seconds), str(vary), *([script] if script else [])]
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

    def __init__(self, seconds: Callable[[], float], answer: Callable[[bytes], bytes]) -> None:
        """`seconds` says how long the next reply takes; `answer` makes the reply to a request's body."""
        self._seconds, self._answer = seconds, answer
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
            reply = self._answer(body[:length])
            asyncio.get_running_loop().call_later(self._seconds(), self._say, reply)

    def _say(self, reply: bytes) -> None:
        if not self._transport.is_closing():
            self._transport.write(reply)


def scripted(script: Script) -> Callable[[bytes], bytes]:
    """What a function says, to the last message of each conversation."""
    numbers = count()
    return lambda body: response(script(json.loads(body)["messages"][-1]["content"], next(numbers)))


async def main(mean: float, vary: float, name: str = "") -> None:
    """Serves until it is terminated."""
    if name:
        module, _, function = name.partition(":")
        answer = scripted(getattr(importlib.import_module(module), function))
    else:
        always = response("```python\ndef second(numbers):\n" + "    pass\n" * 40)

        def answer(_: bytes) -> bytes:
            return always

    def seconds() -> float:
        return random.uniform(mean * (1 - vary), mean * (1 + vary))

    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Fixed(seconds, answer), "127.0.0.1", 0, backlog=4096)
    print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1", flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main(float(sys.argv[1]), float(sys.argv[2]), *sys.argv[3:]))
