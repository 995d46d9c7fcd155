"""From a row of models.yaml to a model that answers: an API that is there, or a server started for it."""

import asyncio
import os
import shutil
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Literal, Protocol
from urllib.parse import urlsplit

from triathlon_runner.endpoints import (
    Answer,
    Chat,
    Completion,
    EndpointStats,
    Limits,
    LocalServer,
    Model,
    OpenAIModel,
    ReplyCache,
    Sampling,
    open_model,
)
from triathlon_runner.registry import ModelRow, Registry
from triathlon_runner.schedule._control import Control
from triathlon_runner.schedule._managed import LIMITS, ManagedModel
from triathlon_runner.serving import LocalServers, Served, Servers

DEFAULT_CONCURRENCY = 32


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
        """What the server has loaded, as far as it is known: weights, quantisation, context."""
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
    temperature: Callable[[float], float] = float
    """From the suite's temperature to the one that the row is asked at."""
    max_tokens: int | None = None
    weights: str = ""

    @property
    def model(self) -> Model:
        return self

    @property
    def stats(self) -> EndpointStats | None:
        return self.inner.stats if isinstance(self.inner, OpenAIModel | ManagedModel) else None

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
            temperature=self.temperature(sampling.temperature),
            max_tokens=sampling.max_tokens if self.max_tokens is None else self.max_tokens,
        )
        answer = await self.inner.ask(prompt, changed, sample=sample)
        self.served_model = answer.served_model
        return answer


class Reacher:
    """Opens the models of one registry, with one cache of replies."""

    def __init__(
        self,
        registry: Registry,
        replies: ReplyCache,
        cache: Path,
        say: Callable[[str], None],
        servers: Servers | None = None,
        control: Control | None = None,
        *,
        limits: Limits | None = None,
        timeout_seconds: float | None = None,
    ) -> None:
        """Reads nothing yet.

        Args:
            registry: The rows.
            replies: The cache of replies.
            cache: Folder of logs, environments and weights.
            say: Gets a line where a server is started, away, or lets us wait.
            servers: Where rows with `serve:` are served; left out: on this machine.
            control: What is asked before each request is sent; left out: all may be sent.
            limits: How hard and how long rows with `api:` are asked.
            timeout_seconds: Longest wait for one answer, in place of what the rows say.
        """
        self._may_send = (control or Control()).may_send
        self._limits, self._timeout = limits or Limits(), timeout_seconds
        self._registry = registry
        self._replies = replies
        self._logs = cache / "logs"
        self._say = say
        self._servers = servers or LocalServers(cache)

    @asynccontextmanager
    async def reach(self, row: ModelRow) -> AsyncIterator[Reached]:
        """The row's model while the block lasts; a server that was started for it is stopped behind it.

        Raises:
            UserError: the key is missing; the server cannot be installed or started (with its log's end).
        """
        slots = self._registry.setting(row, "concurrency") or DEFAULT_CONCURRENCY
        async with self._asked(row, slots) if row.api is not None else self._served(row, slots) as model:
            yield model

    @asynccontextmanager
    async def _asked(self, row: ModelRow, slots: int) -> AsyncIterator[RowModel]:
        assert row.api is not None, "the caller has looked"
        source = row.api
        if source.concurrency is None:
            source = source.model_copy(update={"concurrency": slots})
        if self._timeout is not None:
            source = source.model_copy(update={"timeout_seconds": self._timeout})
        host = urlsplit(source.base_url).netloc
        opened = open_model(
            row.id,
            row.kind,
            source,
            cache=self._replies,
            limits=self._limits,
            may_send=self._may_send,
            say=self._say,
        )
        async with opened as model:
            server = await model.identify_server()
            served_by = f"api {host} ({server.name})" if server.name else f"api {host}"
            reached = self._row_model(row, model, served_by, source.model, source.concurrency or slots)
            reached.weights = server.identity
            yield reached

    @asynccontextmanager
    async def _served(self, row: ModelRow, slots: int) -> AsyncIterator[RowModel]:
        assert row.serve is not None, "the registry lets through only rows with api or serve"
        log = self._logs / f"{row.id}.log"
        async with self._servers.serve(row.serve, model_id=row.id, log=log, report=self._say) as server:
            source = _source(server, slots)
            async with (
                open_model(
                    row.id,
                    row.kind,
                    source,
                    cache=self._replies,
                    limits=LIMITS,
                    may_send=self._may_send,
                    say=self._say,
                ) as model,
                asyncio.TaskGroup() as group,
            ):
                watch = group.create_task(server.watch())
                managed = ManagedModel(model, server)
                reached = self._row_model(row, managed, source.engine, source.model, slots)
                reached.weights = source.revision
                yield reached
                watch.cancel()

    def _row_model(
        self, row: ModelRow, model: OpenAIModel | ManagedModel, served_by: str, name: str, slots: int
    ) -> RowModel:
        return RowModel(
            model,
            served_by,
            name,
            slots,
            partial(self._registry.temperature, row),
            self._registry.setting(row, "max_tokens"),
        )


def _source(server: Served, slots: int) -> LocalServer:
    return LocalServer(
        base_url=server.base_url,
        model=server.model,
        engine=str(server.described),
        revision=server.described.weights,
        slots=slots,
        key=server.key,
    )
