"""What a run sees of the model servers that are started for it."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from triathlon_runner.serving._config import ServeConfig


@dataclass(frozen=True, slots=True)
class ServerInfo:
    """How a model is served; part of the manifest."""

    engine: str
    version: str
    dtype: str
    device: str
    deterministic: bool
    """Whether greedy output does not depend on what else is answered at the same time."""
    weights: str
    """Origin of the weights, pinned by checksum or commit."""
    arguments: tuple[str, ...]

    def __str__(self) -> str:
        repeats = "greedy output repeats" if self.deterministic else "greedy output may change with the load"
        return f"{self.engine} {self.version} ({self.dtype}, {self.device}; {repeats})"


class Served(Protocol):
    """A running server that can be restarted."""

    @property
    def model(self) -> str:
        """The name under which it answers."""
        ...

    @property
    def base_url(self) -> str:
        """Ends in /v1; the same after a restart."""
        ...

    @property
    def info(self) -> ServerInfo: ...

    @property
    def starts(self) -> int:
        """How often it has been started so far."""
        ...

    async def ensure(self) -> None:
        """Restarts it if it is dead or stalled, and returns when it answers.

        Raises:
            ServerLostError: it was restarted too often within an hour, or does not come up again.
        """
        ...

    async def watch(self) -> None:
        """Calls `ensure` again and again; never returns.

        Raises:
            ServerLostError: it was restarted too often within an hour, or does not come up again.
        """
        ...


class Servers(Protocol):
    """Starts model servers."""

    def serve(
        self, config: ServeConfig, *, model_id: str, log: Path, report: Callable[[str], None]
    ) -> AbstractAsyncContextManager[Served]:
        """Starts a server as soon as there is room, and always stops it; entering raises ServingError."""
        ...
