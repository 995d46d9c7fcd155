"""Asks a server many questions, as a run would; prints each one's number when its answer is there.

Arguments: base URL, path of the cache, number of questions, slots.
"""

import asyncio
import sys
from pathlib import Path

from triathlon_runner.llm import Chat, Message, Model, ModelSettings, OpenAI, ReplyCache, Sampling, open_model


async def main(base_url: str, path: Path, count: int, slots: int) -> None:
    """All questions at once; the model's slots keep them apart."""
    settings = ModelSettings(engine="scripted")
    server = OpenAI(base_url=base_url, model="scripted", concurrency=slots)
    with ReplyCache(path) as cache:
        async with (
            open_model("m", "instruct", server, settings=settings, cache=cache) as model,
            asyncio.TaskGroup() as group,
        ):
            for number in range(count):
                group.create_task(ask(model, number))


async def ask(model: Model, number: int) -> None:
    answer = await model.ask(Chat((Message("user", str(number)),)), Sampling(max_tokens=64))
    assert answer.reply.text == f"echo: {number}"
    print(number, flush=True)  # noqa: T201


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])))
