"""A model that is open, behind a scripted server of its own."""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

from support.model_server import ModelServer, Script
from triathlon_runner.llm import (
    ApiConfig,
    Limits,
    ModelKind,
    ModelSettings,
    OpenAI,
    OpenModel,
    ReplyCache,
    open_model,
)


@asynccontextmanager
async def opened(
    script: Script,
    kind: ModelKind = "instruct",
    *,
    of: type[ApiConfig] = OpenAI,
    latency: float = 0.0,
    paths: Mapping[str, Any] | None = None,
    settings: ModelSettings = ModelSettings(),  # noqa: B008  it cannot be changed
    cache: ReplyCache | None = None,
    limits: Limits = Limits(),  # noqa: B008
    say: Callable[[str], None] = lambda _: None,
    **row: Any,
) -> AsyncIterator[tuple[ModelServer, OpenModel]]:
    """Starts the server and opens the model; `row` are further settings of its `api:` block."""
    async with ModelServer(script, latency=latency, paths=paths) as server:
        config = of(base_url=server.base_url, **{"model": "scripted", **row})
        options: Any = {"settings": settings, "cache": cache, "limits": limits, "say": say}
        async with open_model("m", kind, config, **options) as model:
            yield server, model
