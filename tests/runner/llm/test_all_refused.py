"""A server that answers every request with 429: on a clock that jumps, with the real queue in front."""

import asyncio
import random
import re
from itertools import pairwise

import pytest

from support.virtual_server import VirtualServer, ask
from support.virtual_time import run_virtually
from triathlon_runner.endpoints import ServerUnreachableError

MINUTE = 60.0


def refused(server: VirtualServer, questions: int = 2) -> tuple[str, float, list[tuple[float, str]]]:
    """Why the model was stopped, how many seconds that took, and the lines shown with their moments."""
    lines: list[tuple[float, str]] = []

    def say(line: str) -> None:
        lines.append((asyncio.get_running_loop().time(), line))

    async def main() -> str:
        with pytest.raises(ExceptionGroup) as caught:
            await ask(server, chains=questions, length=1, say=say)
        (error,) = {str(error) for error in caught.value.exceptions}
        assert all(isinstance(each, ServerUnreachableError) for each in caught.value.exceptions)
        return error

    error, seconds = run_virtually(main())
    return error, seconds, lines


@pytest.mark.parametrize("questions", [1, 2, 40])
@pytest.mark.parametrize("retry_after", [False, True])
def test_stops_after_the_outage(questions: int, retry_after: bool) -> None:
    """After ten minutes of nothing but 429s the model stops, soon, and the message says what to do."""
    error, seconds, _ = refused(VirtualServer(at_once=0, retry_after=retry_after), questions)
    assert 10 * MINUTE <= seconds < 12.5 * MINUTE
    for part in (
        "longer than 10 min with --outage",
        "Rate limit reached",
        "`concurrency`",
        "`requests_per_minute`",
    ):
        assert part in error
    assert "quota at the provider" in error


def test_is_shown_every_minute() -> None:
    """While all wait, a line about once a minute says for how long: it comes with a try."""
    _, seconds, lines = refused(VirtualServer(at_once=0))
    moments = [0.0, *(moment for moment, _ in lines), seconds]
    assert max(later - before for before, later in pairwise(moments)) <= 2 * MINUTE
    assert min(later - before for before, later in pairwise(moments[1:-1])) >= MINUTE
    first = lines[0][1]
    assert re.match(r"no answer for \d+ s: 429, .*Rate limit reached.* for 10 min at most", first)


def test_one_slow_reply_at_a_time() -> None:
    """A server that takes one request at a time and refuses all others meanwhile goes on answering.

    Each answer takes longer than an outage may last.
    """
    lines: list[str] = []
    server = VirtualServer(lambda rng: 15 * MINUTE, at_once=1)
    stats, _ = run_virtually(ask(server, chains=3, length=1, say=lines.append))
    assert stats.answered == 3
    assert not lines


def test_rare_answers() -> None:
    """A server that allows one request in five minutes is asked until all is answered, without an end."""

    class Rarely(VirtualServer):
        def _in_time(self, now: float) -> bool:
            if now < self.next_at:
                return False
            self.next_at = now + 5 * MINUTE
            return True

        next_at = 0.0

    server = Rarely(rng=random.Random(1))
    stats, seconds = run_virtually(ask(server, chains=4, length=1))
    assert stats.answered == 4
    assert seconds > 15 * MINUTE
