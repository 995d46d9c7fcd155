"""Writes answers into a cache and prints the number of each once it is stored: path, count, first number."""

import asyncio
import sys
from pathlib import Path

from triathlon_runner.llm import Answer, ReplyCache
from triathlon_runner.llm._cache import reply_key
from triathlon_runner.records import Reply, Usage


async def main(path: Path, count: int, first: int) -> None:
    """Writes one after another, so that many commits are made."""
    with ReplyCache(path) as cache:
        for number in range(first, first + count):
            answer = Answer(Reply(text=str(number)), Usage(requests=1), 0.0, "m")
            cache.put(reply_key({"number": number}), "m", answer)
            print(number, flush=True)  # noqa: T201


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])))
