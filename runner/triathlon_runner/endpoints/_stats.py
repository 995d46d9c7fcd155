"""What the progress panel shows of an endpoint."""

import math
import time
from collections import Counter
from dataclasses import dataclass, field

from triathlon_runner.records import Outcome

CHARACTERS_A_TOKEN = 3.5
"""Of prompts that are half prose, half code; tokenisers differ by a third in either direction."""


def estimated_tokens(*texts: str) -> int:
    """About how many tokens texts have together."""
    return math.ceil(sum(map(len, texts)) / CHARACTERS_A_TOKEN)


@dataclass(slots=True)
class EndpointStats:
    """Counters of one model since it was opened; read at any time."""

    in_flight: int = 0
    oldest_sent: float | None = None
    """When the oldest request in flight was sent (`time.monotonic`); None where none is in flight."""
    most_in_flight: int = 0
    """Most requests that were ever in flight at once."""
    limit: int = 0
    """Most requests that may be in flight now. Fewer than are in flight where it was lowered meanwhile."""
    answered: int = 0
    """Replies of the server, cached ones not counted."""
    from_cache: int = 0
    """Questions that the cache answered, those included that waited for an equal one in flight."""
    failed: int = 0
    """Questions without an answer after all retries."""
    unexplained: int = 0
    """Of these, those since the last change of status that met an HTTP error that no rule explains."""
    retries: int = 0
    """Requests that repeat one without an answer: a question's first try is none of them."""
    throttled: int = 0
    truncated: int = 0
    """Replies that were cut at the token limit."""
    input_tokens: int = 0
    output_tokens: int = 0
    uncounted: int = 0
    """Replies for which the server gave no token counts; they are missing in the two numbers above."""
    lost: int = 0
    """Requests whose reply never came whole, or could not be read: the server may charge for them."""
    estimated_input_tokens: int = 0
    """Of the uncounted replies by the length of the texts, of the lost ones by the mean of the others."""
    estimated_output_tokens: int = 0
    busy_seconds: float = 0.0
    """Time in which at least one request was in flight that was answered later. Failed tries and the time
    before the server was up do not count."""
    last_error: str = ""
    retried_error: str = ""
    """The last error of a request that is tried again, while the server has not answered any since."""
    stopped: str = ""
    """Why the model was stopped; empty while it can be asked."""
    outcomes: Counter[Outcome] = field(default_factory=Counter)
    """Outcomes of the questions, those that the cache answered included: empty replies by the outcome that
    they lead to, all others as passed."""
    _busy: list[tuple[float, float]] = field(default_factory=list, repr=False)
    """Spans that do not touch, in order."""

    def count_answer(self, input_tokens: int, output_tokens: int, seconds: float = 0.0) -> None:
        """Adds a reply of the server that came just now, so many seconds after it was asked for."""
        now = time.monotonic()
        self.answered += 1
        self.retried_error = ""
        self.input_tokens += input_tokens
        self.output_tokens += output_tokens
        self._add_busy(now - seconds, now)

    def count_uncounted(self, input_tokens: int, output_tokens: int) -> None:
        """Adds what a reply probably took that the server has not counted."""
        self.uncounted += 1
        self.estimated_input_tokens += input_tokens
        self.estimated_output_tokens += output_tokens

    def count_lost_reply(self, asked_tokens: int) -> None:
        """Adds what a lost reply probably took: the mean of the others, or its question where none came."""
        if replies := self.answered + self.lost:
            asked_tokens = (self.input_tokens + self.estimated_input_tokens) // replies
            self.estimated_output_tokens += (self.output_tokens + self.estimated_output_tokens) // replies
        self.estimated_input_tokens += asked_tokens
        self.lost += 1

    def _add_busy(self, begin: float, end: float) -> None:
        """Adds a span to the union of those before; none of them ended later."""
        while self._busy and self._busy[-1][1] >= begin:
            earlier = self._busy.pop()
            self.busy_seconds -= earlier[1] - earlier[0]
            begin = min(begin, earlier[0])
        self._busy.append((begin, end))
        self.busy_seconds += end - begin

    @property
    def tokens_per_second(self) -> float | None:
        """Output tokens a second while the server was answering; None until it has answered.

        Over all replies, not over the last seconds: a slow server's replies may come all at once, minutes
        after they were asked for, and a short window would count none of that time, or no reply.
        """
        return self.output_tokens / self.busy_seconds if self.busy_seconds else None
