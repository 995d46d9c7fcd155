"""The models of a run: which can run here, opening one by its API or a server started for it, asking it."""

import asyncio
import hashlib
import json
import math
import shutil
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from triathlon_runner import llm
from triathlon_runner.models_yaml import ModelRow, Registry
from triathlon_runner.schedule._stop import Control
from triathlon_runner.serving import DEFAULT_AT_ONCE, Machine, ServeConfig, Server, ServerLostError, serve

_RESTARTING_LIMITS = llm.Limits(outage_seconds=math.inf, longest_wait=5.0, attempts=4)
"""No limit on an outage: a restart may take as long as a start. Few attempts, because after them the server
itself is checked."""
_LONGEST_REPLY_SECONDS = 6 * 3600.0
"""A server of ours is watched, so a slow one is waited for: a CPU may write long replies for hours."""
_UNANSWERED_IN_A_ROW = 10
"""Stop the model after this many questions in a row without an answer from a server that is healthy."""
ANSWERED: ContextVar[set[str]] = ContextVar("answered")
"""Gets the ids of the models whose servers answered a question of the unit that is run in this context."""
_OF_ASKING = """
    key_env send_key_to secret_headers concurrency requests_per_minute tokens_per_minute timeout_seconds
    headers served_as
"""
"""Settings of `api` that change no answer; of headers those that shape answers are added."""
_OF_SERVING = "env device gpu_memory_gib version python start_timeout max_restarts args"
"""Settings of `serve` that change no answer: engine, device and precision stand in `served_by`. Of the
engine's arguments those that shape answers are added."""
_SHAPING_ARGUMENTS = """
    quantization quantization-config tokenizer tokenizer-mode hf-overrides hf-config-path config-format
    code-revision kv-cache-dtype default-chat-template-kwargs chat-template-content-format generation-config
    load-format logits-processors override-generation-config reasoning-parser reasoning-parser-plugin
    reasoning-config structured-outputs-config watermark watermark-config
"""
"""Those of the engine's arguments that make another model of the same weights."""


def identity_of(row: ModelRow) -> dict[str, Any]:
    """Returns the settings of a row that shape its answers: with others it is another model.

    Settings at their defaults are left out, so that a new setting changes no old identity.
    """
    left_out = set((_OF_ASKING if row.api is not None else _OF_SERVING).split())
    if row.api is not None:
        if llm.is_loopback(row.api.base_url):
            left_out.add("base_url")  # a server on this machine, whose port is arbitrary
        settings = row.api.model_dump(mode="json", exclude_defaults=True, exclude=left_out)
        if row.api.provider != "openai":
            settings["provider"] = row.api.provider
        if row.api.shaping_headers:
            settings["headers"] = row.api.shaping_headers
    else:
        assert row.serve is not None, "the registry lets through only rows with api or serve"
        settings = row.serve.model_dump(mode="json", exclude_defaults=True, exclude=left_out)
        settings |= _shaping_arguments(row.serve)
        if (template := row.serve.chat_template) and template.expanduser().is_file():
            digest = hashlib.sha256(template.expanduser().read_bytes()).hexdigest()
            settings["chat_template"] = f"sha256:{digest}"
    return settings | ({"system_prompt": row.system_prompt} if row.system_prompt else {})


def _shaping_arguments(serve: ServeConfig) -> dict[str, Any]:
    """Returns the engine's arguments that shape answers, with those that set one key of them (`name.key`)."""
    shaping = _SHAPING_ARGUMENTS.split()
    return {name: value for name, value in serve.args.items() if name.partition(".")[0] in shaping}


def why_not(row: ModelRow) -> str | None:
    """Why the model cannot run here, in one sentence; None where it can. Sends no request."""
    if row.retired is not None and row.retired <= date.today().isoformat():
        return f"retired {row.retired}, as its row says"
    if row.api is not None:
        missing = row.api.missing_variables()
        return f"no key: set the environment variable {missing[0]}" if missing else None
    if row.serve is not None and row.serve.device == "cuda" and shutil.which("nvidia-smi") is None:
        return "no GPU: nvidia-smi is not here"
    if row.serve is not None:
        files = {"weights": row.serve.weights.path, "chat template": row.serve.chat_template}
        for what, path in {**files, "interpreter": row.serve.python}.items():
            if path is not None and not path.expanduser().exists():
                return f"no {what}: nothing is at {str(path)!r}"
    return None


def _engine_key(row: ModelRow, server: Server) -> str:
    """Returns the engine in keys of cached replies, with what else shapes answers of these weights."""
    assert row.serve is not None, "a row without `serve` has no server of ours"
    shaping, identity = _shaping_arguments(row.serve), identity_of(row)
    if "chat_template" in identity:
        shaping["chat_template"] = identity["chat_template"]
    return server.served_by + (f" {json.dumps(shaping, sort_keys=True)}" if shaping else "")


@dataclass(slots=True)
class OpenModel:
    """Implements `Model`: a row's model that answers, asked with the row's own settings while the run may."""

    inner: llm.Model
    served_by: str
    """`api` with its host, or the engine with version, precision and device."""
    served_model: str
    """The model's name until its server has given one."""
    slots: int
    """Requests that may be in flight."""
    weights: str = ""
    """What the server has loaded, as far as it is known: weights, quantisation, context."""
    stats: llm.EndpointStats = field(default_factory=llm.EndpointStats)
    scrub_evidence: Callable[[str], str] = str
    """Removes the model's keys from a text of a result."""
    sampling: Callable[[llm.Sampling], llm.Sampling] = lambda suites: suites
    """From a suite's settings to those that the model is asked with."""
    server: Server | None = None
    """A server of our own, which is restarted where it died: what was lost meanwhile is asked again."""
    control: Control = field(default_factory=Control)
    """Of the run; it says whether anything may be asked."""
    on_lost: Callable[[str], None] | None = None
    """Called once, with the reason, when the model cannot be asked any more."""
    _failed: int = field(default=0, init=False)
    """Questions in a row that a healthy server of our own did not answer."""

    @property
    def id(self) -> str:
        return self.inner.id

    @property
    def kind(self) -> llm.ModelKind:
        return self.inner.kind

    async def ask(
        self, prompt: llm.Chat | llm.Completion, sampling: llm.Sampling, *, sample: int = 0
    ) -> llm.Answer:
        """Asks once, and remembers the name that the server gave.

        Raises:
            RunStoppedError: the run stops before the request was sent.
            EndpointError: no answer after all retries; of our own server: though it was up all the time.
            ModelUnavailableError: nothing can be asked of the server, or it is given up.
        """
        changed = self.sampling(sampling)
        async with self.control.call():
            try:
                answer = None
                while answer is None:
                    answer = await self._ask_unless_restarted(prompt, changed, sample)
            except llm.ModelUnavailableError as error:
                on_lost, self.on_lost = self.on_lost, None
                if on_lost is not None:
                    on_lost(str(error))
                raise
        self._failed = 0
        self.served_model = answer.served_model or self.served_model
        if not answer.from_earlier_run:
            ANSWERED.get(set()).add(self.id)
        return answer

    async def _ask_unless_restarted(
        self, prompt: llm.Chat | llm.Completion, sampling: llm.Sampling, sample: int
    ) -> llm.Answer | None:
        """Returns the answer; None where a server of our own was restarted meanwhile, to be asked again."""
        starts = self.server.starts if self.server is not None else 0
        try:
            return await self.inner.ask(prompt, sampling, sample=sample)
        except llm.EndpointError as error:
            if self.server is None or isinstance(error, llm.ModelUnavailableError):
                raise
            try:
                await self.server.ensure()
            except ServerLostError as lost:
                raise llm.ModelUnavailableError(str(lost)) from None
            if self.server.starts != starts:
                return None
            self._failed += 1
            if self._failed < _UNANSWERED_IN_A_ROW:
                raise
            raise llm.ModelUnavailableError(
                f"its server answers when it is probed, but none of {self._failed} questions in a row;"
                f" the last error: {error}"
            ) from None


@dataclass(slots=True)
class ModelOpener:
    """Opens the models of one registry, with one cache of replies."""

    registry: Registry
    replies: llm.ReplyCache
    cache: Path
    """The folder of logs, environments and weights."""
    say: Callable[[str], None]
    """Gets a line where a server is started, is unreachable, or asks us to wait."""
    control: Control = field(default_factory=Control, kw_only=True)
    """Asked before each request."""
    limits: llm.Limits = field(default_factory=llm.Limits, kw_only=True)
    """Those of rows with `api:`."""
    timeout_seconds: float | None = field(default=None, kw_only=True)
    """Goes before what the rows say."""
    _machine: Machine = field(default_factory=Machine, init=False)

    @asynccontextmanager
    async def open(self, row: ModelRow) -> AsyncIterator[OpenModel]:
        """Opens the row's model while the block lasts; stops a server that was started for it after that.

        Raises:
            UserError: the key is missing; the server cannot be installed or started (with its log's end).
        """
        limits = self.limits
        if self.control.budget_usd is not None:  # the price of a reply is not known before the first one
            limits = replace(limits, first_concurrency=1)
        async with self.connect(row, limits) as (connection, server):
            config = connection.config
            if server is None:
                answering = await connection.identify_server()
                weights, served_by = answering.identity, f"api {urlsplit(config.base_url).netloc}"
                served_by += f" ({answering.name})" if answering.name else ""
            else:
                weights, served_by = config.revision, server.served_by
            yield OpenModel(
                connection,
                served_by=served_by,
                served_model=config.model,
                slots=connection.queue.limits.concurrency,
                weights=weights,
                stats=connection.stats,
                scrub_evidence=connection.secrets.scrub_evidence,
                sampling=partial(self.registry.sampling, row),
                server=server,
                control=self.control,
            )

    @asynccontextmanager
    async def connect(
        self, row: ModelRow, limits: llm.Limits
    ) -> AsyncIterator[tuple[llm.OpenModel, Server | None]]:
        """Yields a connection to the row's model, of which nothing is known yet, and a server of our own.

        A server of our own is restarted where it died; `limits` are those of a row with `api:`.

        Raises:
            UserError: as `open`.
            ServerLostError: in a group; restarting a server of our own does not help.
        """
        slots = self.registry.setting(row, "concurrency")
        timeout = {} if self.timeout_seconds is None else {"timeout_seconds": self.timeout_seconds}
        async with AsyncExitStack() as stack:
            server = None
            if row.api is not None:
                changes = {"concurrency": row.api.concurrency or slots or DEFAULT_AT_ONCE, **timeout}
                source: llm.ApiConfig = row.api.model_copy(update=changes)
                engine, context = "", row.context
            else:
                assert row.serve is not None, "the registry lets through only rows with api or serve"
                starting = serve(
                    row.serve,
                    model_id=row.id,
                    cache=self.cache,
                    log=self.cache / "logs" / f"{row.id}.log",
                    report=self.say,
                    machine=self._machine,
                    concurrency=slots,
                )
                server = await stack.enter_async_context(starting)
                group = await stack.enter_async_context(asyncio.TaskGroup())
                stack.callback(group.create_task(server.watch()).cancel)
                engine, limits = _engine_key(row, server), _RESTARTING_LIMITS
                # 0: the server's context is all that the model can do.
                context = row.context or (None if row.serve.max_model_len else 0)
                source = llm.OpenAI(
                    base_url=server.base_url,
                    model=server.model,
                    revision=server.weights,
                    concurrency=slots or await server.at_once(),
                    timeout_seconds=_LONGEST_REPLY_SECONDS,
                ).model_copy(update=timeout)
            connection = llm.open_model(
                row.id,
                row.kind,
                source,
                settings=llm.ModelSettings(engine, context, row.system_prompt == "merge", row.max_tokens),
                cache=self.replies,
                limits=limits,
                may_send=self.control.may_send,
                say=self.say,
            )
            yield await stack.enter_async_context(connection), server
