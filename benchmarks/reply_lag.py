"""How long reading a reply of 1 MB keeps the event loop waiting, and how long it takes, by the kind of text.

    python benchmarks/reply_lag.py [--size 1000000] [KIND ...]

A ticker sleeps 1 ms at a time on the loop; the longest time between two of its ticks, less that millisecond,
is the lag. `read`: a server's reply is read (`Endpoint.read_reply`); `program`: a program is taken out of it.
"""

import argparse
import asyncio
import json
import sys
import time
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
from support.virtual_server import CONFIG, VirtualServer
from triathlon_runner.llm import Chat, EndpointStats, Limits, Message, Sampling
from triathlon_runner.llm._endpoint import Endpoint
from triathlon_runner.llm._queue import RequestQueue
from triathlon_runner.llm._secrets import Secrets
from triathlon_runner.llm.provider import HttpReply
from triathlon_runner.records import Reply
from triathlon_runner.replies import extract

F = "def f(x):\n    return x + 1\n"
KINDS: dict[str, str] = {
    "prose": "The value a = b and c = d.\n",
    "one word": "x",
    "reasoning pairs": "<think>a</think>\n",
    "beginnings": "<think>\n",
    "ends in text": "<think>a</think>b c </think>",
    "channels": "<|channel|>analysis<|message|>a<|end|>",
    "quoted tokens": "'<|im_end|>' ",
    "quotes": '"""\n',
    "blocks": f"```python\n{F}```\n",
    "functions": F,
    "open brackets": "x = (\n",
    "assignments": "a = 1\n",
}


async def lag(work: Callable[[], Awaitable[object]]) -> tuple[float, float]:
    """Returns the longest lag of the loop and the whole time of the work, in seconds."""
    longest, ticks = 0.0, True

    async def tick() -> None:
        nonlocal longest
        while ticks:
            before = time.perf_counter()
            await asyncio.sleep(0.001)
            longest = max(longest, time.perf_counter() - before - 0.001)

    ticker = asyncio.create_task(tick())
    await asyncio.sleep(0.02)
    longest, began = 0.0, time.perf_counter()
    await work()
    seconds = time.perf_counter() - began
    await asyncio.sleep(0.002)
    ticks = False
    await ticker
    return longest, seconds


async def main(kinds: list[str], size: int) -> None:
    """Prints a line a kind."""
    endpoint = Endpoint(
        CONFIG, VirtualServer().send, RequestQueue(Limits(), EndpointStats()), Secrets(CONFIG)
    )
    request = endpoint.request(Chat((Message("user", "q"),)), Sampling(64))
    warm = Reply(text=F * 2_000)
    await extract(warm, entry_point="f", prompt="")
    print(f"{'kind':16}  {'read: lag':>10} {'time':>8}  {'program: lag':>12} {'time':>8}   seconds")
    for kind in kinds:
        text = KINDS[kind] * (size // len(KINDS[kind]))
        choice = {"index": 0, "finish_reason": "stop", "message": {"content": text}}
        usage = {"prompt_tokens": 10, "completion_tokens": 5}
        reply = HttpReply(200, json.dumps({"model": "m", "choices": [choice], "usage": usage}).encode(), {})
        read = await lag(partial(endpoint.read_reply, request, reply))
        program = await lag(partial(extract, Reply(text=text), entry_point="f", prompt=""))
        print(f"{kind:16}  {read[0]:10.3f} {read[1]:8.3f}  {program[0]:12.3f} {program[1]:8.3f}", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--size", type=int, default=1_000_000)
    parser.add_argument("kinds", nargs="*", metavar="KIND", help=", ".join(KINDS))
    given = parser.parse_args()
    asyncio.run(main(given.kinds or list(KINDS), given.size))
