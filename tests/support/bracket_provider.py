"""A provider of a made-up protocol, to show what one takes: this file, and one line in the table."""

import json
from collections.abc import Mapping

from triathlon_runner.llm import ApiConfig, Chat
from triathlon_runner.llm.provider import Client, HttpReply, ParsedReply, Question, Request, ServerInfo
from triathlon_runner.records import Reply, Usage


class Brackets:
    def __init__(self, config: ApiConfig) -> None:
        self._config = config

    def headers(self, key: str) -> Mapping[str, str]:
        return {"X-Bracket-Key": key}

    def request(self, question: Question) -> Request:
        assert isinstance(question.prompt, Chat)
        body = {"say": question.prompt.messages[-1].content, "most": question.sampling.max_tokens}
        return Request(question, "/say", body)

    def read(self, request: Request, reply: HttpReply) -> ParsedReply:
        said = json.loads(reply.body)
        return ParsedReply(Reply(text=said["said"]), Usage(requests=1), self._config.model)

    async def server_info(self, client: Client) -> ServerInfo:
        return ServerInfo("brackets", digest=json.loads((await client.get("/who")).body)["digest"])
