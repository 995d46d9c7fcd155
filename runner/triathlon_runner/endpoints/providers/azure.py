"""Azure OpenAI: OpenAI's protocol under `…/openai/deployments/NAME?api-version=…`, with a key or a token."""

from collections.abc import Mapping
from dataclasses import replace

from triathlon_runner.endpoints._config import ApiConfig
from triathlon_runner.endpoints.provider import Question, Request
from triathlon_runner.endpoints.providers.openai_chat import OpenAIChat

_API_VERSION = "2024-10-21"
"""The last dated version that is generally available; `…/openai/v1` needs none."""


class Azure(OpenAIChat):
    """Implements `Provider`."""

    def __init__(self, config: ApiConfig) -> None:
        super().__init__(config)
        self._config = config
        version = config.api_version or (None if config.base_url.endswith("/v1") else _API_VERSION)
        self._query = f"?api-version={version}" if version else ""

    def headers(self, key: str) -> Mapping[str, str]:
        """Shows a resource's key as `api-key`, a token of Microsoft Entra ID as a bearer token."""
        return {"Authorization": f"Bearer {key}"} if self._config.key_is_token else {"api-key": key}

    def request(self, question: Question) -> Request:
        """Returns the request of OpenAI's protocol, under the deployment's address."""
        request = super().request(question)
        return replace(request, path=request.path + self._query)
