"""How near asking comes to the ideal, and what a request costs in CPU time.

    python benchmarks/endpoints.py [--seconds 10] [--slots 16 64 256]

A server in a process of its own answers every question after a fixed 100 ms, so that n slots can give
n * 10 replies a second. Beside ours, with cache and without, the official client alone is measured in the
same run, as its documentation uses it: its CPU limit is what stands between many slots and the ideal.
"""

import argparse
import asyncio
import itertools
import os
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from openai import AsyncOpenAI

from support.model_server import model_server_process
from triathlon_runner.endpoints import Chat, LocalServer, Message, ReplyCache, Sampling, open_model

LATENCY = 0.1
PROMPT = "Write a function that returns the second largest number of a list.\n" * 10
Ask = Callable[[int], Awaitable[object]]


async def measure(name: str, ask: Ask, slots: int, seconds: float) -> None:
    """Keeps all slots busy for so long and prints a line."""
    await asyncio.gather(*(ask(-1 - number) for number in range(slots)))  # connections are open, code is warm
    numbers, end = itertools.count(), time.perf_counter() + seconds
    done = 0

    async def work() -> None:
        nonlocal done
        while time.perf_counter() < end:
            await ask(next(numbers))
            done += 1

    began, cpu = time.perf_counter(), time.process_time()
    await asyncio.gather(*(work() for _ in range(slots)))
    took, cpu = time.perf_counter() - began, time.process_time() - cpu
    ideal = slots / LATENCY
    limit = done / cpu
    share = done / took / min(ideal, limit)
    print(
        f"{name:<28} {slots:>5} {done / took:>9.0f} {ideal:>7.0f} {done / took / ideal:>7.1%}"
        f" {limit:>10.0f} {share:>10.1%} {cpu / took:>6.0%}",
        flush=True,
    )


async def ours(base_url: str, slots: int, seconds: float, cached: bool) -> None:
    """The runner's own way of asking."""
    server = LocalServer(base_url, "scripted", "benchmark", "1", slots)
    with tempfile.TemporaryDirectory() as folder, ReplyCache(Path(folder) / "replies.sqlite") as cache:
        async with open_model("m", "instruct", server, cache=cache if cached else None) as model:

            async def ask(number: int) -> object:
                prompt = Chat((Message("user", f"{PROMPT}{number}"),))
                return await model.ask(prompt, Sampling(max_tokens=1024))

            await measure("ours, with cache" if cached else "ours", ask, slots, seconds)


async def official(base_url: str, slots: int, seconds: float) -> None:
    """The official client as its documentation uses it."""
    async with AsyncOpenAI(base_url=base_url, api_key="none", max_retries=0) as client:

        async def ask(number: int) -> object:
            reply = await client.chat.completions.create(
                model="scripted",
                messages=[{"role": "user", "content": f"{PROMPT}{number}"}],
                max_tokens=1024,
                temperature=0,
                top_p=1,
            )
            return reply.choices[0].message.content

        await measure("official client", ask, slots, seconds)


def main() -> None:
    """Prints a table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=10.0, help="length of each measurement")
    parser.add_argument("--slots", type=int, nargs="+", default=[16, 64, 256])
    arguments = parser.parse_args()
    print(
        f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} before; replies after {LATENCY * 1000:.0f} ms"
    )
    print("limit: requests per second of CPU time; of limit: throughput against the lower of ideal and limit")
    header = f"{'client':<28} {'slots':>5} {'replies/s':>9} {'ideal':>7} {'share':>7}"
    print(f"{header} {'CPU limit':>10} {'of lower':>10} {'core':>6}")
    with model_server_process("support.server_scripts:echo", "--latency", str(LATENCY)) as base_url:
        for slots in arguments.slots:
            asyncio.run(ours(base_url, slots, arguments.seconds, cached=False))
            asyncio.run(ours(base_url, slots, arguments.seconds, cached=True))
            asyncio.run(official(base_url, slots, arguments.seconds))


if __name__ == "__main__":
    main()
