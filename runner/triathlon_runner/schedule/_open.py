"""Opens the model of a row of models.yaml: connects to its API, or starts a server for it."""

import asyncio
import shutil
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

from triathlon_runner import llm
from triathlon_runner.llm import ApiConfig, Limits, Model, ModelSettings, OpenAI, ReplyCache, open_model
from triathlon_runner.models_yaml import ModelRow, Registry
from triathlon_runner.schedule._model_wrappers import (
    LONGEST_REPLY_SECONDS,
    RESTARTING_LIMITS,
    OpenModel,
    RestartingModel,
)
from triathlon_runner.schedule._stop import Control
from triathlon_runner.serving import DEFAULT_AT_ONCE, Machine, Server, serve


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
        *,
        control: Control | None = None,
        limits: Limits | None = None,
        timeout_seconds: float | None = None,
    ) -> None:
        """Reads nothing yet.

        Args:
            registry: The rows.
            replies: The cache of replies.
            cache: Folder of logs, environments and weights.
            say: Gets a line where a server is started, is unreachable, or asks us to wait.
            control: What is asked before each request is sent; left out: all may be sent.
            limits: How hard and how long rows with `api:` are asked.
            timeout_seconds: Longest wait for one answer, in place of what the rows say.
        """
        self._registry = registry
        self._replies = replies
        self._cache = cache
        self._say = say
        self._may_send = (control or Control()).may_send
        self._limits = limits or Limits()
        self._changes = {} if timeout_seconds is None else {"timeout_seconds": timeout_seconds}
        self._machine = Machine()

    @asynccontextmanager
    async def open(self, row: ModelRow) -> AsyncIterator[OpenModel]:
        """Opens the row's model while the block lasts; stops a server that was started for it after that.

        Raises:
            UserError: the key is missing; the server cannot be installed or started (with its log's end).
        """
        async with self.connect(row) as (connection, server), AsyncExitStack() as stack:
            config = connection.endpoint.config
            model: Model = connection
            if server is None:
                answering = await connection.identify_server()
                weights, served_by = answering.identity, f"api {urlsplit(config.base_url).netloc}"
                served_by += f" ({answering.name})" if answering.name else ""
            else:
                weights, served_by = config.revision, server.served_by
                model = RestartingModel(connection, server)
                group = await stack.enter_async_context(asyncio.TaskGroup())
                stack.callback(group.create_task(server.watch()).cancel)
            yield OpenModel(
                model,
                served_by=served_by,
                served_model=config.model,
                slots=config.concurrency or DEFAULT_AT_ONCE,
                weights=weights,
                stats=connection.stats,
                scrub_evidence=connection.scrub_evidence,
                temperature=partial(self._registry.temperature, row),
                max_tokens=self._registry.setting(row, "max_tokens"),
            )

    @asynccontextmanager
    async def connect(self, row: ModelRow) -> AsyncIterator[tuple[llm.OpenModel, Server | None]]:
        """Yields a connection to the row's model, of which nothing is known yet, and a server of our own.

        Raises:
            UserError: as `open`.
        """
        slots = self._registry.setting(row, "concurrency")
        async with AsyncExitStack() as stack:
            server = None
            if row.api is not None:
                changes = {"concurrency": row.api.concurrency or slots or DEFAULT_AT_ONCE, **self._changes}
                source: ApiConfig = row.api.model_copy(update=changes)
                engine, limits, context = "", self._limits, row.context
            else:
                server = await stack.enter_async_context(self._serve(row, slots))
                engine, context = server.served_by, self._context_served(row)
                limits = RESTARTING_LIMITS
                source = OpenAI(
                    base_url=server.base_url,
                    model=server.model,
                    revision=server.weights,
                    concurrency=slots or await server.at_once(),
                    timeout_seconds=LONGEST_REPLY_SECONDS,
                ).model_copy(update=self._changes)
            connection = await stack.enter_async_context(
                open_model(
                    row.id,
                    row.kind,
                    source,
                    settings=ModelSettings(engine, context, row.system_prompt == "merge"),
                    cache=self._replies,
                    limits=limits,
                    may_send=self._may_send,
                    say=self._say,
                )
            )
            yield connection, server

    @staticmethod
    def _context_served(row: ModelRow) -> int | None:
        """Returns the context of a model that we serve: 0 where it is all that the model can do."""
        assert row.serve is not None
        return row.context or (None if row.serve.max_model_len else 0)

    @asynccontextmanager
    async def _serve(self, row: ModelRow, slots: int | None) -> AsyncIterator[Server]:
        assert row.serve is not None, "the registry lets through only rows with api or serve"
        async with serve(
            row.serve,
            model_id=row.id,
            cache=self._cache,
            log=self._cache / "logs" / f"{row.id}.log",
            report=self._say,
            machine=self._machine,
            concurrency=slots,
        ) as server:
            yield server
