"""Other harnesses' own clients: `python peers.py NAME BASE_URL SLOTS COUNT` prints seconds and CPU seconds.

Runs in an environment of its own, which has them (`pip install inspect_ai 'lm-eval[api]'`), not in ours.
"""

import asyncio
import itertools
import json
import sys
import time
from collections.abc import Awaitable, Callable
from typing import Any

PROMPT = "Write a function that returns the second largest number of a list.\n" * 10
Run = Callable[[int, int], Awaitable[object]]
"""Asks `count` questions, the first of which has the number `first`."""


def lm_eval(base_url: str, slots: int) -> Run:
    """lm-evaluation-harness: the chat client and its way of sending a batch."""
    from lm_eval.models.openai_completions import LocalChatCompletion

    client: Any = LocalChatCompletion(
        base_url=f"{base_url}/chat/completions",
        model="scripted",
        num_concurrent=slots,
        tokenizer_backend=None,
        max_gen_toks=1024,
        max_retries=1,
    )

    async def run(first: int, count: int) -> object:
        questions = [[{"role": "user", "content": f"{PROMPT}{n}"}] for n in range(first, first + count)]
        settings = {"max_gen_toks": 1024, "temperature": 0}
        return await client.get_batched_requests(
            questions, [("key", n) for n in range(count)], generate=True, gen_kwargs=settings
        )

    return run


def inspect(base_url: str, slots: int) -> Run:
    """inspect_ai: its client for any server that speaks the protocol, asked by as many workers as slots."""
    from inspect_ai.model import GenerateConfig, get_model

    config = GenerateConfig(max_connections=slots, max_tokens=1024, temperature=0, max_retries=0)
    model: Any = get_model(
        "openai-api/local/scripted", base_url=base_url, api_key="none", config=config, memoize=False
    )
    return _workers(slots, lambda number: model.generate(f"{PROMPT}{number}"))


def openai(base_url: str, slots: int) -> Run:
    """OpenAI's client as its documentation uses it."""
    from openai import AsyncOpenAI

    client = AsyncOpenAI(base_url=base_url, api_key="none", max_retries=0)

    def ask(number: int) -> Awaitable[object]:
        answer: Awaitable[object] = client.chat.completions.create(
            model="scripted",
            messages=[{"role": "user", "content": f"{PROMPT}{number}"}],
            max_tokens=1024,
            temperature=0,
            top_p=1,
        )
        return answer

    return _workers(slots, ask)


def _workers(slots: int, ask: Callable[[int], Awaitable[object]]) -> Run:
    async def run(first: int, count: int) -> object:
        numbers = itertools.islice(itertools.count(first), count)

        async def work() -> None:
            for number in numbers:
                await ask(number)

        return await asyncio.gather(*(work() for _ in range(slots)))

    return run


CLIENTS = {"lm_eval": lm_eval, "inspect_ai": inspect, "openai": openai}


async def measure(run: Run, slots: int, count: int) -> dict[str, float]:
    """One round to warm up, then the measured one."""
    await run(0, slots)
    began, cpu = time.perf_counter(), time.process_time()
    await run(slots, count)
    return {"seconds": time.perf_counter() - began, "cpu": time.process_time() - cpu}


if __name__ == "__main__":
    name, url, width, total = sys.argv[1:]
    measured = asyncio.run(measure(CLIENTS[name](url, int(width)), int(width), int(total)))
    print(json.dumps(measured))
