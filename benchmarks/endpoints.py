"""How near asking comes to the ideal, and what a request costs in CPU time, beside other harnesses' clients.

    python benchmarks/endpoints.py [--seconds 10] [--slots 16 64 256] [--peers PYTHON]

A server in a process of its own answers every question after a fixed 100 ms, so that n slots can give
n * 10 replies a second. `--peers` names the interpreter of an environment in which inspect_ai and
lm-eval[api] are installed; their clients are then measured in the same run, each in a process of its own.
"""

import argparse
import asyncio
import itertools
import json
import os
import subprocess
import sys
import tempfile
import time
from contextlib import nullcontext
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.clients.server import fixed_server

from triathlon_runner.endpoints import Chat, LocalServer, Message, ReplyCache, Sampling, open_model

LATENCY = 0.1
PROMPT = "Write a function that returns the second largest number of a list.\n" * 10
HERE = Path(__file__).resolve().parent / "clients"
PEERS = ("lm_eval", "inspect_ai", "openai")


async def ours(base_url: str, slots: int, count: int, cached: bool) -> dict[str, float]:
    """The runner's own way of asking: seconds and CPU seconds."""
    server = LocalServer(base_url, "scripted", "benchmark", "1", slots)
    with tempfile.TemporaryDirectory() as folder:
        opened = ReplyCache(Path(folder) / "replies.sqlite") if cached else nullcontext()
        with opened as cache:
            async with open_model("m", "instruct", server, cache=cache) as model:
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


def peer(python: Path, name: str, base_url: str, slots: int, count: int) -> dict[str, float]:
    """The same by another harness' client, in its environment."""
    command = [str(python), str(HERE / "peers.py"), name, base_url, str(slots), str(count)]
    output = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
    measured: dict[str, float] = json.loads(output.splitlines()[-1])
    return measured


def show(name: str, slots: int, count: int, measured: dict[str, float]) -> None:
    """Prints a line."""
    rate, limit, ideal = count / measured["seconds"], count / measured["cpu"], slots / LATENCY
    print(
        f"{name:<18} {slots:>5} {rate:>9.0f} {ideal:>7.0f} {rate / ideal:>7.1%} {limit:>12.0f}"
        f" {rate / min(ideal, limit):>10.1%} {measured['cpu'] / measured['seconds']:>6.0%}",
        flush=True,
    )


def main() -> None:
    """Prints a table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=10.0, help="length of each measurement at the ideal")
    parser.add_argument("--slots", type=int, nargs="+", default=[16, 64, 256])
    parser.add_argument("--peers", type=Path, help="interpreter of an environment with the other clients")
    arguments = parser.parse_args()
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}; replies after {LATENCY * 1000:.0f} ms")
    print("of lower: throughput against the lower of the ideal and what one core allows")
    header = f"{'client':<18} {'slots':>5} {'replies/s':>9} {'ideal':>7} {'share':>7}"
    print(f"{header} {'per CPU s':>12} {'of lower':>10} {'core':>6}")
    with fixed_server(LATENCY) as base_url:
        for slots in arguments.slots:
            count = round(arguments.seconds * slots / LATENCY)
            show("ours", slots, count, asyncio.run(ours(base_url, slots, count, cached=False)))
            show("ours, with cache", slots, count, asyncio.run(ours(base_url, slots, count, cached=True)))
            for name in PEERS if arguments.peers else ():
                show(name, slots, count, peer(arguments.peers, name, base_url, slots, count))


if __name__ == "__main__":
    main()
