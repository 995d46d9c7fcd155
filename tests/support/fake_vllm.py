"""A stand-in for an interpreter in which vLLM lives: answers like its server, or fails in a chosen way.

`fake_interpreter(folder)` writes an executable that a row can name as `python:`. The variable FAKE_VLLM,
set in the row's `env`, tells it how to behave:

- `answers`: serves until it is stopped
- `dies`: writes a traceback and ends before it is ready
- `hangs`: never opens its port
- `late`: is ready after a second
- `nonsense`: is healthy and answers questions with something else
- `dies_after:N`: ends with the N-th question
- `stalls_after:N`: from the N-th question on accepts questions and never answers
- `busy_after:N`: so does this one, but its metrics show that it writes

At /metrics it says FAKE_VLLM_METRICS too.
"""

import asyncio
import itertools
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

from support.model_server import ModelServer
from support.server_replies import Asked, Raw, Response

_TESTS = Path(__file__).resolve().parents[1]


def fake_interpreter(folder: Path) -> Path:
    script = folder / "python-with-vllm"
    command = f'PYTHONPATH="{_TESTS}" exec "{sys.executable}" -m support.fake_vllm "$@"'
    script.write_text(f"#!/bin/sh\n{command}\n")
    script.chmod(0o755)
    return script


def fake_row(folder: Path, behaviour: str = "answers", **block: Any) -> dict[str, Any]:
    """A row of models.yaml for a base model `m` that the stand-in in this folder serves."""
    weights = folder / "weights"
    weights.mkdir()
    (weights / "config.json").write_text("{}")
    serve = {
        "engine": "vllm",
        "weights": {"path": str(weights)},
        "python": str(fake_interpreter(folder)),
        "device": "cpu",
        **block,
        "env": {"FAKE_VLLM": behaviour, **block.get("env", {})},
    }
    return {"id": "m", "name": "M", "kind": "base", "serve": serve}


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


async def _serve(port: int, model: str, behaviour: str) -> None:
    name, _, count = behaviour.partition(":")
    tokens = itertools.count() if name == "busy_after" else itertools.repeat(0)

    async def say(asked: Asked) -> str | Response:
        if count and asked.number + 1 >= int(count):
            if name == "dies_after":
                _say("EngineDeadError: EngineCore encountered an issue.")
                os._exit(1)
            await asyncio.sleep(600)
        return Raw(b'{"detail": "what?"}') if name == "nonsense" else f"after {asked.prompt}"

    def metrics() -> str:
        counted = f'vllm:generation_tokens_total{{model_name="m"}} {next(tokens)}.0\n'
        return counted + os.environ.get("FAKE_VLLM_METRICS", "")

    models = {"data": [{"id": model}]}
    paths = {"GET /health": {}, "GET /metrics": metrics, "GET /v1/models": models}
    async with ModelServer(say, port=port, paths=paths):
        await asyncio.Event().wait()


def main(arguments: list[str]) -> None:
    if arguments[0] == "-c":
        _say('{"vllm": "0.0.fake"}')
        return
    behaviour = os.environ["FAKE_VLLM"]
    _say(f"arguments {json.dumps(arguments)} config: dtype=torch.bfloat16")
    if behaviour == "dies":
        _say("Traceback (most recent call last):\n  somewhere")
        _say("RuntimeError: Engine core initialization failed. See root cause above.")
        sys.exit(1)
    time.sleep({"hangs": 600, "late": 1}.get(behaviour, 0))
    port, model = (arguments[arguments.index(name) + 1] for name in ("--port", "--served-model-name"))
    asyncio.run(_serve(int(port), model, behaviour))


if __name__ == "__main__":
    main(sys.argv[1:])
