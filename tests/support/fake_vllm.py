"""A stand-in for an interpreter in which vLLM lives: answers like its server, or fails in a chosen way.

`fake_interpreter(folder)` writes an executable that a row can name as `python:`. The variable FAKE_VLLM,
set in the row's `env`, tells it how to behave:

- `answers`: serves until it is stopped
- `dies`: writes a traceback and ends before it is ready
- `dies_second_time`: answers when first started (in FAKE_VLLM_FOLDER), afterwards ends before it is ready
- `hangs`: never opens its port
- `late`: is ready after a second
- `nonsense`: is healthy and answers questions with something else
- `dies_after:N`: ends with the N-th question
- `stalls_after:N`: from the N-th question on accepts questions and never answers
- `busy_after:N`: so does this one, but its metrics show that it writes

At /metrics it says FAKE_VLLM_METRICS too.
"""

import json
import os
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

_VERSIONS = {"vllm": "0.0.fake"}


def fake_interpreter(folder: Path) -> Path:
    script = folder / "python-with-vllm"
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -I -S "{Path(__file__).resolve()}" "$@"\n')
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
        "env": {"FAKE_VLLM": behaviour, "FAKE_VLLM_FOLDER": str(folder)},
        **block,
    }
    return {"id": "m", "name": "M", "kind": "base", "serve": serve}


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: "_Server"

    def do_GET(self) -> None:
        if self.path == "/metrics":
            self.server.tokens += self.server.behaviour.startswith("busy_after")
            counted = f'vllm:generation_tokens_total{{model_name="m"}} {self.server.tokens}.0\n'
            self._send_text(counted + os.environ.get("FAKE_VLLM_METRICS", ""))
        else:
            self._send({} if self.path == "/health" else {"data": [{"id": self.server.model}]})

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.server.questions += 1
        name, _, count = self.server.behaviour.partition(":")
        if count and self.server.questions >= int(count):
            if name == "dies_after":
                _say("EngineDeadError: EngineCore encountered an issue.")
                os._exit(1)
            time.sleep(600)
        if name == "nonsense":
            return self._send({"detail": "what?"})
        text = f"after {asked['prompt']}"
        return self._send(
            {"model": asked["model"], "choices": [{"index": 0, "text": text, "finish_reason": "stop"}]}
        )

    def _send(self, body: object) -> None:
        self._send_text(json.dumps(body))

    def _send_text(self, text: str) -> None:
        data = text.encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:
        """Silence: the log is what tests read."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, host: str, port: int, model: str, behaviour: str) -> None:
        super().__init__((host, port), _Handler)
        self.model, self.behaviour, self.questions, self.tokens = model, behaviour, 0, 0


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def _prepare(behaviour: str) -> None:
    if behaviour == "dies_second_time":
        started = Path(os.environ["FAKE_VLLM_FOLDER"]) / "started"
        behaviour = "dies" if started.exists() else "answers"
        started.touch()
    if behaviour == "dies":
        _say("Traceback (most recent call last):\n  somewhere")
        _say("RuntimeError: Engine core initialization failed. See root cause above.")
        sys.exit(1)
    if behaviour in {"hangs", "late"}:
        time.sleep(600 if behaviour == "hangs" else 1)


def main(arguments: list[str]) -> None:
    if arguments[0] == "-c":
        _say(json.dumps(_VERSIONS))
        return
    behaviour = os.environ.get("FAKE_VLLM", "answers")
    _say(f"arguments {json.dumps(arguments)} config: dtype=torch.bfloat16")
    _prepare(behaviour)
    host, port, model = (
        arguments[arguments.index(name) + 1] for name in ("--host", "--port", "--served-model-name")
    )
    _Server(host, int(port), model, behaviour).serve_forever()


if __name__ == "__main__":
    main(sys.argv[1:])
