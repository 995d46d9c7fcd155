"""All that a provider's module needs."""

from triathlon_runner.endpoints._client import Client, HttpReply
from triathlon_runner.endpoints._provider import Provider
from triathlon_runner.endpoints._provider_table import PROVIDERS
from triathlon_runner.endpoints._reply import ParsedReply
from triathlon_runner.endpoints._request import Question, Request
from triathlon_runner.endpoints._server_info import ServerInfo

__all__ = [
    "PROVIDERS",
    "Client",
    "HttpReply",
    "ParsedReply",
    "Provider",
    "Question",
    "Request",
    "ServerInfo",
]
