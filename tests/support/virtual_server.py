"""A model server without a network, on an event loop whose clock jumps: hours of waiting pass in no time."""

import asyncio
import json
import math
import random
import selectors
from collections import deque
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any, TypeVar

from triathlon_runner.llm import ApiConfig, Chat, EndpointStats, Limits, Message, OpenAI, Sampling
from triathlon_runner.llm._api import Lost, TimedOut
from triathlon_runner.llm._model import OpenModel
from triathlon_runner.llm._queue import RequestQueue
from triathlon_runner.llm.provider import HttpReply, Secrets, Send

T = TypeVar("T")
CONFIG = OpenAI(base_url="http://127.0.0.1:1/v1", model="m")
FAULTS = ("429", "429 later", "500", "503", "reset", "cut", "utf-8", "null", "type")


def body_of(text: str | None, model: str = "m") -> bytes:
    """A chat's reply."""
    choice = {"index": 0, "finish_reason": "stop", "message": {"content": text}}
    usage = {"prompt_tokens": 10, "completion_tokens": 5}
    return json.dumps({"model": model, "choices": [choice], "usage": usage}).encode()


@dataclass
class VirtualServer:
    """Answers after `latency` seconds, from the first to the second; refuses what its limits do not allow."""

    latency: tuple[float, float] = (0.01, 0.01)
    at_once: int = 10**9
    a_minute: int = 10**9
    burst: int | None = None
    """Requests that come through at once before the minute's limit is felt; None: a window of 60 s."""
    is_slow: bool = False
    """What it does not allow is not refused, but comes too late."""
    fault_share: float = 0.0
    retry_after: bool = False
    rng: random.Random = field(default_factory=lambda: random.Random(1))
    replies: list[tuple[float, int]] = field(default_factory=list)
    """Moment and status of each reply to a request that was refused or answered."""
    busy: int = 0
    _recent: deque[float] = field(default_factory=deque)
    _empty_at: float = -math.inf
    """When the burst was used up."""

    async def send(self, path: str, body: dict[str, Any] | None, seconds: float) -> HttpReply:
        loop = asyncio.get_running_loop()
        if self.busy >= self.at_once or not self._in_time(loop.time()):
            await asyncio.sleep(3.0 if self.is_slow else 0.002)
            if self.is_slow:
                raise TimedOut("too late")
            return self._said(429, b'{"error": {"message": "Rate limit reached"}}', self.retry_after)
        if self.rng.random() < self.fault_share:
            return await self._fault(self.rng.choice(FAULTS))
        self.busy += 1
        try:
            least, most = self.latency
            await asyncio.sleep(least if least == most else self.rng.uniform(least, most))
        finally:
            self.busy -= 1
        return self._said(200, body_of("yes"))

    async def _fault(self, kind: str) -> HttpReply:
        await asyncio.sleep(0.002)
        if kind in ("reset", "cut"):
            raise Lost(kind)
        if kind.startswith("429"):
            return self._said(429, b"", later=kind.endswith("later"))
        if kind in ("500", "503"):
            return self._said(int(kind), b"")
        return self._said(200, {"utf-8": b"\xff", "null": body_of(None), "type": b"<html>"}[kind])

    def _said(self, status: int, body: bytes, later: bool = False) -> HttpReply:
        self.replies.append((asyncio.get_running_loop().time(), status))
        return HttpReply(status, body, {"retry-after": "1"} if later else {})

    def _in_time(self, now: float) -> bool:
        if self.burst is None:
            while self._recent and self._recent[0] <= now - 60:
                self._recent.popleft()
            if len(self._recent) >= self.a_minute:
                return False
            self._recent.append(now)
            return True
        seconds_each = 60 / self.a_minute
        self._empty_at = max(self._empty_at, now - self.burst * seconds_each)
        if now - self._empty_at < seconds_each:
            return False
        self._empty_at += seconds_each
        return True

    def refused(self, since: float) -> float:
        """Share of 429s among the replies after that moment."""
        later = [status for moment, status in self.replies if moment >= since]
        return later.count(429) / max(1, len(later))

    def answered_at(self, share: float) -> float:
        """Moment at which this share of all answers had come."""
        moments = [moment for moment, status in self.replies if status == 200]
        return moments[round(share * len(moments)) - 1]


def model_behind(
    send: Send, config: ApiConfig = CONFIG, *, say: Callable[[str], None] = lambda _: None
) -> OpenModel:
    """A model whose requests a function answers; made inside a running event loop."""
    queue = RequestQueue(Limits(), say=say)
    return OpenModel("m", "instruct", config, queue, send, Secrets(config))


async def ask(
    server: VirtualServer,
    chains: int,
    length: int,
    pause: float = 0.0,
    say: Callable[[str], None] = lambda _: None,
) -> EndpointStats:
    """Asks that many chains of questions at once, in each one question behind the other."""
    model = model_behind(server.send, say=say)

    async def chain(number: int) -> None:
        for step in range(length):
            prompt = Chat((Message("user", f"{number} {step}"),))
            answer = await model.ask(prompt, Sampling(64))
            assert answer.reply.text == "yes"
            await asyncio.sleep(pause)

    async with asyncio.TaskGroup() as group:
        for number in range(chains):
            group.create_task(chain(number))
    return model.stats


class _Jumping(selectors.SelectSelector):
    """Does not wait: moves the clock instead."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        assert timeout is not None, "everybody waits for something that no timer brings"
        self.now += max(0.0, timeout)
        return []


class _Loop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        self._jumping = _Jumping()
        super().__init__(self._jumping)

    def time(self) -> float:
        return self._jumping.now


def run_virtually(main: Coroutine[Any, Any, T]) -> tuple[T, float]:
    """What the coroutine returns, and the seconds that it took on the loop's clock."""
    with asyncio.Runner(loop_factory=_Loop) as runner:
        result = runner.run(main)
        return result, runner.get_loop().time()
