"""Scripts for `python -m support.model_server`, for example `support.server_scripts:echo`."""

from support.server_replies import Asked, Said


def echo(asked: Asked) -> str:
    """Says the prompt again."""
    return f"echo: {asked.prompt}"


def uncounted(asked: Asked) -> Said:
    """Says the prompt again, and not how many tokens that took."""
    return Said(f"echo: {asked.prompt}", changes={"usage": None})
