"""Answers every POST after a fixed time, at little cost: `python server.py SECONDS` prints its base URL.

Bare asyncio: a web framework would be the bottleneck of what is measured.
"""

import asyncio
import json
import sys

_REPLY = {
    "id": "x",
    "object": "chat.completion",
    "created": 0,
    "model": "scripted",
    "choices": [
        {
            "index": 0,
            "finish_reason": "stop",
            "message": {
                "role": "assistant",
                "content": "```python\ndef second(numbers):\n" + "    pass\n" * 40,
            },
        }
    ],
    "usage": {"prompt_tokens": 200, "completion_tokens": 150, "total_tokens": 350},
}


def _response() -> bytes:
    body = json.dumps(_REPLY).encode()
    head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


class Fixed(asyncio.Protocol):
    """One connection; its requests come one after another."""

    def __init__(self, seconds: float, response: bytes) -> None:
        """`response` is sent as it is."""
        self._seconds, self._response = seconds, response
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
        length = int(head.lower().partition(b"content-length:")[2].split(b"\r\n", 1)[0])
        if len(body) >= length:
            self._taken = body[length:]
            asyncio.get_running_loop().call_later(self._seconds, self._answer)

    def _answer(self) -> None:
        if not self._transport.is_closing():
            self._transport.write(self._response)


async def main(seconds: float) -> None:
    """Serves until it is terminated."""
    response = _response()
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Fixed(seconds, response), "127.0.0.1", 0, backlog=4096)
    print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1", flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main(float(sys.argv[1])))
