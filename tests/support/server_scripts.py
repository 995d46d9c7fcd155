"""Scripts for `python -m support.model_server`, for example `support.server_scripts:echo`."""

from support.server_replies import Asked


def echo(asked: Asked) -> str:
    """Says the prompt again."""
    return f"echo: {asked.prompt}"
