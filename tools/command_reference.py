"""Writes docs/commands.md: every command with its options, as `--help` has them. `make docs` calls it."""

import re
from pathlib import Path
from typing import Any, Final

import typer
from typer.cli import get_docs_for_click

import triathlon_site.reproduce_command  # noqa: F401  adds the commands of the site
from triathlon_runner.cli import add_commands, app

PAGE: Final = Path(__file__).resolve().parents[1] / "docs" / "commands.md"
_EXAMPLES: Final = re.compile(r"^Examples:\n((?:.+\n?)+)", re.MULTILINE)


def reference() -> str:
    """Every command, its arguments, options and examples, in Markdown."""
    add_commands()
    command = _in_order(typer.main.get_command(app))
    context = typer.Context(command, info_name="triathlon")
    text = get_docs_for_click(obj=command, ctx=context, name="triathlon", title="The commands")
    return _EXAMPLES.sub(_console, text).rstrip() + "\n"


def _in_order(command: Any) -> Any:
    """Commands by name, whatever was imported first, each with its whole first sentence."""
    commands = getattr(command, "commands", None)
    if commands is not None:
        command.commands = {name: _in_order(subcommand) for name, subcommand in sorted(commands.items())}
    command.short_help = (command.help or "").partition("\n\n")[0].replace("\n", " ")
    return command


def _console(match: re.Match[str]) -> str:
    lines = "".join(f"$ {line}\n" for line in match[1].splitlines())
    return f"Examples:\n\n```console\n{lines}```\n"


if __name__ == "__main__":
    PAGE.write_text(reference())
