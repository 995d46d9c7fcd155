"""What the progress panel shows of an endpoint."""

import time
from collections import Counter, deque
from dataclasses import dataclass, field

_WINDOW_SECONDS = 30.0


@dataclass(slots=True)
class EndpointStats:
    """Counters of one model since it was opened; read at any time."""

    in_flight: int = 0
    waiting: int = 0
    """Questions in the queue for a slot."""
    limit: int = 0
    """Concurrency that the search has found so far."""
    answered: int = 0
    """Replies of the server, cached ones not counted."""
    from_cache: int = 0
    shared: int = 0
    """Questions that waited for the same one in flight."""
    failed: int = 0
    """Questions without an answer after all retries."""
    retries: int = 0
    """Tries that gave no answer; nearly all are followed by another."""
    throttled: int = 0
    truncated: int = 0
    """Replies that were cut at the token limit."""
    input_tokens: int = 0
    output_tokens: int = 0
    last_error: str = ""
    stopped: str = ""
    """Why the model was stopped; empty while it can be asked."""
    oddities: Counter[str] = field(default_factory=Counter)
    """Harmless departures from the protocol, and how often."""
    _recent: deque[tuple[float, int]] = field(default_factory=lambda: deque(maxlen=4096), repr=False)

    def count_answer(self, input_tokens: int, output_tokens: int) -> None:
        """Adds a reply of the server."""
        self.answered += 1
        self.input_tokens += input_tokens
        self.output_tokens += output_tokens
        self._recent.append((time.monotonic(), output_tokens))

    @property
    def tokens_per_second(self) -> float:
        """Output tokens a second over the last half minute."""
        now = time.monotonic()
        recent = [(moment, tokens) for moment, tokens in self._recent if now - moment <= _WINDOW_SECONDS]
        if not recent:
            return 0.0
        return sum(tokens for _, tokens in recent) / max(now - recent[0][0], 1.0)
