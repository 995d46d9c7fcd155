"""A model that is open, behind a scripted server of its own."""

import inspect
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from support.model_server import ModelServer, Script
from triathlon_runner.llm import ApiConfig, ModelKind, OpenAI, OpenModel, open_model


@asynccontextmanager
async def opened(
    script: Script,
    kind: ModelKind = "instruct",
    *,
    of: type[ApiConfig] = OpenAI,
    latency: float = 0.0,
    paths: Mapping[str, Any] | None = None,
    **settings: Any,
) -> AsyncIterator[tuple[ModelServer, OpenModel]]:
    """Starts the server and opens the model.

    Of the settings those that `open_model` takes are for it, others are of the row's `api:` block.
    """
    known = inspect.signature(open_model).parameters
    options = {name: settings.pop(name) for name in list(settings) if name in known}
    async with ModelServer(script, latency=latency, paths=paths) as server:
        config = of(base_url=server.base_url, **{"model": "scripted", **settings})
        async with open_model("m", kind, config, **options) as model:
            yield server, model
