"""How near asking comes to the ideal, and what a request costs in CPU time.

    python benchmarks/endpoints.py [--latency 1.0] [--vary 0.1] [--seconds 30] [--slots 16 64 256]

A server in a process of its own answers every question after about the same time (`--vary`: each at random
within this share of it; with 0 all slots of a run ask at the same instant, round after round, which no real
server makes them do), so that n slots can give n replies in that time. Aim, at replies of 1 s: 95 % of that,
and at most 2.5 ms of CPU a request; `--latency 0.1` shows what is left where replies are as short as no
model's.
"""

import argparse
import asyncio
import itertools
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from support.model_server import ModelServer
from support.server_replies import Asked
from triathlon_runner.llm import Chat, Message, ModelSettings, OpenAI, ReplyCache, Sampling, open_model

PROMPT = "Write a function that returns the second largest number of a list.\n" * 10
REPLY = "```python\ndef second(numbers):\n" + "    pass\n" * 40
OURS = ModelSettings(engine="benchmark")


async def serve(latency: float, vary: float) -> None:
    """Prints its address, then answers every question after about the same time."""

    async def reply(_asked: Asked) -> str:
        await asyncio.sleep(random.uniform(latency * (1 - vary), latency * (1 + vary)))
        return REPLY

    async with ModelServer(reply) as server:
        print(server.base_url, flush=True)
        await asyncio.Event().wait()


@contextmanager
def served(latency: float, vary: float) -> Iterator[str]:
    """The base URL of such a server, in a process of its own."""
    command = [sys.executable, __file__, "--serve", "--latency", str(latency), "--vary", str(vary)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.terminate()


async def ours(base_url: str, slots: int, count: int, cached: bool) -> dict[str, float]:
    """The runner's own way of asking: seconds and CPU seconds."""
    server = OpenAI(base_url=base_url, model="scripted", concurrency=slots)
    with tempfile.TemporaryDirectory() as folder:
        opened = ReplyCache(Path(folder) / "replies.sqlite") if cached else nullcontext()
        with opened as cache:
            async with open_model("m", "instruct", server, settings=OURS, cache=cache) as model:
                numbers = itertools.count()

                async def work(last: int) -> None:
                    for number in numbers:
                        await model.ask(
                            Chat((Message("user", f"{PROMPT}{number}"),)), Sampling(max_tokens=1024)
                        )
                        if number >= last:
                            return

                await asyncio.gather(*(work(0) for _ in range(slots)))  # connections are open, code is warm
                began, cpu = time.perf_counter(), time.process_time()
                await asyncio.gather(*(work(count) for _ in range(slots)))
                return {"seconds": time.perf_counter() - began, "cpu": time.process_time() - cpu}


def show(name: str, slots: int, count: int, ideal: float, measured: dict[str, float]) -> None:
    """Prints a line."""
    rate = count / measured["seconds"]
    print(
        f"{name:<18} {slots:>5} {rate:>9.0f} {ideal:>7.0f} {rate / ideal:>7.1%}"
        f" {1000 * measured['cpu'] / count:>14.2f} {measured['cpu'] / measured['seconds']:>6.0%}",
        flush=True,
    )


def main() -> None:
    """Prints a table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--latency", type=float, default=1.0, help="seconds that every reply takes")
    parser.add_argument("--vary", type=float, default=0.1, help="how far a reply's time varies, as a share")
    parser.add_argument("--seconds", type=float, default=30.0, help="length of each measurement at the ideal")
    parser.add_argument("--slots", type=int, nargs="+", default=[16, 64, 256])
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    latency, vary = arguments.latency, arguments.vary
    if arguments.serve:
        asyncio.run(serve(latency, vary))
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}; replies after {latency:g} s +- {vary:.0%}")
    header = f"{'client':<18} {'slots':>5} {'replies/s':>9} {'ideal':>7} {'share':>7}"
    print(f"{header} {'CPU ms/request':>14} {'core':>6}")
    with served(latency, vary) as base_url:
        for slots in arguments.slots:
            ideal = slots / latency
            count = round(arguments.seconds * ideal)
            for name, cached in (("ours", False), ("ours, with cache", True)):
                show(name, slots, count, ideal, asyncio.run(ours(base_url, slots, count, cached=cached)))


if __name__ == "__main__":
    main()
