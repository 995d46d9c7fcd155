"""From a row of models.yaml to a model that answers: an API that is there, or a server started for it."""

import asyncio
import os
import shutil
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, Protocol
from urllib.parse import urlsplit

from triathlon_runner import serving
from triathlon_runner.endpoints import (
    Answer,
    ApiConfig,
    Chat,
    Completion,
    EndpointStats,
    LocalServer,
    Model,
    OpenAIModel,
    ReplyCache,
    Sampling,
    open_model,
)
from triathlon_runner.registry import ModelRow, Registry

DEFAULT_CONCURRENCY = 32
WATCH_SECONDS = 15.0
"""Between two looks at a server that we started."""


def why_not(row: ModelRow) -> str | None:
    """Why the model cannot run here, in one sentence; None where it can. Asks nobody."""
    if row.api is not None:
        missing = row.api.missing_variables(os.environ)
        return f"no key: set the environment variable {missing[0]}" if missing else None
    if row.serve is not None and row.serve.device == "cuda" and shutil.which("nvidia-smi") is None:
        return "no GPU: nvidia-smi is not here"
    return None


class Reached(Protocol):
    """A model that answers, and how it does."""

    @property
    def model(self) -> Model: ...

    @property
    def served_model(self) -> str:
        """The model's name as its server gave it."""
        ...

    @property
    def served_by(self) -> str: ...

    @property
    def weights(self) -> str:
        """What a server that we started has loaded, pinned; empty for an API."""
        ...

    @property
    def stats(self) -> EndpointStats | None:
        """Counters of the endpoint; None where the model keeps none."""
        ...

    @property
    def slots(self) -> int:
        """Requests that may be in flight."""
        ...


@dataclass(slots=True)
class RowModel:
    """A model with the row's own settings put over the suites'; remembers the name the server gave."""

    inner: Model
    served_by: str
    served_model: str
    slots: int
    temperature: float | None = None
    max_tokens: int | None = None
    weights: str = ""

    @property
    def model(self) -> Model:
        return self

    @property
    def stats(self) -> EndpointStats | None:
        return self.inner.stats if isinstance(self.inner, OpenAIModel) else None

    @property
    def id(self) -> str:
        return self.inner.id

    @property
    def kind(self) -> Literal["instruct", "base"]:
        return self.inner.kind

    async def ask(self, prompt: Chat | Completion, sampling: Sampling, *, sample: int = 0) -> Answer:
        """Asks once.

        Raises:
            EndpointError: no answer after all retries.
        """
        changed = replace(
            sampling,
            temperature=sampling.temperature if self.temperature is None else self.temperature,
            max_tokens=sampling.max_tokens if self.max_tokens is None else self.max_tokens,
        )
        answer = await self.inner.ask(prompt, changed, sample=sample)
        self.served_model = answer.served_model
        return answer


class Reacher:
    """Opens the models of one registry, with one cache of replies."""

    def __init__(
        self, registry: Registry, replies: ReplyCache, cache: Path, say: Callable[[str], None]
    ) -> None:
        self._registry = registry
        self._replies = replies
        self._cache = cache
        self._say = say
        self._machine: serving.Machine | None = None

    @asynccontextmanager
    async def reach(self, row: ModelRow) -> AsyncIterator[Reached]:
        """The row's model while the block lasts; a server that was started for it is stopped behind it.

        Raises:
            UserError: the key is missing; the server cannot be installed or started (with its log's end).
        """
        slots = self._registry.setting(row, "concurrency") or DEFAULT_CONCURRENCY
        if row.api is not None:
            source = row.api
            if source.concurrency is None:
                source = source.model_copy(update={"concurrency": slots})
            host = urlsplit(source.base_url).netloc
            async with self._open(row, source, f"api {host}", source.concurrency or slots) as model:
                yield model
            return
        assert row.serve is not None, "the registry lets through only rows with api or serve"
        log = self._cache / "logs" / f"{row.id}.log"
        if self._machine is None:
            self._machine = await serving.Machine.look()
        async with serving.serve(
            row.serve,
            model_id=row.id,
            cache=self._cache,
            log=log,
            report=self._say,
            machine=self._machine,
        ) as server:
            local = LocalServer(
                base_url=server.base_url,
                model=server.model,
                engine=str(server.described),
                revision=server.described.weights,
                slots=slots,
            )
            async with (
                self._open(row, local, str(server.described), slots) as model,
                asyncio.TaskGroup() as group,
            ):
                watch = group.create_task(_keep_alive(server))
                yield model
                watch.cancel()

    @asynccontextmanager
    async def _open(
        self, row: ModelRow, source: ApiConfig | LocalServer, served_by: str, slots: int
    ) -> AsyncIterator[RowModel]:
        async with open_model(row.id, row.kind, source, cache=self._replies) as model:
            yield RowModel(
                model,
                served_by,
                source.model,
                slots,
                self._registry.setting(row, "temperature"),
                self._registry.setting(row, "max_tokens"),
                weights=source.revision if isinstance(source, LocalServer) else "",
            )


async def _keep_alive(server: serving.Server) -> None:
    """Restarts a dead or stalled server; questions meanwhile wait and are asked again.

    Raises:
        ServerLostError: it died too often, or does not come up again.
    """
    while True:
        await asyncio.sleep(WATCH_SECONDS)
        await server.ensure()
