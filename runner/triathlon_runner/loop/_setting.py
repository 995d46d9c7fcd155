"""The settings in which one loop protocol differs from another."""

from dataclasses import dataclass
from typing import Final, Literal

from triathlon_runner.endpoints import Sampling

PAPER_LOOPS: Final = 10
"""M of EVALOOOP, section 3.6."""
MAX_TOKENS: Final = 1024
"""For either step (EVALOOOP, section 3.6)."""

Summary = Literal["initial", "detailed", "upper", "structured", "simplified", "redundant"]
Attack = Literal["upper", "structured", "redundant"]
BASE_STOPS: Final = ('\n"""', "\nif __name__", "\nprint(", "\nassert ")
"""Where a base model has left the function and begins another example; four, the most that APIs take."""


@dataclass(frozen=True, slots=True)
class Setting:
    """One protocol. The defaults are the paper's own."""

    max_loops: int = PAPER_LOOPS
    temperature: float = 0.0
    summary: Summary = "initial"
    """Which of the six summary prompts (EVALOOOP, listing 3.2)."""
    attack: Attack | None = None
    """The change made to the first prompt (EVALOOOP, listing 3.1)."""
    as_written: bool = False
    """Whether programs and summaries count as the model wrote them, as in the paper's own runs.

    Of a reply only prose, fences and reasoning are removed: self-tests behind the function run with it, its
    one function is not found under another name, and an empty summary leaves the assertion as the prompt.
    """

    def sampling(self, *stop: str) -> Sampling:
        """Decoding settings of both steps."""
        return Sampling(max_tokens=MAX_TOKENS, temperature=self.temperature, top_p=1.0, stop=stop)
