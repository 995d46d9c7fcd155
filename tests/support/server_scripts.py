"""Scripts for a server in a process of its own: `python -m support.model_server support.server_scripts:echo`."""

from support.server_replies import Asked


def echo(asked: Asked) -> str:
    """Says the prompt again."""
    return f"echo: {asked.prompt}"
