"""Opens the model of a row of models.yaml: connects to its API, or starts a server for it."""

import asyncio
import shutil
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

from triathlon_runner.endpoints import (
    ApiConfig,
    Limits,
    ReplyCache,
    open_model,
)
from triathlon_runner.registry import ModelRow, Registry
from triathlon_runner.schedule._models import RESTARTING_LIMITS, OpenModel, RestartingModel
from triathlon_runner.schedule._stop import Control
from triathlon_runner.serving import LocalServers, Served, Servers

DEFAULT_CONCURRENCY = 32


def why_not(row: ModelRow) -> str | None:
    """Why the model cannot run here, in one sentence; None where it can. Sends no request."""
    if row.api is not None:
        missing = row.api.missing_variables()
        return f"no key: set the environment variable {missing[0]}" if missing else None
    if row.serve is not None and row.serve.device == "cuda" and shutil.which("nvidia-smi") is None:
        return "no GPU: nvidia-smi is not here"
    return None


class ModelOpener:
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
            say: Gets a line where a server is started, is unreachable, or asks us to wait.
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
    async def open(self, row: ModelRow) -> AsyncIterator[OpenModel]:
        """Opens the row's model while the block lasts; stops a server that was started for it after that.

        Raises:
            UserError: the key is missing; the server cannot be installed or started (with its log's end).
        """
        slots = self._registry.setting(row, "concurrency") or DEFAULT_CONCURRENCY
        async with self._api(row, slots) if row.api is not None else self._served(row, slots) as model:
            yield model

    @asynccontextmanager
    async def _api(self, row: ModelRow, slots: int) -> AsyncIterator[OpenModel]:
        assert row.api is not None, "`open` has checked it"
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
            yield OpenModel(
                model,
                served_by=f"api {host} ({server.name})" if server.name else f"api {host}",
                served_model=source.model,
                slots=source.concurrency or slots,
                weights=server.identity,
                stats=model.stats,
                temperature=partial(self._registry.temperature, row),
                max_tokens=self._registry.setting(row, "max_tokens"),
            )

    @asynccontextmanager
    async def _served(self, row: ModelRow, slots: int) -> AsyncIterator[OpenModel]:
        assert row.serve is not None, "the registry lets through only rows with api or serve"
        log = self._logs / f"{row.id}.log"
        async with self._servers.serve(row.serve, model_id=row.id, log=log, report=self._say) as server:
            source = _source(server, slots)
            async with (
                open_model(
                    row.id,
                    row.kind,
                    source,
                    engine=str(server.info),
                    cache=self._replies,
                    limits=RESTARTING_LIMITS,
                    may_send=self._may_send,
                    say=self._say,
                ) as model,
                asyncio.TaskGroup() as group,
            ):
                watch = group.create_task(server.watch())
                yield OpenModel(
                    RestartingModel(model, server),
                    served_by=str(server.info),
                    served_model=source.model,
                    slots=slots,
                    weights=source.revision,
                    stats=model.stats,
                    temperature=partial(self._registry.temperature, row),
                    max_tokens=self._registry.setting(row, "max_tokens"),
                )
                watch.cancel()


def _source(server: Served, slots: int) -> ApiConfig:
    return ApiConfig(
        base_url=server.base_url, model=server.model, revision=server.info.weights, concurrency=slots
    )
