"""What a run sees of servers that are started for it, wherever they are."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from ipaddress import ip_address
from pathlib import Path
from typing import Protocol

from triathlon_runner.serving._config import ServeConfig


@dataclass(frozen=True, slots=True)
class Listening:
    """Where a server listens, and who may ask it."""

    host: str = "127.0.0.1"
    """An address of the machine that the server is on."""
    key: str = field(default="", repr=False)
    """What a client has to show; empty where only this machine reaches the server."""

    def __post_init__(self) -> None:
        """Refuses what anybody could ask."""
        if not self.key and not ip_address(self.host).is_loopback:
            raise ValueError(f"a server that listens on {self.host} needs a key")


LOOPBACK = Listening()


@dataclass(frozen=True, slots=True)
class Described:
    """How a model was served; part of the manifest."""

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
    """One server that answers, and whoever starts it again."""

    @property
    def model(self) -> str:
        """The name under which it answers."""
        ...

    @property
    def base_url(self) -> str:
        """Ends in /v1; stays the same however often it is started again."""
        ...

    @property
    def key(self) -> str:
        """What it wants to be shown; empty where it wants nothing."""
        ...

    @property
    def described(self) -> Described: ...

    @property
    def starts(self) -> int:
        """How often it has been started so far."""
        ...

    async def ensure(self) -> None:
        """Starts it again if it is dead or stalled, and returns when it answers.

        Raises:
            ServerLostError: it was started too often within an hour, or does not come up again.
        """
        ...

    async def watch(self) -> None:
        """Ensures it for ever.

        Raises:
            ServerLostError: it was started too often within an hour, or does not come up again.
        """
        ...


class Servers(Protocol):
    """Where models are served: on this machine, or on the nodes of a cluster."""

    def serve(
        self, config: ServeConfig, *, model_id: str, log: Path, report: Callable[[str], None]
    ) -> AbstractAsyncContextManager[Served]:
        """Starts a server as soon as there is room, and always stops it; entering raises ServingError."""
        ...
