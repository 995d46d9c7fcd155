"""A provider of a made-up protocol, to show what one takes: this file, and one line in the table."""

import json
from typing import Any

from triathlon_runner.llm.provider import (
    Answer,
    ApiConfig,
    Chat,
    Completion,
    Fetch,
    Request,
    Sampling,
    ServerInfo,
)
from triathlon_runner.records import Reply, Usage


class Brackets(ApiConfig):
    provider: str = "brackets"

    loudness: int = 1
    """An option that rows of other providers may not have."""

    def key_headers(self, key: str) -> dict[str, str]:
        return {"X-Bracket-Key": key}

    def request(self, prompt: Chat | Completion, sampling: Sampling) -> Request:
        assert isinstance(prompt, Chat)
        body = {"say": prompt.messages[-1].content, "most": sampling.max_tokens}
        return Request(prompt, sampling, "/say", body)

    def read(self, request: Request, body: dict[str, Any]) -> Answer:
        return Answer(Reply(text=body["said"]), Usage(requests=1), 0.0, self.model)

    async def server_info(self, fetch: Fetch) -> ServerInfo:
        return ServerInfo("brackets", digest=json.loads((await fetch("/who")).body)["digest"])
