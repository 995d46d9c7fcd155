"""How a run, and each model's part of it, ended."""

from collections import Counter
from dataclasses import dataclass, field


@dataclass(slots=True)
class Summary:
    """How a run ended."""

    finished: int = 0
    open: int = 0
    other_protocol: dict[str, str] = field(default_factory=dict)
    """`model suite` whose lines were made under other conditions, and which: kept, not mixed, not asked
    again."""
    errors: list[str] = field(default_factory=list)
    """Models that could not be run to their end, each with what to do."""
    failures: Counter[str] = field(default_factory=Counter)
    """Why units stay open."""
    broken: int = 0
    """Units that stay open because of an error in this program; the log has the tracebacks."""
    notes: list[str] = field(default_factory=list)
    """What else a reader of the results should know, such as a judge that was lost on the way."""
    stopped: str = ""
    """Why nothing new was started any more; empty where everything was."""

    @property
    def exit_code(self) -> int:
        return 2 if self.errors else 1 if self.open else 0


@dataclass(slots=True)
class ModelEnd:
    """How the last try of one model ended."""

    open: int = 0
    failures: Counter[str] = field(default_factory=Counter)
    errors: list[str] = field(default_factory=list)
    server_is_unreachable: bool = False
    """Its server does not answer: another try, later, may succeed."""
