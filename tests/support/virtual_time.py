"""An event loop whose clock jumps to the next timer: hours of waiting pass in no time. No network on it."""

import asyncio
import selectors
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


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
