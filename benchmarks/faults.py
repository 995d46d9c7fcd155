"""What a server that fails by chance costs, and how soon a server's limit is found.

    python benchmarks/faults.py [--chains 386] [--length 12] [--pause 1.0] [--virtual]

Chains of questions as a loop asks them, each behind the one before; `pause` seconds stand for grading. By
default 386 chains of 12, which are 4,632 questions, 96 of them under way at a time, at most 32 requests at
once. First the real client against a server in a process of its own, then (and with `--virtual` alone) the
same queue against simulated servers on a clock that jumps, which no other load of the machine disturbs.

The best that is possible with hangs: n hangs of 20 s on 32 places take n * 20 / 32 s, in any order; where
the calm run takes longer, that.
"""

import argparse
import asyncio
import os
import random
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from support.model_server import model_server_process
from support.virtual_server import FAULTS, VirtualServer, ask
from support.virtual_time import run_virtually
from triathlon_runner.llm import Chat, Message, OpenAI, Sampling, open_model

AT_ONCE, WORKERS, HANG_SECONDS = 32, 96, 20.0


async def real(base_url: str, chains: int, length: int, pause: float) -> tuple[float, list[str], int]:
    """Seconds, the replies in order, and tries that gave no answer."""
    config = OpenAI(base_url=base_url, model="scripted", concurrency=AT_ONCE)
    replies = [""] * (chains * length)
    left = iter(range(chains))
    async with open_model("m", "instruct", config, say=print) as model:

        async def work() -> None:
            for chain in left:
                for step in range(chain * length, (chain + 1) * length):
                    answer = await model.ask(Chat((Message("user", str(step)),)), Sampling(64))
                    replies[step] = answer.reply.text
                    await asyncio.sleep(pause)

        began = time.perf_counter()
        await asyncio.gather(*(work() for _ in range(WORKERS)))
        return time.perf_counter() - began, replies, model.stats.retries


def measure_real(chains: int, length: int, pause: float) -> None:
    """Prints a line for each kind of server."""
    print(f"real client and server; {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    calm, expected = 0.0, [""]
    for name in ("echo", "faults", "hangs_too"):
        with model_server_process(f"support.server_scripts:{name}") as base_url:
            seconds, replies, retries = asyncio.run(real(base_url, chains, length, pause))
        calm, expected = (calm, expected) if calm else (seconds, replies)
        equal = "equal replies" if replies == expected else "OTHER REPLIES"
        print(f"{name:<28} {seconds:7.1f} s, {seconds / calm:4.2f} of calm, {retries} tries failed, {equal}")


def measure_virtual(length: int, pause: float, chains: int) -> None:
    """Prints a line for each simulated server."""
    print("the same queue on a clock that jumps")
    calm = run_virtually(ask(VirtualServer(), chains, length, pause, workers=WORKERS))[1]
    print(f"{'calm':<28} {calm:7.1f} s")
    for name, share, faults in (("faults", 0.27, FAULTS[:-1]), ("hangs_too", 0.3, FAULTS)):
        for seed in range(1, 9):
            server = VirtualServer(fault_share=share, faults=faults, rng=random.Random(seed))
            _, seconds = run_virtually(ask(server, chains, length, pause, workers=WORKERS))
            best = max(calm, server.hangs * HANG_SECONDS / AT_ONCE)
            print(
                f"{name + f', seed {seed}':<28} {seconds:7.1f} s, {seconds / calm:4.2f} of calm;"
                f" {server.hangs} hangs, best possible {best / calm:4.2f}"
            )
    for name, server in (
        ("300 a minute, evenly", VirtualServer(_varied, a_minute=300, burst=5)),
        ("300 a minute, burst", VirtualServer(_varied, a_minute=300, burst=300)),
        ("300 in any 60 s", VirtualServer(_varied, a_minute=300)),
        ("8 at once", VirtualServer(_varied, at_once=8)),
    ):
        _, seconds = run_virtually(ask(server, 96, 15))
        print(f"{name:<28} {seconds:7.1f} s, 429s after the first 10 s: {server.refused(since=10):.2%}")


def _varied(rng: random.Random) -> float:
    return rng.uniform(0.2, 1.8)


def main() -> None:
    """Prints a table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--chains", type=int, default=386)
    parser.add_argument("--length", type=int, default=12)
    parser.add_argument("--pause", type=float, default=1.0)
    parser.add_argument("--virtual", action="store_true", help="leave the real server out")
    arguments = parser.parse_args()
    if not arguments.virtual:
        measure_real(arguments.chains, arguments.length, arguments.pause)
    measure_virtual(arguments.length, arguments.pause, arguments.chains)


if __name__ == "__main__":
    main()
