"""The table of providers: the name in models.yaml, and where its class is. Imported when a row names it."""

from typing import Final

_FOLDER: Final = "triathlon_runner.endpoints.providers"

PROVIDERS: Final[dict[str, str]] = {
    "openai": f"{_FOLDER}.openai_chat:OpenAIChat",
    "anthropic": f"{_FOLDER}.anthropic:Anthropic",
    "azure": f"{_FOLDER}.azure:Azure",
}
